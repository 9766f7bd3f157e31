package pipeline

import (
	"testing"
	"time"
)

func TestPaceIsAMedian(t *testing.T) {
	p := &pace{}
	for range 100 {
		p.observe(10 * time.Millisecond)
	}
	for range 3 {
		p.observe(10 * time.Second)
	}
	if p.typical > 15*time.Millisecond {
		t.Errorf("three slow calls made %v of 10ms", p.typical)
	}
	for range 100 {
		p.observe(time.Second)
	}
	if p.typical < 900*time.Millisecond || p.typical > 1100*time.Millisecond {
		t.Errorf("a server that has become slow is at %v, want 1s", p.typical)
	}
	p.typical = 10 * time.Millisecond
	for _, tt := range []struct {
		d         time.Duration
		was, want bool
	}{
		{45 * time.Millisecond, false, false}, // not worth riding alone
		{79 * time.Millisecond, false, false},
		{80 * time.Millisecond, false, true},
		{79 * time.Millisecond, true, true}, // between the bounds, it stays as it is
		{39 * time.Millisecond, true, false},
	} {
		if got := p.slow(tt.d, tt.was); got != tt.want {
			t.Errorf("%v after %v: %v", tt.d, tt.was, got)
		}
	}
}
