package term

import (
	"testing"
	"time"
)

func TestWordsOfProgress(t *testing.T) {
	for _, x := range []struct {
		elapsed    time.Duration
		done, left int64
		percent    float64
		remaining  string
	}{
		{time.Minute, 0, 0, 100, "0s"}, // there was nothing to do
		{time.Minute, 0, 9, 0, "?"},
		{time.Minute, 1, 3, 25, "3m0s"},
		{time.Second, 4, 1, 80, "300ms"}, // out of 250; tenths below ten seconds
		{time.Second, 4, 60, 6.25, "15s"},
		{time.Minute, 5, 0, 100, "0s"},
	} {
		if got := (Progress{Done: x.done, Left: x.left}).Percent(); got != x.percent {
			t.Errorf("%d done and %d left are %v %%, want %v", x.done, x.left, got, x.percent)
		}
		if got := Remaining(Progress{x.done, x.left, x.elapsed}.ETA()); got != x.remaining {
			t.Errorf("%d done in %v and %d left take %s, want %s", x.done, x.elapsed, x.left, got, x.remaining)
		}
	}
}

func TestEstimate(t *testing.T) {
	for bytes, want := range map[int64]string{0: "-", 1: "~1 KiB", 1024: "~1 KiB", 1025: "~2 KiB", 1 << 20: "~1 MiB", 3<<30 + 1: "~3,073 MiB"} {
		if got := Estimate(bytes); got != want {
			t.Errorf("%d bytes are shown as %s, want %s", bytes, got, want)
		}
	}
}
