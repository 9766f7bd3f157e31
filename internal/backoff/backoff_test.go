package backoff

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestHBaseFollowsItsTable(t *testing.T) {
	const pause = 100 * time.Millisecond
	want := []int{1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200, 200, 200}
	for failures, steps := range want {
		least := pause * time.Duration(steps)
		for range 1000 {
			if d := HBase(pause, failures); d < least || d > least+least/100 {
				t.Fatalf("after %d failures %v, want %v to 1 %% more", failures, d, least)
			}
		}
	}
	if d := HBase(pause, -1); d > 101*time.Millisecond {
		t.Errorf("a negative count waits %v", d)
	}
}

func TestExponentialGrowsToItsLimit(t *testing.T) {
	for failures, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		for range 1000 {
			if d := Exponential(100, 1000, failures); d < want/2 || d > want {
				t.Fatalf("after %d failures %d, want %d to %d", failures, d, want/2, want)
			}
		}
	}
	if d := Exponential(time.Second, time.Minute, 1<<30); d > time.Minute {
		t.Errorf("many failures wait %v", d)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Wait(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Errorf("waited %v, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if err := Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("waited %v, %v", time.Since(start), err)
		}
		if err := Wait(ctx, 0); err == nil {
			t.Error("no wait hides that the context is over")
		}
	})
}
