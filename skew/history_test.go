package skew

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestHistoryIsAHeatMapOverKeysAndTime(t *testing.T) {
	w := newWorkload(Shape{}, even(4), 1)
	for minute := range 4 { // a diagonal
		for range 60 {
			w.c.put(w.list[minute], 120)
			w.clock.pass(time.Second)
			w.tables.Observe()
		}
	}
	m := w.c.HeatMap(time.Hour, 100, 4)
	want := "[[120 0 0 0] [0 120 0 0] [0 0 120 0] [0 0 0 120]]"
	if got := fmt.Sprintf("%.0f", m.Rows); got != want || len(m.Starts) != 4 || string(m.Starts[2]) != "5000" || m.Most != 120 {
		t.Errorf("%s %q", got, m.Starts)
	}
	if m = w.c.HeatMap(time.Hour, 2, 2); fmt.Sprintf("%.0f", m.Rows) != "[[120 0] [0 120]]" {
		t.Errorf("neighbours are added up, of time on the average: %.0f", m.Rows)
	}
	low, high := w.list[3], w.list[3] // what is wider than a range is divided evenly
	low.Name, low.ID, low.End = "low", 2, Key("8000")
	high.Name, high.ID, high.Start = "high", 2, Key("8000")
	w.c.SetRegions([]Region{w.list[0], w.list[1], w.list[2], low, high})
	m = w.c.HeatMap(70*time.Second, 100, 100)
	if got := fmt.Sprintf("%.0f", m.Rows[3:]); len(m.Starts) != 5 || got != "[[0 60] [0 60]]" {
		t.Errorf("%s of %q", got, m.Starts)
	}
	if m = NewCounter(Shape{}, time.Now).HeatMap(time.Hour, 10, 10); len(m.Rows) != 0 {
		t.Error("nothing is known of a table without regions")
	}
}

func TestHistoryOfEightHoursIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing goes on beside it")
	}
	const n = 10_000
	list := make([]Region, n)
	for i := range list {
		list[i] = Region{Name: fmt.Sprintf("%032x", i), ID: 1, Server: "s"}
		if i > 0 {
			list[i].Start = fmt.Appendf(nil, "%06d", i)
			list[i-1].End = list[i].Start
		}
	}
	w := newWorkload(Shape{}, list, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	hot := []int{17, 5000, 9999}
	for range 9 * 60 {
		for range 100 {
			w.c.put(list[w.rnd.IntN(n)], 10)
		}
		for _, i := range hot {
			w.c.put(list[i], 1000)
		}
		w.clock.pass(time.Minute)
		w.tables.Observe()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	t.Logf("%.1f MiB", used)
	if used > 64 {
		t.Errorf("%.1f MiB, at most 64 are allowed", used)
	}
	columns := w.c.past.ordered()
	if len(columns) != columnsKept {
		t.Errorf("%d columns of a minute", len(columns))
	}
	last := columns[len(columns)-1]
	for i, col := range columns {
		if i > 0 && !columns[i-1].To.Equal(col.From) {
			t.Fatalf("column %d is from %v, the one before to %v", i, col.From, columns[i-1].To)
		}
	}
	if len(last.Starts) > MostRanges || len(last.Starts) < 100 {
		t.Errorf("%d buckets", len(last.Starts))
	}
	for _, i := range hot {
		own := false
		for j, start := range last.Starts {
			own = own || string(start) == string(list[i].Start) && last.Rows[j] < 1200
		}
		if !own {
			t.Errorf("hot region %d has no bucket of its own", i)
		}
	}
	runtime.KeepAlive(w)
}
