package hbase

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// garbled answers a call on rows with bytes that are not an answer.
func garbled(c *peerCall) *reply {
	if c.method == "Get" || c.method == "Multi" {
		return &reply{raw: []byte{0, 0, 0, 3, 0xff, 0xff, 0xff}}
	}
	return nil
}

// The error for a time-out or a cancelled caller says what failed last, and where.
func TestTheLastCauseStaysInTheError(t *testing.T) {
	gone := errors.New("asked to stop")
	for _, tt := range []struct {
		name     string
		ctx      func(context.Context) (context.Context, context.CancelFunc)
		is       error
		patience time.Duration
		why      string
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 7*time.Second)
		},
			context.DeadlineExceeded, 0, "context deadline exceeded"},
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(7*time.Second, func() { cancel(gone) })
			return ctx, func() { cancel(nil) }
		}, context.Canceled, 0, "asked to stop"},
		{"patience", context.WithCancel, context.DeadlineExceeded, 7 * time.Second, "no answer within 7s"},
	} {
		for op, do := range map[string]func(context.Context, *Client) error{
			"get": func(ctx context.Context, c *Client) error {
				_, err := c.Get(ctx, "t", Get{Row: []byte("a")})
				return err
			},
			"get all": func(ctx context.Context, c *Client) error {
				_, err := c.GetAll(ctx, "t", []Get{{Row: []byte("a")}})
				return err
			},
			"flight": func(ctx context.Context, c *Client) error {
				failed, err := c.Submit(ctx, puts("a")).Wait(ctx)
				if len(failed) > 0 {
					return &failed[0]
				}
				return err
			},
		} {
			t.Run(tt.name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPeer(t)
					p.answer = garbled
					opts := p.options()
					opts.Pause, opts.Retries, opts.OperationTimeout, opts.Patience = 100*ms, 1000, time.Hour, tt.patience
					c := p.open(opts)
					ctx, cancel := tt.ctx(t.Context())
					defer cancel()
					start := time.Now()
					err := do(ctx, c)
					mutation := &MutationError{}
					if errors.As(err, &mutation) { // it failed with its last error, and was not interrupted
						tt.why, tt.is = "connection", nil
					}
					if took := time.Since(start); took > 8*time.Second {
						t.Errorf("took %v", took)
					}
					for _, part := range []string{peerAddr, "malformed"} {
						if err == nil || !strings.Contains(err.Error(), part) {
							t.Errorf("%v; does not say %q", err, part)
						}
					}
					if tt.is != nil && (!errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.why)) {
						t.Errorf("%v is no %v", err, tt.is)
					}
					c.Close()
					p.stop()
				})
			})
		}
	}
}

// A server that never answers is named as well.
func TestASilentServerIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.answer = func(c *peerCall) *reply {
			if c.method == "Get" || c.method == "Multi" {
				return &reply{silent: true}
			}
			return nil
		}
		opts := p.options()
		opts.RPCTimeout, opts.OperationTimeout = time.Minute, time.Hour
		c := p.open(opts)
		brief := func() context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			return ctx
		}
		_, read := c.Get(brief(), "t", Get{Row: []byte("a")})
		_, written := c.Submit(t.Context(), puts("a")).Wait(brief())
		for _, err := range []error{read, written} {
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), peerAddr+" has not answered yet") {
				t.Errorf("%v", err)
			}
		}
		c.Close()
		p.stop()
	})
}

// Patience is per answer: a scan may take any time if each of its answers arrives in time.
func TestPatienceIsForOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		slow := func() *reply {
			after := make(chan struct{})
			time.AfterFunc(time.Second, func() { close(after) })
			return &reply{after: after}
		}
		p.answer = func(c *peerCall) *reply {
			if c.method == "Get" {
				r := slow()
				r.param = p.tame(c).param
				return r
			}
			return nil
		}
		opts := p.options()
		opts.Patience = 1500 * ms
		c := p.open(opts)
		for range 10 {
			if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		p.stop()
	})
}

// A dead server is tried again while there is patience, often enough to continue soon after it is back.
func TestGoesOnWhenTheServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		back := time.Now().Add(20 * time.Second)
		p.answer = func(c *peerCall) *reply {
			if time.Now().Before(back) {
				return &reply{drop: true}
			}
			return nil
		}
		opts := p.options()
		opts.Pause, opts.Retries, opts.OperationTimeout, opts.Patience = 100*ms, 15, 20*time.Minute, 30*time.Second
		began := back
		back = time.Now() // it is back while the client connects
		c := p.open(opts)
		back = began
		if _, err := c.Get(t.Context(), "t", Get{Row: []byte("a")}); err != nil {
			t.Fatal(err)
		}
		if late := time.Since(back); late > 4*time.Second {
			t.Errorf("it goes on %v after the server is back", late)
		}
		c.Close()
		p.stop()
	})
}
