package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lab is a client of a scripted peer in a synctest bubble. It records what arrives when, and why it was sent.
type lab struct {
	*peer
	c     *Client
	start time.Time

	mu      sync.Mutex
	arrived []time.Duration // times of the Multis since the start
	flushes []FlushReason
}

func inLab(t *testing.T, change func(*Options), test func(*testing.T, *lab)) {
	synctest.Test(t, func(t *testing.T) {
		l := &lab{peer: newPeer(t), start: time.Now()}
		l.answer = func(c *peerCall) *reply {
			if c.method == "Multi" {
				l.mu.Lock()
				l.arrived = append(l.arrived, time.Since(l.start))
				l.mu.Unlock()
			}
			return nil
		}
		opts := l.options()
		opts.Hooks.Flush = func(i FlushInfo) {
			l.mu.Lock()
			l.flushes = append(l.flushes, i.Reason)
			l.mu.Unlock()
		}
		if change != nil {
			change(&opts)
		}
		l.c = l.open(opts)
		test(t, l)
		l.c.Close()
		l.stop()
	})
}

func (l *lab) mutator(t *testing.T, o MutatorOptions) *Mutator {
	t.Helper()
	return mutator(t, l.c, o)
}

func mutator(t testing.TB, c *Client, o MutatorOptions) *Mutator {
	t.Helper()
	m, err := c.Mutator(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// expect waits until nothing happens any more, and compares what has happened so far.
func (l *lab) expect(t *testing.T, arrived []time.Duration, flushes ...FlushReason) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.arrived, arrived) {
		t.Errorf("calls arrived at %v, want %v", l.arrived, arrived)
	}
	if !slices.Equal(l.flushes, flushes) {
		t.Errorf("flushed by %v, want %v", l.flushes, flushes)
	}
}

const ms = time.Millisecond

func TestAutoflushSendsAtOnce(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		land(t, l.c, puts("a"))
		time.Sleep(7 * ms)
		m := l.mutator(t, MutatorOptions{Autoflush: true, Linger: time.Hour})
		m.Submit(t.Context(), puts("b"))
		l.expect(t, []time.Duration{0, 7 * ms}, FlushAuto, FlushAuto)
	})
}

// The first mutation that waits starts the linger; those that arrive meanwhile are sent with it.
func TestLingerIsExact(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		m := l.mutator(t, MutatorOptions{Linger: 50 * ms})
		first := m.Submit(t.Context(), puts("a"))
		time.Sleep(30 * ms)
		second := m.Submit(t.Context(), puts("b", "c"))
		time.Sleep(20*ms - time.Microsecond)
		l.expect(t, nil)
		time.Sleep(time.Microsecond)
		l.expect(t, []time.Duration{50 * ms}, FlushLinger)
		<-first.Done()
		<-second.Done()
		if got := l.appliedRows(); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("applied %v", got)
		}
		time.Sleep(time.Second)
		m.Submit(t.Context(), puts("d"))
		time.Sleep(time.Second)
		l.expect(t, []time.Duration{50 * ms, 1100 * ms}, FlushLinger, FlushLinger)
	})
}

func TestFullWriteBufferIsSentAtOnce(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		one := puts("a").Bytes()
		m := l.mutator(t, MutatorOptions{Linger: 50 * ms, WriteBuffer: 3 * one})
		m.Submit(t.Context(), puts("a"))
		m.Submit(t.Context(), puts("b"))
		l.expect(t, nil)
		time.Sleep(10 * ms)
		m.Submit(t.Context(), puts("c"))
		l.expect(t, []time.Duration{10 * ms}, FlushFull)
		m.Submit(t.Context(), puts("d")) // the linger starts again
		time.Sleep(time.Second)
		l.expect(t, []time.Duration{10 * ms, 60 * ms}, FlushFull, FlushLinger)
	})
}

// Flush waits for everything submitted before it, and for nothing else.
func TestFlushIsABarrier(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		if err := l.mutator(t, MutatorOptions{}).Flush(t.Context()); err != nil {
			t.Errorf("with nothing to wait for: %v", err)
		}
		gate := make(chan struct{})
		l.answer = func(c *peerCall) *reply {
			if c.method != "Multi" || c.nth > 0 {
				return nil
			}
			r := l.multi(c)
			r.after = gate
			return r
		}
		m := l.mutator(t, MutatorOptions{Linger: time.Hour})
		before := m.Submit(t.Context(), puts("a", "b"))
		other := l.mutator(t, MutatorOptions{Linger: time.Hour}).Submit(t.Context(), puts("z"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before the server has answered: %v", err)
		}
		flushed := make(chan error)
		go func() { flushed <- m.Flush(t.Context()) }()
		synctest.Wait()
		after := m.Submit(t.Context(), puts("c"))
		close(gate)
		if err := <-flushed; err != nil {
			t.Error(err)
		}
		if !isDone(before) || isDone(after) {
			t.Errorf("done: before %v, after %v", isDone(before), isDone(after))
		}
		if err := m.Flush(t.Context()); err != nil || !isDone(after) {
			t.Errorf("%v, after %v", err, isDone(after))
		}
		if time.Since(l.start) != time.Second {
			t.Errorf("took %v", time.Since(l.start))
		}
		<-other.Done() // it had joined the lane, and was sent with the mutations there
		l.expect(t, nil, FlushCalled, FlushCalled)
	})
}

func isDone(f *Flight) bool {
	select {
	case <-f.Done():
		return true
	default:
		return false
	}
}

func TestReleaseSendsAndReturns(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		m := l.mutator(t, MutatorOptions{Linger: time.Hour})
		m.Release()
		f := m.Submit(t.Context(), puts("a"))
		m.Release()
		<-f.Done()
		l.expect(t, []time.Duration{0}, FlushDrain)
	})
}

// What one mutator holds back must not block the room that another one needs.
func TestSubmitThatWaitsForRoomLetsGoWhatIsHeldBack(t *testing.T) {
	change := func(o *Options) { o.MaxBufferedBytes = 1 << 10 }
	inLab(t, change, func(t *testing.T, l *lab) {
		big := func(row string) *Batch { return puts(row + strings.Repeat("-", 400)) } // row and value: more than 800 bytes
		holding := l.mutator(t, MutatorOptions{Linger: time.Hour})
		first := holding.Submit(t.Context(), big("a"))
		l.expect(t, nil)
		if failed := land(t, l.c, big("b")); failed != nil {
			t.Error(failed)
		}
		<-first.Done()
		l.expect(t, []time.Duration{0, 0}, FlushFull, FlushAuto)
		second, third := holding.Submit(t.Context(), big("c")), holding.Submit(t.Context(), big("d"))
		<-second.Done()
		if isDone(third) {
			t.Error("nothing made the last one leave")
		}
	})
}

// However often and by however many callers the bound is reached, none waits for a linger.
func TestTightByteBoundNeverWaitsForTheLinger(t *testing.T) {
	change := func(o *Options) { o.MaxBufferedBytes = 1 << 10 }
	inLab(t, change, func(t *testing.T, l *lab) {
		m := l.mutator(t, MutatorOptions{Linger: time.Hour})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 50 {
					m.Submit(t.Context(), puts(fmt.Sprint(i, "/", j, strings.Repeat("-", 100))))
				}
			})
		}
		wg.Wait()
		if err := m.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(l.appliedRows()); n != 400 || time.Since(l.start) > time.Minute {
			t.Errorf("%d rows after %v", n, time.Since(l.start))
		}
	})
}

// Each mutator's options determine how often and how soon its mutations are retried.
func TestRetriesAndPauseAreTheMutators(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		l.answer = tooBusy
		m := l.mutator(t, MutatorOptions{Autoflush: true, Retries: 1, Pause: 10 * time.Second})
		failed, err := m.Submit(t.Context(), puts("a")).Wait(t.Context())
		if err != nil || len(failed) != 1 || failed[0].Attempts != 1 {
			t.Fatalf("%+v %v", failed, err) // the pause exceeds the client's OperationTimeout
		}
		m = l.mutator(t, MutatorOptions{Autoflush: true, Retries: 2, Pause: 100 * ms})
		start := time.Now()
		failed, err = m.Submit(t.Context(), puts("b")).Wait(t.Context())
		if d := time.Since(start); err != nil || len(failed) != 1 || failed[0].Attempts != 3 || d < 300*ms || d > 303*ms {
			t.Errorf("%+v %v after %v", failed, err, d)
		}
	})
}

func TestCloseFailsWhatIsHeldBack(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		m := l.mutator(t, MutatorOptions{Linger: 50 * ms})
		f := m.Submit(t.Context(), puts("a", "b"))
		l.c.Close()
		failed, err := f.Wait(t.Context())
		if err != nil || len(failed) != 2 || failed[0].Kind != Closed {
			t.Errorf("%+v %v", failed, err)
		}
		if err := m.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		m.Submit(t.Context(), puts("c"))
		time.Sleep(time.Second)
		l.expect(t, nil)
	})
}

func TestMutatorOptionsNameWhatIsWrong(t *testing.T) {
	inLab(t, nil, func(t *testing.T, l *lab) {
		_, err := l.c.Mutator(MutatorOptions{WriteBuffer: 65 << 20, Linger: -1, Retries: -1, Pause: time.Microsecond})
		for _, option := range []string{"WriteBuffer", "MaxBufferedBytes", "Linger", "Retries", "Pause"} {
			if err == nil || !strings.Contains(err.Error(), option) {
				t.Errorf("%s is missing: %v", option, err)
			}
		}
		var got MutatorOptions
		got.EnsureDefaults(&l.c.opts)
		if want := (MutatorOptions{WriteBuffer: 2 << 20, Linger: 5 * ms, Retries: 3, Pause: ms}); got != want {
			t.Errorf("defaults %+v, want %+v", got, want)
		}
	})
}
