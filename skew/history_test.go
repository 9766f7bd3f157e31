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

// TestRequestsAreTheClusters checks that a column has the requests of all clients at the rate at which the cluster counted them, also where
// this brine writes nothing, and that it has none for a minute in which the cluster reported nothing.
func TestRequestsAreTheClusters(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	c := tables.Counter("t", Shape{})
	c.SetRegions(even(2))
	reads, writes := uint64(1e6), uint64(1e6) // of r1, since it was opened
	for minute, reported := range []int{4, 4, 0, 0, 1, 2, 4} {
		for quarter := range 4 {
			clock.pass(15 * time.Second)
			reads, writes = reads+15*uint64(10*minute), writes+15
			if quarter < reported {
				c.SetLoads(nil, []RegionLoad{{Region: "r0"}, {Region: "r1", Reads: reads, Writes: writes}})
			}
			if quarter == 3 {
				tables.Observe()
			}
		}
	}
	columns, _ := c.Columns(time.Time{})
	var got []string
	for i := range columns {
		col := &columns[i]
		per := "unknown"
		if col.Requests != nil {
			per = fmt.Sprintf("%.0f+%.0f/s in %v", col.Requests[0], col.Requests[1]/float32(col.Observed.Seconds()), col.Observed)
		}
		got = append(got, per)
	}
	// Nobody knows when the requests of the two minutes without reports came, nor those before the first report.
	want := []string{"0+1/s in 45s", "0+11/s in 1m0s", "unknown", "unknown", "unknown", "0+45/s in 1m15s", "0+58/s in 1m30s"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLatencyIsTheMeanOfCalls checks that a column has the mean duration of a region's answered calls, however many rows they had.
func TestLatencyIsTheMeanOfCalls(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	c := tables.Counter("t", Shape{})
	list := even(2)
	c.SetRegions(list)
	for _, took := range []time.Duration{2 * time.Millisecond, 10 * time.Millisecond} {
		c.Add(Batch{Region: list[0], Count: Count{Rows: int64(took), Time: took}})
	}
	c.AddRetries("r0", 5) // is no answer
	clock.pass(time.Minute)
	tables.Observe()
	clock.pass(time.Minute)
	tables.Observe()
	columns, _ := c.Columns(time.Time{})
	if got := fmt.Sprint(columns[0].Latency, columns[1].Latency); got != "[6 0] [0 0]" {
		t.Error(got)
	}
}

// TestLatencyOfReadsIsTheirMean checks that a column has the mean duration of a region's reads apart from that of its writes, that reads of
// a region that was split are divided, and that a minute without reads has none.
func TestLatencyOfReadsIsTheirMean(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	if tables.Known("t") != nil {
		t.Error("nobody has asked for a counter")
	}
	c := tables.Counter("t", Shape{})
	if tables.Known("t") != c {
		t.Error("it is not known")
	}
	list := even(2)
	c.SetRegions(list)
	for _, took := range []time.Duration{2 * time.Millisecond, 10 * time.Millisecond} {
		c.AddRead(list[0], took)
	}
	c.Add(Batch{Region: list[1], Count: Count{Rows: 10, Time: time.Second}})
	clock.pass(time.Minute)
	tables.Keep()
	c.AddRead(list[1], 4*time.Millisecond)
	c.AddRead(list[1], 6*time.Millisecond)
	low := list[1]
	low.Name, low.ID, low.End = "low", 2, Key("8")
	c.SetRegions([]Region{low})
	clock.pass(time.Minute)
	tables.Observe()
	tables.Keep() // changes nothing
	clock.pass(time.Minute)
	tables.Keep()
	columns, open := c.Columns(time.Time{})
	var got []string
	for _, col := range append(columns, open) {
		got = append(got, fmt.Sprint(col.ReadLatency, col.Latency, col.Empty()))
	}
	want := []string{"[6 0] [0 1000] false", "[0 5 5] [0 0 0] false", "[] [0 0 0] true", "[] [0 0 0] true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := list[0]
	if n := testing.AllocsPerRun(100, func() { c.AddRead(r, time.Millisecond) }); n != 0 {
		t.Errorf("a read allocates %v times", n)
	}
}

// TestWhatIsReadKeepsItsBucket checks that a region that this process reads most keeps its own key range in a table with more regions than
// ranges, although nothing is written and no load is reported.
func TestWhatIsReadKeepsItsBucket(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	list := even(3 * MostRanges / 2)
	c.SetRegions(list)
	for _, r := range list {
		c.AddRead(r, time.Millisecond)
	}
	for range 1000 {
		c.AddRead(list[1001], 50*time.Millisecond)
	}
	_, open := c.Columns(time.Time{})
	if len(open.Starts) > MostRanges || len(open.Starts) < MostRanges/2 {
		t.Fatalf("%d ranges", len(open.Starts))
	}
	for i, start := range open.Starts {
		if own := string(start) == string(list[1001].Start); own != (open.ReadLatency[i] > 40) {
			t.Errorf("reads of the range from %q take %v ms", start, open.ReadLatency[i])
		}
	}
}

// TestASizeIsOfItsMinute checks that a column has no size of the table unless one was reported since the column before.
func TestASizeIsOfItsMinute(t *testing.T) {
	clock := newClock()
	tables := NewTables(clock.now)
	c := tables.Counter("t", Shape{})
	c.SetRegions(even(2))
	var got []int64
	for _, reported := range []bool{true, false, true} {
		if reported {
			c.SetLoads(nil, []RegionLoad{{Region: "r0", MB: 10}, {Region: "r1", MB: 5}})
		}
		clock.pass(time.Minute)
		tables.Keep()
	}
	columns, _ := c.Columns(time.Time{})
	for i := range columns {
		got = append(got, columns[i].MB)
	}
	if fmt.Sprint(got) != "[15 0 15]" {
		t.Error(got)
	}
}

// TestWhatOthersHeatKeepsItsBucket checks that a region that other clients read keeps its own key range in a table with more regions than
// ranges, although this brine writes elsewhere.
func TestWhatOthersHeatKeepsItsBucket(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	list := even(3 * MostRanges / 2)
	c.SetRegions(list)
	for _, r := range list {
		c.put(r, 100)
	}
	for _, reads := range []uint64{0, 1e6} {
		c.SetLoads(nil, []RegionLoad{{Region: "r1001", Reads: reads}})
		clock.pass(15 * time.Second)
	}
	_, open := c.Columns(time.Time{})
	if len(open.Starts) > MostRanges {
		t.Fatalf("%d ranges", len(open.Starts))
	}
	for i, start := range open.Starts {
		if open.Requests[i] > 0 && (string(start) != string(list[1001].Start) || open.Rows[i] != 100 || open.Requests[i] != 1e6) {
			t.Errorf("the range from %q has %v rows and %v requests", start, open.Rows[i], open.Requests[i])
		}
	}
}
