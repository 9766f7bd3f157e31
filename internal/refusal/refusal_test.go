package refusal_test

import (
	"testing"
	"time"

	"brine/internal/refusal"
)

func TestBound(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name    string
		settled int
		want    int // allowed out of 1,000 in one minute
	}{
		{"a quiet topic", 0, 3},
		{"some", 500, 5},
		{"1 %", 5_000, 50},
		{"never more than 100", 1_000_000, 100},
	} {
		var b refusal.Bound
		b.Settled(start, c.settled)
		got := 0
		for i := range 1000 {
			if b.Allow(start.Add(time.Duration(i) * 10 * time.Millisecond)) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d were allowed, want %d", c.name, got, c.want)
		}
		if !b.Allow(start.Add(71 * time.Second)) {
			t.Errorf("%s: none is allowed a minute later", c.name)
		}
	}
}
