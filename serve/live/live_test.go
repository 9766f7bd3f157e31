package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"brine/serve/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var options = live.Options{Every: time.Second, Soonest: 50 * time.Millisecond, Timeout: 5 * time.Second, Beside: 2, Answers: 3, Streams: 2000}

// answer is an Ask whose answer a test sets.
type answer struct {
	text  atomic.Value
	fails atomic.Bool
	asked atomic.Int64

	wake    atomic.Value // of the last Ask
	watched atomic.Int64 // Asks that were not released
}

var errAway = errors.New("away")

func (a *answer) ask(_ context.Context, wake func()) ([]byte, func(), error) {
	a.asked.Add(1)
	a.wake.Store(wake)
	a.watched.Add(1)
	release := func() { a.watched.Add(-1) }
	if a.fails.Load() {
		return nil, release, errAway
	}
	return fmt.Append(nil, a.text.Load()), release, nil
}

// change changes the answer and wakes its watchers.
func (a *answer) change(to string) {
	a.text.Store(to)
	a.wake.Load().(func())()
}

// watch opens a stream of the answer.
func watch(t *testing.T, h *live.Hub, a *answer) *live.Stream {
	t.Helper()
	s, err := h.Watch("k", a.ask)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func next(t *testing.T, s *live.Stream) live.State {
	t.Helper()
	state, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestAThousandStreamsAskOnce checks that all streams get each change with one query per second.
func TestAThousandStreamsAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var a answer
		a.text.Store("one")
		streams := make([]*live.Stream, 1000)
		for i := range streams {
			var err error
			if streams[i], err = h.Watch("k", a.ask); err != nil {
				t.Fatal(err)
			}
			defer streams[i].Close()
		}
		for _, s := range streams {
			if got := next(t, s); string(got.Data) != "one" || got.Err != nil {
				t.Fatalf("%q, %v", got.Data, got.Err)
			}
		}
		a.text.Store("two")
		for _, s := range streams {
			if got := next(t, s); string(got.Data) != "two" {
				t.Fatalf("%q", got.Data)
			}
		}
		time.Sleep(10*time.Second + 500*time.Millisecond)
		if n := a.asked.Load(); n != 12 {
			t.Errorf("asked %d times in 11 seconds", n)
		}
	})
}

// TestASlowReaderIsHandedTheNewest checks that a slow reader misses states between two reads, and that nobody waits for it.
func TestASlowReaderIsHandedTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var a answer
		a.text.Store("0")
		s := watch(t, h, &a)
		defer s.Close()
		for i := range 5 {
			a.text.Store(fmt.Sprint(i))
			time.Sleep(1100 * time.Millisecond)
		}
		if got := next(t, s); string(got.Data) != "4" {
			t.Errorf("%q", got.Data)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if got, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing has changed, and it was handed %q, %v", got.Data, err)
		}
	})
}

// TestAnOutageIsSaidOnce checks that the start and the end of an outage are states, and that the last answer is kept with the error.
func TestAnOutageIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var a answer
		a.text.Store("one")
		s := watch(t, h, &a)
		defer s.Close()
		next(t, s)
		a.fails.Store(true)
		if got := next(t, s); string(got.Data) != "one" || !errors.Is(got.Err, errAway) {
			t.Errorf("%q, %v", got.Data, got.Err)
		}
		time.Sleep(time.Minute)
		a.fails.Store(false)
		if got := next(t, s); string(got.Data) != "one" || got.Err != nil {
			t.Errorf("%q, %v", got.Data, got.Err)
		}
	})
}

// TestAskingsAreBounded checks that the number of concurrent Asks is limited, that each ends by its deadline, and that waiting ones get
// their turn.
func TestAskingsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var now, most, ended atomic.Int64
		hang := func(ctx context.Context, _ func()) ([]byte, func(), error) {
			for n := now.Add(1); ; {
				if was := most.Load(); n <= was || most.CompareAndSwap(was, n) {
					break
				}
			}
			defer now.Add(-1)
			<-ctx.Done()
			ended.Add(1)
			return nil, nil, ctx.Err()
		}
		for i := range options.Answers {
			s, err := h.Watch(fmt.Sprint(i), hang)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if most.Load() != 2 || ended.Load() != 3 {
			t.Errorf("%d at a time, %d ended in two deadlines", most.Load(), ended.Load())
		}
	})
}

// TestTheHubIsBounded checks that answers or streams beyond the limits are refused, and that closed streams release their places.
func TestTheHubIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := options
		opts.Answers, opts.Streams = 2, 3
		h := live.New(opts)
		defer h.Close()
		var a answer
		a.text.Store("one")
		var open []*live.Stream
		watch := func(key string, want error) {
			t.Helper()
			s, err := h.Watch(key, a.ask)
			if !errors.Is(err, want) {
				t.Fatalf("%s: %v, expected %v", key, err, want)
			}
			if err == nil {
				open = append(open, s)
			}
		}
		watch("a", nil)
		watch("b", nil)
		watch("c", live.ErrFull)
		watch("a", nil)
		watch("a", live.ErrFull)
		open[1].Close()
		open[1].Close()
		watch("c", nil)
		for _, s := range open {
			s.Close()
		}
		synctest.Wait()
		asked := a.asked.Load()
		time.Sleep(time.Minute)
		if a.asked.Load() != asked {
			t.Error("nobody watches, and it was asked")
		}
	})
}

// TestCloseEndsAll checks that waiting streams return, a running Ask is canceled, and Watch is refused.
func TestCloseEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		s, err := h.Watch("k", func(ctx context.Context, _ func()) ([]byte, func(), error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := s.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		h.Close()
		if err := <-ended; !errors.Is(err, live.ErrClosed) {
			t.Error(err)
		}
		if _, err := h.Watch("k", nil); !errors.Is(err, live.ErrClosed) {
			t.Error(err)
		}
		s.Close()
	})
}

// TestAPanicEndsItsStreamsAlone checks that a panic of Ask ends the streams of its answer, but neither the process nor other and later
// streams.
func TestAPanicEndsItsStreamsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := options
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		h := live.New(o)
		defer h.Close()
		var a answer
		a.text.Store("one")
		other, err := h.Watch("other", a.ask)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		panics := func(context.Context, func()) ([]byte, func(), error) { panic("a fault") }
		var both []*live.Stream
		for range 2 {
			s, err := h.Watch("k", panics)
			if err != nil {
				t.Fatal(err)
			}
			both = append(both, s)
		}
		for _, s := range both {
			if _, err := s.Next(t.Context()); !errors.Is(err, live.ErrPanicked) {
				t.Errorf("ended by %v", err)
			}
		}
		again, err := h.Watch("k", a.ask)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		for _, s := range both {
			s.Close()
		}
		if got := string(next(t, again).Data); got != "one" {
			t.Errorf("who comes again is sent %q", got)
		}
		next(t, other)
		a.change("two")
		if got := string(next(t, other).Data) + string(next(t, again).Data); got != "twotwo" {
			t.Errorf("the others are sent %q", got)
		}
		if text := log.String(); strings.Count(text, "a fault") != 1 || !strings.Contains(text, "TestAPanicEndsItsStreamsAlone") {
			t.Errorf("the log:\n%s", text)
		}
	})
}

// TestWhatIsWokenIsAskedForAtOnce checks that a wake leads to an Ask at once, but no more often than allowed, and that answers are
// released, or they would wake forever.
func TestWhatIsWokenIsAskedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var a answer
		a.text.Store("0")
		s := watch(t, h, &a)
		next(t, s)
		time.Sleep(200 * time.Millisecond)
		began := time.Now()
		a.change("1")
		if got := next(t, s); string(got.Data) != "1" || time.Since(began) != 0 {
			t.Errorf("%q after %v", got.Data, time.Since(began))
		}
		a.change("2")
		if got := next(t, s); string(got.Data) != "2" || time.Since(began) != options.Soonest {
			t.Errorf("%q after %v", got.Data, time.Since(began))
		}
		if n := a.watched.Load(); n != 1 {
			t.Errorf("%d askings can wake it", n)
		}
		s.Close()
		synctest.Wait()
		if n := a.watched.Load(); n != 0 {
			t.Errorf("nobody watches, and %d askings can wake it", n)
		}
	})
}

// TestWakingForNothingIsAskedLessAndLess checks that wakes for nothing slow the Asks down to the normal interval, until something changes
// again.
func TestWakingForNothingIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		var a answer
		a.text.Store("same")
		s := watch(t, h, &a)
		defer s.Close()
		next(t, s)
		asked := a.asked.Load()
		for range 10_000 {
			time.Sleep(time.Millisecond)
			a.change("same")
		}
		if n := a.asked.Load() - asked; n < 10 || n > 16 {
			t.Errorf("asked %d times in ten seconds", n)
		}
		a.change("another")
		next(t, s)
		time.Sleep(time.Second / 2)
		began := time.Now()
		a.change("yet another")
		if next(t, s); time.Since(began) != 0 {
			t.Errorf("after %v", time.Since(began))
		}
	})
}

// TestAWakeDuringAnAskingIsNotLost checks that a change during an Ask is in the next answer.
func TestAWakeDuringAnAskingIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := live.New(options)
		defer h.Close()
		asked := 0
		s, err := h.Watch("k", func(_ context.Context, wake func()) ([]byte, func(), error) {
			if asked++; asked == 1 {
				wake()
			}
			return fmt.Append(nil, asked), nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		began := time.Now()
		next(t, s)
		if got := next(t, s); string(got.Data) != "2" || time.Since(began) != options.Soonest {
			t.Errorf("%q after %v", got.Data, time.Since(began))
		}
	})
}
