package pace

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// passes returns how many records pass in each of the seconds from now on.
func passes(t *testing.T, p *Pace, seconds int) (each []int) {
	t.Helper()
	each = make([]int, seconds)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	for began := time.Now(); ; {
		n := p.Most()
		if n == math.MaxInt32 {
			t.Fatalf("nothing limits the rate after %v", time.Since(began))
		}
		if p.Wait(ctx, n) != nil {
			return each
		}
		if at := int(time.Since(began) / time.Second); at < seconds {
			each[at] += n
		}
	}
}

func near(got, want int) bool {
	return float64(got) >= 0.85*float64(want) && float64(got) < 1.15*float64(want)+1
}

// TestRamp: the rate after a pause starts at 1,000 records per second and doubles every second; after ten it is unlimited.
func TestRamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Order{Paused: true})
		time.Sleep(time.Hour)
		p.Set(Order{})
		for i, n := range passes(t, p, 10) {
			if want := rampStart * math.Exp2(float64(i)) / math.Ln2; !near(n, int(want)) { // the integral of the rate
				t.Errorf("%d records pass in second %d, want about %.0f", n, i, want)
			}
		}
		if p.Most() != math.MaxInt32 {
			t.Errorf("%d records may go at once after the ramp, want any number", p.Most())
		}
		for range 3 {
			if began := time.Now(); p.Wait(t.Context(), 1<<20) != nil || time.Since(began) > 0 {
				t.Errorf("a wait after the ramp took %v", time.Since(began))
			}
		}
	})
}

// TestFollow: a ramp goes on in the pace of the loop that replaces the resumed one, and does not begin again.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := New(Order{Paused: true})
		before.Set(Order{})
		time.Sleep(2 * time.Second)
		after := New(Order{Paused: true, Unread: true})
		after.Set(Order{})
		after.Follow(before)
		if got, want := passes(t, after, 1)[0], rampStart*4/math.Ln2; !near(got, int(want)) {
			t.Errorf("%d records pass in the third second, want about %.0f", got, want)
		}
		time.Sleep(rampTime)
		late := New(Order{})
		late.Follow(after)
		if late.Most() != math.MaxInt32 {
			t.Errorf("%d records may go at once after the ramp, want any number", late.Most())
		}
	})
}

// TestRates: what else bounds the rate, alone and during a ramp.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(p *Pace)
		want int // records in the second second; 0: unlimited
	}{
		{"nothing", func(*Pace) {}, 0},
		{"a limit, of which we have half of the partitions", func(p *Pace) { p.Hold(3, 6); p.Set(Order{Limit: 1000}) }, 500},
		{"a limit, and no partitions", func(p *Pace) { p.Hold(0, 6); p.Set(Order{Limit: 1000}) }, -1},
		{"a bound", func(p *Pace) { p.Bound(300) }, 300},
		{"a bound that ended", func(p *Pace) { p.Bound(300); p.Bound(math.Inf(1)) }, 0},
		{"a bound below a limit", func(p *Pace) { p.Hold(1, 1); p.Set(Order{Limit: 1000}); p.Bound(300) }, 300},
		{"a limit below a bound", func(p *Pace) { p.Hold(1, 1); p.Set(Order{Limit: 200}); p.Bound(300) }, 200},
		{"a limit during a ramp", func(p *Pace) {
			p.Hold(1, 1)
			p.Set(Order{Paused: true})
			p.Set(Order{Limit: 200})
		}, 200},
		{"the order was not known yet, which is no pause", func(p *Pace) {
			p.Set(Order{Paused: true, Unread: true})
			p.Set(Order{})
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(Order{})
				c.set(p)
				if c.want == 0 {
					if p.Most() != math.MaxInt32 {
						t.Errorf("%d records may go at once, want any number", p.Most())
					}
					return
				}
				if got := passes(t, p, 2)[1]; !near(got, max(c.want, 0)) {
					t.Errorf("%d records a second, want %d", got, max(c.want, 0))
				}
			})
		})
	}
}

// TestWaitSeesChanges: who waits observes a pause, its end, and the end of its context.
func TestWaitSeesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Order{Paused: true})
		ctx, cancel := context.WithCancel(t.Context())
		passed := make(chan error, 1)
		wait := func() { go func() { passed <- p.Wait(ctx, 1) }() }
		wait()
		time.Sleep(time.Hour)
		select {
		case err := <-passed:
			t.Fatalf("paused, and a wait returned %v", err)
		default:
		}
		p.Set(Order{})
		if err := <-passed; err != nil {
			t.Error(err)
		}
		p.Set(Order{Paused: true})
		wait()
		synctest.Wait()
		cancel()
		if err := <-passed; err == nil {
			t.Error("paused and cancelled, and the records may go")
		}
	})
}
