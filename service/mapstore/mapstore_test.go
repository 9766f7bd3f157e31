package mapstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/skew"
	"brine/skew/past"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const scans = "logistics:scans"

// world is some members on one cluster. Its clock starts three hours ago, at the full hour.
type world struct {
	t      *testing.T
	clock  *testenv.Clock
	client *hbase.Client
	table  string
	began  time.Time
}

func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		server, err := embedded.Start(embedded.Options{Clock: w.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		w.dial("rpc://" + server.Addr())
		test(t, w)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.dial(testenv.HBase(t))
		t.Cleanup(func() {
			_ = w.client.DisableTable(context.Background(), w.table) // it may not exist
			_ = w.client.DeleteTable(context.Background(), w.table)
		})
		test(t, w)
	})
}

func newWorld(t *testing.T) *world {
	began := time.Now().Add(-3 * time.Hour).Truncate(time.Hour)
	return &world{t: t, clock: testenv.NewClock(began), table: testenv.Name(t), began: began}
}

func (w *world) dial(connect string) {
	w.t.Helper()
	client, err := hbase.Open(w.t.Context(), hbase.Options{Connect: connect})
	if err != nil {
		w.t.Fatal(err)
	}
	w.client = client
	w.t.Cleanup(func() { client.Close() })
}

// member is a process: its counters and its store.
type member struct {
	*Store
	w      *world
	tables *skew.Tables
	client *failing
	log    strings.Builder
	failed int
}

// failing is the cluster as one member reaches it.
type failing struct {
	*hbase.Client
	err error // nil: reachable
}

func (f *failing) MutateRow(ctx context.Context, b *hbase.Batch) error {
	if f.err != nil {
		return f.err
	}
	return f.Client.MutateRow(ctx, b)
}

func (w *world) member() *member {
	m := &member{w: w, tables: skew.NewTables(w.clock.Now), client: &failing{Client: w.client}}
	m.Store = Open(Options{Client: m.client, Table: w.table, Tables: m.tables, Now: w.clock.Now, Log: slog.New(slog.NewTextHandler(&m.log, nil)),
		Hooks: Hooks{Failed: func() { m.failed++ }}})
	m.tables.Counter(scans, skew.Shape{}).SetRegions([]skew.Region{region(0), region(1)})
	return m
}

// region returns one of two regions: keys below 5, or the rest.
func region(n int) skew.Region {
	if n == 0 {
		return skew.Region{Name: "low", End: skew.Key("5")}
	}
	return skew.Region{Name: "high", Start: skew.Key("5")}
}

// minute makes members write the given rows per second into each region for a minute, and then do their turn.
func (w *world) minute(rates map[*member][2]int64) {
	w.t.Helper()
	for m, rate := range rates {
		for n, rows := range rate {
			m.tables.Counter(scans, skew.Shape{}).Add(skew.Batch{Region: region(n), Count: skew.Count{Rows: 60 * rows, Bytes: 600 * rows}})
		}
	}
	w.clock.Pass(time.Minute)
	for m := range rates {
		m.tables.Observe()
		m.turn(w.t.Context(), within, false)
	}
}

// drawn returns the map of some minutes up to now: rows per second of both ranges.
func (m *member) drawn(minutes int) string {
	m.w.t.Helper()
	heat, err := m.Map(m.w.t.Context(), scans, Span{From: m.w.clock.Now().Add(-time.Duration(minutes) * time.Minute), Shape: past.Shape{Ranges: 100, Columns: 2000}})
	if err != nil {
		m.w.t.Fatal(err)
	}
	return fmt.Sprintf("%.0f", heat.Rows)
}

func (m *member) kept(l int) (rows []string) {
	m.w.t.Helper()
	err := m.buckets(m.w.t.Context(), scans, l, m.w.began, m.w.clock.Now().Add(time.Hour), nothing, func(b past.Bucket) {
		rows = append(rows, fmt.Sprintf("%s %.0f", b.At.Sub(m.w.began), b.Rows))
	})
	if err != nil {
		m.w.t.Fatal(err)
	}
	return rows
}

func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	if got := fmt.Sprint(got); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestAMapOutlivesItsProcess checks that a map survives a restart, including the last part of a minute.
func TestAMapOutlivesItsProcess(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.member()
		w.minute(map[*member][2]int64{a: {1, 10}})
		w.minute(map[*member][2]int64{a: {2, 20}})
		a.tables.Counter(scans, skew.Shape{}).Add(skew.Batch{Region: region(0), Count: skew.Count{Rows: 180}})
		w.clock.Pass(20 * time.Second)
		same(t, "before", a.drawn(60), "[[1 2 9] [10 20 0]]")
		a.turn(t.Context(), within, true)
		b := w.member()
		same(t, "after", b.drawn(60), "[[1 2 3] [10 20 0]]")
	})
}

// TestRowsOfTwoMembersAddUp checks that the map has the sum of what two members write, and nothing twice.
func TestRowsOfTwoMembersAddUp(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		w.minute(map[*member][2]int64{a: {1, 10}, b: {100, 0}})
		w.minute(map[*member][2]int64{a: {2, 20}, b: {200, 0}})
		for _, m := range []*member{a, b, w.member()} {
			same(t, "the map", m.drawn(60), "[[101 202] [10 20]]")
		}
	})
}

// TestCoarserBucketsKeepTheMost checks that a quarter and an hour show the minute in which a range was hottest, whoever makes them.
func TestCoarserBucketsKeepTheMost(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		for n := range 61 + int(settles/time.Minute) {
			rate := [2]int64{1, 1}
			switch n {
			case 7:
				rate[1] = 500
			case 20:
				rate[0] = 300
			case 30: // one process ends, and another starts
				a = w.member()
			}
			w.minute(map[*member][2]int64{a: rate, b: {1, 1}})
		}
		same(t, "quarters", a.kept(1), "[0s [2 501] 15m0s [301 2] 30m0s [2 2] 45m0s [2 2]]")
		same(t, "hours", b.kept(2), "[0s [301 501]]")
		heat, err := b.Map(t.Context(), scans, Span{From: w.clock.Now().Add(-6 * 24 * time.Hour), Shape: past.Shape{Ranges: 100, Columns: 2000}})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a week's map, whose last quarter is made of minutes", fmt.Sprintf("%.0f", heat.Rows), "[[2 301 2 2 2] [501 2 2 2 2]]")
	})
}

// TestWhatComesLateIsNotLost checks that what a member could not write for an hour is written later, and that coarser buckets made without
// it are made again.
func TestWhatComesLateIsNotLost(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		both := map[*member][2]int64{a: {1, 1}, b: {10, 1}}
		w.minute(both) // creates the table
		b.client.err = errors.New("no server answers")
		for range 65 {
			w.minute(both)
		}
		same(t, "quarters without b", a.kept(1), "[0s [11 2] 15m0s [1 1] 30m0s [1 1] 45m0s [1 1]]")
		if b.failed != 65 || strings.Count(b.log.String(), "cannot write map history") != 1 {
			t.Errorf("%d failures, and the log:\n%s", b.failed, &b.log)
		}
		same(t, "b's own map meanwhile", b.drawn(1), "[[11] [2]]")
		b.client.err = nil
		for range 12 {
			w.minute(both)
		}
		same(t, "quarters", a.kept(1), "[0s [11 2] 15m0s [11 2] 30m0s [11 2] 45m0s [11 2] 1h0m0s [11 2]]")
		same(t, "hours", a.kept(2), "[0s [11 2]]")
		if !strings.Contains(b.log.String(), "is being written again") {
			t.Errorf("the log:\n%s", &b.log)
		}
	})
}

// TestBucketsExpire checks that the servers remove minutes after a day, quarters after a week and hours after a month.
func TestBucketsExpire(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.member()
		for range 63 {
			w.minute(map[*member][2]int64{a: {1, 7}})
		}
		as, err := w.client.Describe(t.Context(), w.table)
		if err != nil {
			t.Fatal(err)
		}
		for i, ttl := range []string{"86400", "604800", "2678400"} {
			if f := as.Families[slices.IndexFunc(as.Families, func(f hbase.Family) bool { return f.Name == layers[i].family })]; f.Values["TTL"] != ttl {
				t.Errorf("%+v", f)
			}
		}
		if strings.Contains(t.Name(), "real") { // the real cluster's clock cannot be set
			return
		}
		for _, step := range []struct {
			pass   time.Duration
			counts [3]int
		}{{0, [3]int{63, 4, 1}}, {25 * time.Hour, [3]int{0, 4, 1}}, {7 * 24 * time.Hour, [3]int{0, 0, 1}}, {31 * 24 * time.Hour, [3]int{0, 0, 0}}} {
			w.clock.Pass(step.pass)
			for l, want := range step.counts {
				if got := len(a.kept(l)); got != want {
					t.Errorf("after %v more: %d buckets of %s, want %d", step.pass, got, layers[l].family, want)
				}
			}
		}
	})
}

// TestSizesAreNotAddedUp checks that sizes are the cluster's, not the sum over members.
func TestSizesAreNotAddedUp(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		for n := range int64(2) {
			for _, m := range []*member{a, b} {
				m.tables.Counter(scans, skew.Shape{}).SetLoads(nil, []skew.RegionLoad{{Region: "low", MB: 10 + n}, {Region: "high", MB: 100}})
			}
			w.minute(map[*member][2]int64{a: {1, 1}, b: {1, 1}})
		}
		sizes, err := w.member().Sizes(t.Context(), scans, Span{From: w.began})
		if err != nil || len(sizes) != 2 || sizes[0].MB != 110 || sizes[1].MB != 111 || !sizes[0].At.Equal(w.began) {
			t.Errorf("%v %v", sizes, err)
		}
	})
}

// TestReadersWaitNoLongerThanTheyMay checks that a table that does not exist yet has an empty map, and that a reader that waits for another
// is bounded by its own deadline.
func TestReadersWaitNoLongerThanTheyMay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		m := w.member()
		w.clock.Pass(time.Millisecond)
		same(t, "no table", m.drawn(60), "[[0] [0]]")
		done, err := m.alone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Map(ctx, scans, Span{From: w.began, Shape: past.Shape{Ranges: 1, Columns: 1}}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// counting counts the reads of maps, and runs something during one.
type counting struct {
	Client
	scans   int
	between func()
}

func (c *counting) Scan(ctx context.Context, table string, s hbase.Scan) iter.Seq2[hbase.Result, error] {
	c.scans++
	if do := c.between; do != nil {
		c.between = nil
		do()
	}
	return c.Client.Scan(ctx, table, s)
}

// TestALookAtAMapIsShared checks that simultaneous viewers of a map cost HBase one read, and that later viewers and other maps cost
// another.
func TestALookAtAMapIsShared(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		m := w.member()
		w.minute(map[*member][2]int64{m: {1, 10}})
		c := &counting{Client: m.opts.Client}
		m.opts.Client = c
		of := Span{From: w.began, Shape: past.Shape{Ranges: 100, Columns: 100}}
		for n, step := range []struct {
			pass   time.Duration
			ranges int
			want   int
		}{{0, 100, 1}, {0, 100, 1}, {time.Second, 100, 1}, {0, 1, 2}, {0, 100, 2}, {young, 100, 3}} {
			w.clock.Pass(step.pass)
			of.From, of.Ranges = of.From.Add(step.pass), step.ranges // a viewer asks for the same minutes again
			if _, err := m.Map(t.Context(), scans, of); err != nil || c.scans != step.want {
				t.Errorf("look %d: %d scans, want %d (%v)", n, c.scans, step.want, err)
			}
		}
	})
}

// TestWhatIsStoredWhileAMapIsReadIsOnItOnce checks that what is stored during a read is on the map once: nothing waits, and no row is
// counted twice or lost.
func TestWhatIsStoredWhileAMapIsReadIsOnItOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		m := w.member()
		w.minute(map[*member][2]int64{m: {1, 10}})
		m.tables.Counter(scans, skew.Shape{}).Add(skew.Batch{Region: region(1), Count: skew.Count{Rows: 1200}})
		w.clock.Pass(time.Minute)
		m.tables.Observe()
		m.opts.Client = &counting{Client: m.opts.Client, between: func() { m.turn(t.Context(), within, false) }}
		same(t, "while it is stored", m.drawn(60), "[[1 0] [10 20]]")
		w.clock.Pass(young)
		same(t, "afterwards", m.drawn(60), "[[1 0 0] [10 20 0]]")
		if len(m.kept(0)) != 2 {
			t.Errorf("%v", m.kept(0))
		}
	})
}

// TestAllThatIsKeptIsShown checks that a request for all that a layer keeps gets that layer, although the request takes a moment.
func TestAllThatIsKeptIsShown(t *testing.T) {
	c := testenv.NewClock(time.Unix(1_700_000_000, 0))
	s := Open(Options{Now: c.Now})
	for l, layer := range layers {
		from := c.Now().Add(-layer.kept)
		c.Pass(time.Millisecond)
		if got := s.finest(from, c.Now()); got != l {
			t.Errorf("%v: layer %d, want %d", layer.kept, got, l)
		}
	}
}

// TestAnOldOpenColumnIsNotShown checks that the column that an idle process has open since its start is not shown as a minute.
func TestAnOldOpenColumnIsNotShown(t *testing.T) {
	w := newWorld(t)
	m := w.member()
	for pass, want := range map[time.Duration]int{30 * time.Second: 1, 10 * time.Minute: 0} {
		m.tables = skew.NewTables(w.clock.Now)
		m.opts.Tables = m.tables
		m.tables.Counter(scans, skew.Shape{}).SetRegions([]skew.Region{region(0), region(1)})
		w.clock.Pass(pass)
		if list, _ := m.unwritten(scans); len(list) != want {
			t.Errorf("after %v: %d buckets, want %d", pass, len(list), want)
		}
	}
}

// TestRowsOfTablesAreApart checks that a row of a table with the same name prefix is not taken for the table's.
func TestRowsOfTablesAreApart(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	row := rowOf("a", at)
	if got, ok := timeOf("a", row); !ok || !got.Equal(at) {
		t.Errorf("%v %v", got, ok)
	}
	if other := rowOf("ab", time.Unix(0, 0)); slices.Compare(rowOf("a", time.Unix(math.MaxInt32, 0)), other) >= 0 {
		t.Error("rows of tables are mixed")
	}
	if _, ok := timeOf("a", []byte("a\x00123")); ok {
		t.Error("half a time is none")
	}
}

// TestRunEndsWithWhatIsOpen checks that Run writes at the end of each minute, and once more at its end.
func TestRunEndsWithWhatIsOpen(t *testing.T) {
	w := newWorld(t)
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	w.dial("rpc://" + server.Addr())
	m := w.member()
	m.tables.Counter(scans, skew.Shape{}).Add(skew.Batch{Region: region(0), Count: skew.Count{Rows: 120}})
	w.clock.Pass(time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.Run(ctx)
	same(t, "minutes", w.member().kept(0), "[0s [2 0]]")
}

// report makes members learn that all clients together have sent so many requests to each region.
func (w *world) report(requests [2]uint64, members ...*member) {
	for _, m := range members {
		m.tables.Counter(scans, skew.Shape{}).SetLoads([]string{"s0", "s1"}, []skew.RegionLoad{{Region: "low", Reads: requests[0]},
			{Region: "high", Writes: requests[1]}})
	}
}

// watched lets a minute pass in which all clients together send some requests per second to each region. The members learn of it every 15
// seconds, if the cluster reports it, and then do their turn.
func (w *world) watched(total *[2]uint64, perSecond [2]uint64, reported bool, members ...*member) {
	w.t.Helper()
	for range 4 {
		w.clock.Pass(15 * time.Second)
		if total[0], total[1] = total[0]+15*perSecond[0], total[1]+15*perSecond[1]; reported {
			w.report(*total, members...)
		}
	}
	for _, m := range members {
		m.tables.Observe()
		m.turn(w.t.Context(), within, false)
	}
}

// metric returns a metric's map of all that is kept, and its unknown columns.
func (m *member) metric(of skew.Metric, server string) string {
	m.w.t.Helper()
	span := Span{From: m.w.began, Shape: past.Shape{Ranges: 100, Columns: 2000, Metric: of}, Server: server}
	heat, err := m.Map(m.w.t.Context(), scans, span)
	if err != nil {
		m.w.t.Fatal(err)
	}
	return fmt.Sprintf("%.0f %v", *heat.Of(of), heat.Unknown)
}

// TestRequestsOfAllClientsAreNotAddedUpOverMembers checks that requests, which the cluster reports to every member, count once, that they
// outlive the processes, and that a minute without a report is unknown.
func TestRequestsOfAllClientsAreNotAddedUpOverMembers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		total := [2]uint64{1e6, 1e6}
		w.report(total, a, b)
		for _, reported := range []bool{true, false, true} {
			w.watched(&total, [2]uint64{10, 100}, reported, a, b)
		}
		for _, m := range []*member{a, b, w.member()} {
			same(t, "requests", m.metric(skew.MetricRequests, ""), "[[10 0 10] [100 0 100]] [1]")
		}
	})
}

// TestTheSlowestMemberShows checks that a range's latency is that of the member whose calls take longest.
func TestTheSlowestMemberShows(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		for m, took := range map[*member]time.Duration{a: 20 * time.Millisecond, b: 3 * time.Millisecond} {
			m.tables.Counter(scans, skew.Shape{}).Add(skew.Batch{Region: region(1), Count: skew.Count{Rows: 10, Time: took}})
		}
		w.minute(map[*member][2]int64{a: {}, b: {}})
		same(t, "latency", w.member().metric(skew.MetricLatency, ""), "[[0] [20]] []")
	})
}

// TestReadsOfProcessesThatOnlyReadAreKept checks that reads' latency outlives the processes, that of several the slowest counts, also in
// coarser buckets, and that a minute in which a process has read nothing costs it no row.
func TestReadsOfProcessesThatOnlyReadAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.member(), w.member()
		minute := func(took map[*member]time.Duration) {
			for m, took := range took {
				m.tables.Counter(scans, skew.Shape{}).AddRead(region(1), took)
			}
			w.clock.Pass(time.Minute)
			for _, m := range []*member{a, b} {
				m.tables.Keep()
				m.turn(t.Context(), within, false)
			}
		}
		minute(map[*member]time.Duration{a: 20 * time.Millisecond, b: 3 * time.Millisecond})
		for range 14 {
			minute(nil)
		}
		for range int(settles / time.Minute) {
			minute(map[*member]time.Duration{b: 5 * time.Millisecond})
		}
		rows := 0
		for r, err := range w.client.Scan(t.Context(), w.table, hbase.Scan{Columns: columnsOf(0)}) {
			if rows++; err != nil || len(r.Cells) != 2 {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		if rows != 2+2 {
			t.Errorf("%d rows of minutes", rows)
		}
		if got := w.member().metric(skew.MetricReadLatency, ""); !strings.HasPrefix(got, "[[0 ") || !strings.Contains(got, " [20 0 0 ") ||
			!strings.HasSuffix(got, " 5 5]] []") {
			t.Errorf("reads: %s", got)
		}
		var quarters []string
		err := a.buckets(t.Context(), scans, 1, w.began, w.clock.Now(), nothing, func(b past.Bucket) {
			quarters = append(quarters, fmt.Sprintf("%.0f %.0f", b.Rows, b.ReadLatency))
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a quarter", quarters, "[[0 0] [0 20]]")
	})
}

// TestAMapOfOneServerHasItsRegionsAlone checks that a map of a server has the regions that it has now, at all times.
func TestAMapOfOneServerHasItsRegionsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		m := w.member()
		on := func(servers ...string) {
			list := []skew.Region{region(0), region(1)}
			for i := range list {
				list[i].Server = servers[i]
			}
			m.tables.Counter(scans, skew.Shape{}).SetRegions(list)
			w.clock.Pass(young) // maps are shared for as long
		}
		w.minute(map[*member][2]int64{m: {1, 10}})
		w.minute(map[*member][2]int64{m: {2, 20}})
		on("s0:1", "s1:1")
		same(t, "s0", m.metric(skew.MetricRows, "s0:1"), "[[1 2 0]] []")
		same(t, "s1", m.metric(skew.MetricRows, "s1:1"), "[[10 20 0]] []")
		same(t, "s2", m.metric(skew.MetricRows, "s2:1"), "[] []")
		on("s1:1", "s1:1") // the balancer has moved a region
		same(t, "s0 without a region", m.metric(skew.MetricRows, "s0:1"), "[] []")
		same(t, "s1 with both", m.metric(skew.MetricRows, "s1:1"), "[[1 2 0] [10 20 0]] []")
	})
}

// TestBucketsOfEarlierBrinesAreRead checks that buckets without a second cell, as brines before requests and latencies stored them, are on
// the map, beside newer ones and in the coarser buckets made of both.
func TestBucketsOfEarlierBrinesAreRead(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.member()
		w.minute(map[*member][2]int64{a: {1, 7}}) // creates the table
		old := past.Bucket{At: w.clock.Now(), Starts: []skew.Key{{}, skew.Key("5")}, Rows: []float32{3, 9}, Bytes: []float32{30, 90}}
		b := hbase.NewBatch(w.table)
		b.Mutate(append(rowOf(scans, old.At), tailOf(42, old.At)...))
		b.Put([]byte(layers[0].family), []byte(qualifier), old.At.UnixMilli(), old.Encode())
		if err := w.client.MutateRow(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		w.clock.Pass(time.Minute) // in which none but the earlier brine has written
		a = w.member()
		var total [2]uint64
		w.report(total, a)
		for n := range 14 + int(settles/time.Minute) {
			w.watched(&total, [2]uint64{1, uint64(100 * (1 + n%3))}, true, a)
		}
		same(t, "minutes", strings.Join(a.kept(0)[:3], " "), "0s [1 7] 1m0s [3 9] 2m0s [0 0]")
		if got := a.metric(skew.MetricRequests, ""); !strings.HasPrefix(got, "[[0 0 1 1 ") || !strings.Contains(got, "] [0 0 100 200 300 ") ||
			!strings.HasSuffix(got, " [0 1]") {
			t.Errorf("requests: %s", got)
		}
		var quarters []string
		err := a.buckets(t.Context(), scans, 1, w.began, w.clock.Now(), nothing, func(b past.Bucket) {
			quarters = append(quarters, fmt.Sprintf("%.0f %.0f", b.Rows, b.Requests))
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a quarter", quarters, "[[3 9] [1 300]]")
	})
}
