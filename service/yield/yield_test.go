package yield

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// play simulates a half that gives way on a machine that does capacity of work per second. The first half takes what it asks for, as far as
// the other leaves it: both are served alike, as by a kernel without priorities. play returns what both got in each second.
func play(h *Half, seconds int, capacity, asked float64, lag int64, left func(second int) time.Duration) (first, second []float64) {
	var behind float64
	of := Load{Lag: lag}
	for i := range seconds {
		own := min(h.Limit(), float64(of.Lag), capacity)
		want := min(capacity, asked+behind)
		if over := own + want - capacity; over > 0 { // each gets half, and what one does not use goes to the other
			fair := capacity / 2
			switch {
			case own < fair:
				want = capacity - own
			case want < fair:
				own = capacity - want
			default:
				own, want = fair, fair
			}
		}
		behind = max(0, behind+asked-want)
		of.Lag -= int64(own)
		of.Settled, of.Left = own, left(i)
		first, second = append(first, want), append(second, own)
		rows := Load{Lag: int64(behind), Settled: want}
		h.Look(of, rows.Behind(), (own+want)/capacity)
	}
	return first, second
}

func never(int) time.Duration { return 0 }

func mean(of []float64) (sum float64) {
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// TestFirstKeepsItsRate checks that a backlog of the first half leaves the other next to nothing within a few seconds, and that a first
// half that asks for less than there is gets all of it, and the other the rest.
func TestFirstKeepsItsRate(t *testing.T) {
	for _, c := range []struct {
		name          string
		asked         float64 // of 10,000
		first, second float64 // at least
	}{
		{"a backlog", 1e6, 9_500, 90},
		{"most of it", 8_000, 7_600, 1_000},
		{"a little", 1_000, 990, 8_000},
		{"nothing", 0, 0, 9_900},
	} {
		var h Half
		first, second := play(&h, 300, 10_000, c.asked, 1e9, never)
		if got := mean(first[20:]); got < c.first {
			t.Errorf("%s: the first has %.0f a second, want %.0f", c.name, got, c.first)
		}
		if got := mean(second[20:]); got < c.second {
			t.Errorf("%s: the second has %.0f a second, want %.0f", c.name, got, c.second)
		}
	}
}

// TestWhoIsBehind checks that a half is not behind if it is nearly done, has stopped, or runs at the rate asked of it.
func TestWhoIsBehind(t *testing.T) {
	for name, c := range map[string]struct {
		of   Load
		want bool
	}{
		"a backlog":                {Load{Lag: 50_000, Settled: 20_000}, true},
		"a moment's work":          {Load{Lag: 15_000, Settled: 20_000}, false},
		"hardly anything":          {Load{Lag: 900, Settled: 10}, false},
		"it stands still":          {Load{Lag: 50_000}, false},
		"as fast as asked":         {Load{Lag: 50_000, Settled: 4_900, Asked: 5_000}, false},
		"slower than it was asked": {Load{Lag: 50_000, Settled: 4_000, Asked: 5_000}, true},
	} {
		if got := c.of.Behind(); got != c.want {
			t.Errorf("%s: behind is %v", name, got)
		}
	}
}

// TestIdleMachineIsNotShared checks that nobody is slowed down if the first half is behind because of a slow store, not because of the
// machine.
func TestIdleMachineIsNotShared(t *testing.T) {
	var h Half
	for range 10 {
		if limit := h.Look(Load{Lag: 1e6, Settled: 3000}, true, 0.4); !math.IsInf(limit, 1) {
			t.Fatalf("held to %v", limit)
		}
	}
}

// TestWhatIsHeldIsLetGo checks that the other half soon runs at full speed once the first is no longer behind.
func TestWhatIsHeldIsLetGo(t *testing.T) {
	var h Half
	of := Load{Lag: 1e6, Settled: 20_000}
	for range 20 {
		of.Settled = min(of.Settled, h.Look(of, true, 1))
	}
	if of.Settled != least {
		t.Fatalf("held to %v, want %v", of.Settled, float64(least))
	}
	for i := range 60 {
		limit := h.Look(of, false, 1)
		if math.IsInf(limit, 1) {
			if i < 10 {
				t.Errorf("let go after %d s at once", i)
			}
			return
		}
		of.Settled = min(20_000, limit)
	}
	t.Errorf("still held to %v after a minute", h.Limit())
}

// TestNothingIsLostToRetention checks that a half that would not finish before half of the remaining retention has passed gets what it
// needs to, whichever half is behind, and no more.
func TestNothingIsLostToRetention(t *testing.T) {
	var h Half
	const lag, hours = 3_600_000, 2
	left := func(second int) time.Duration { return hours*time.Hour - time.Duration(second)*time.Second }
	first, second := play(&h, 600, 10_000, 1e6, lag, left)
	if want := lag / (hours * 3600 / 2.); mean(second[60:]) < want*0.9 {
		t.Errorf("%.0f a second, want %.0f", mean(second[60:]), want)
	}
	if got := mean(first[60:]); got < 8_000 {
		t.Errorf("the first has %.0f a second of what the second does not need", got)
	}
	if !h.Pressed() {
		t.Error("it is not said to be pressed")
	}
}

// TestNothingIsLostToASizeThatNobodyKnows checks that a half keeps up, and catches up, where its topic may delete young records.
func TestNothingIsLostToASizeThatNobodyKnows(t *testing.T) {
	for _, c := range []struct{ left, within time.Duration }{
		{0, 30 * time.Minute}, {10 * time.Minute, 5 * time.Minute}, {30 * 24 * time.Hour, 30 * time.Minute},
	} {
		var h Half
		for range 100 {
			h.Look(Load{Lag: 3_600_000, Settled: 5000, Arrives: 700, Left: c.left, Young: true}, true, 1)
		}
		if want := 700 + 3_600_000/c.within.Seconds(); math.Abs(h.Limit()-want) > 1 || !h.Pressed() {
			t.Errorf("%v left: held to %.0f a second, want %.0f", c.left, h.Limit(), want)
		}
	}
}

func TestFreeHoldsNothing(t *testing.T) {
	var h Half
	h.Look(Load{Lag: 1e6, Settled: 1000}, true, 1)
	if h.Free(); !math.IsInf(h.Limit(), 1) {
		t.Errorf("held to %v", h.Limit())
	}
}

// TestMachineIsAsBusyAsLinuxSays checks the share from Linux's counters, and that a machine counts as busy if it is unknown.
func TestMachineIsAsBusyAsLinuxSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stat")
	says := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &Machine{stat: file}
	says("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n")
	m.ofAll()
	says("cpu  175 0 100 720 105 0 0 0 0 0\ncpu0 1 2 3\n")
	if busy := m.ofAll(); busy != 0.75 {
		t.Errorf("busy %v, want 0.75", busy)
	}
	const last = "cpu  175 0 100 720 105 0 0 0 0 0\n"
	for _, text := range []string{last, "cpu a b c d e f g h\n", "", last} {
		if says(text); m.ofAll() != 1 {
			t.Errorf("%q: not taken for busy", text)
		}
	}
	says("cpu  175 0 100 770 105 0 0 0 0 0\n")
	if busy := m.ofAll(); busy != 0 {
		t.Errorf("busy %v after looks that could not be read, want 0 since the last that could", busy)
	}
	m.stat = filepath.Join(t.TempDir(), "none")
	if m.Busy() != 1 {
		t.Error("not taken for busy where nothing is said")
	}
}
