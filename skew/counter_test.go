package skew

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is a clock that tests set.
type clock struct{ time.Time }

func newClock() *clock                { return &clock{time.Unix(1_700_000_040, 0)} } // a minute begins
func (c *clock) now() time.Time       { return c.Time }
func (c *clock) pass(d time.Duration) { c.Time = c.Add(d) }
func (c *Counter) put(r Region, n int64) {
	c.Add(Batch{Region: r, Count: Count{Rows: n, Bytes: 10 * n}})
}

// even returns n regions whose starts are numbers of four digits.
func even(n int) []Region {
	out := make([]Region, n)
	for i := range out {
		out[i] = Region{Name: fmt.Sprintf("r%d", i), ID: 1, Server: fmt.Sprintf("s%d", i%4)}
		if i > 0 {
			out[i].Start = fmt.Appendf(nil, "%04d", i*10000/n)
			out[i-1].End = out[i].Start
		}
	}
	return out
}

func TestCountsSlideOverTheirWindows(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{Buckets: 2}, clock.now)
	list := even(2)
	c.SetRegions(list)
	c.put(list[1], 100)
	c.AddBucket(1, 100, 1000)
	c.AddBucket(7, 1, 1) // outside: not counted, no panic
	clock.pass(30 * time.Second)
	c.put(list[1], 10)
	c.AddRetries("r1", 3)
	c.AddRetries("unknown", 3)
	for _, tt := range []struct {
		after                     time.Duration
		total, minute, five, hour int64
	}{
		{0, 110, 110, 110, 110},
		{40 * time.Second, 110, 10, 110, 110},
		{4 * time.Minute, 110, 0, 10, 110},
		{54 * time.Minute, 110, 0, 0, 110},
		{time.Minute + 30*time.Second, 110, 0, 0, 0},
		{1000 * time.Hour, 110, 0, 0, 0},
	} {
		clock.pass(tt.after)
		rep := c.Report()
		l := rep.Regions[1]
		if l.Total.Rows != tt.total || l.Recent.Rows != tt.minute || l.FiveMinutes.Rows != tt.five || l.Hour.Rows != tt.hour {
			t.Errorf("after %v more: %+v, want %+v", tt.after, l, tt)
		}
		if len(rep.Regions) != 2 || rep.Regions[0].Total.Rows != 0 || rep.Total.MaxMean != 2 || rep.Buckets[1].Total.Rows != 100 || l.Total.Retries != 3 {
			t.Errorf("report: %+v", rep)
		}
	}
}

func TestClocksMayJump(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	r := even(1)[0]
	for _, jump := range []time.Duration{time.Second, -time.Hour, 24 * time.Hour, -48 * time.Hour, 1e6 * time.Hour, time.Minute} {
		clock.pass(jump)
		c.put(r, 1)
		tables := map[string]*place{}
		c.observe(tables)
	}
	if l := c.Report().Regions[0]; l.Total.Rows != 6 || l.Recent.Rows < 1 || l.Recent.Rows > 6 {
		t.Errorf("%+v", l)
	}
}

func TestSplitsMergesAndMovesCarryCountsOver(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	whole := Region{Name: "whole", ID: 1, Server: "a"}
	c.Add(Batch{Region: whole, Count: Count{Rows: 1000, Bytes: 10}, Rows: numbered{1000, 0, 1000}})
	low, high := Region{Name: "low", ID: 2, End: Key("0250"), Server: "a"}, Region{Name: "high", ID: 2, Start: Key("0250"), Server: "b"}
	c.put(high, 100) // an answer of the new region arrives before the list of regions
	rows := func() string {
		out := ""
		for _, l := range c.Report().Regions {
			out += fmt.Sprintf("%s[%s,%s)%s %d %d; ", l.Region.Name, l.Region.Start, l.Region.End, l.Region.Server, l.Total.Rows, l.Recent.Rows)
		}
		return out
	}
	if got := rows(); got != "whole[,0250)a 250 250; high[0250,)b 850 850; " {
		t.Error(got)
	}
	c.SetRegions([]Region{low, high})
	c.put(whole, 7) // a late answer of the old one
	high.Server = "c"
	c.put(high, 1)
	if got := rows(); got != "low[,0250)a 257 257; high[0250,)c 851 851; " {
		t.Error(got)
	}
	c.SetRegions([]Region{{Name: "again", ID: 3, Server: "a"}})
	if got := rows(); got != "again[,)a 1108 1108; " {
		t.Error(got)
	}
}

// numbered are n rows with numbers of four digits, from first on, repeating after distinct.
type numbered struct{ n, first, distinct int }

func (r numbered) Row(i int) []byte { return fmt.Appendf(nil, "%04d", r.first+i%r.distinct) }

func TestSumsNeverChangeHoweverRegionsComeAndGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := newClock()
		c := NewCounter(Shape{}, clock.now)
		written := int64(0)
		for id := range rapid.IntRange(1, 40).Draw(t, "changes") {
			n := rapid.IntRange(1, 30).Draw(t, "regions")
			list := even(n)
			for i := range list {
				list[i].ID = int64(id + 1)
				list[i].Name = fmt.Sprintf("%d-%d", id, i)
			}
			if rapid.Bool().Draw(t, "listed") {
				c.SetRegions(list)
			}
			for range rapid.IntRange(0, 5).Draw(t, "writes") {
				rows := rapid.Int64Range(1, 1000).Draw(t, "rows")
				c.put(list[rapid.IntRange(0, n-1).Draw(t, "region")], rows)
				written += rows
			}
			clock.pass(time.Second)
		}
		total, recent := int64(0), int64(0)
		var before Key
		for i, l := range c.Report().Regions {
			total, recent = total+l.Total.Rows, recent+l.Recent.Rows
			if i > 0 && (len(before) == 0 || string(before) > string(l.Region.Start)) {
				t.Fatalf("regions overlap at %s", l.Region.Start)
			}
			before = l.Region.End
		}
		if total != written || recent != written {
			t.Fatalf("%d and %d rows of %d", total, recent, written)
		}
	})
}

func TestFieldsAreCountedOverTheLastMinute(t *testing.T) {
	clock := newClock()
	c := NewCounter(Shape{}, clock.now)
	values := stored{[]byte("北京"), []byte("a\x1b[2Jb"), nil, []byte("北京")}
	c.AddField("station", len(values), values.Row)
	got := c.HeavyFields()["station"]
	if len(got) != 2 || got[0].Text != "北京" || got[0].Rows != 2 || got[0].Error != 0 || got[1].Text != `a\x1B[2Jb` {
		t.Errorf("%+v", got)
	}
	clock.pass(40 * time.Second)
	c.AddField("station", 1, values.Row)
	if got = c.HeavyFields()["station"]; len(got) != 2 || got[0].Rows != 3 {
		t.Errorf("half a minute later: %+v", got)
	}
	clock.pass(time.Minute)
	if got = c.HeavyFields()["station"]; len(got) != 0 {
		t.Errorf("after a minute: %+v", got)
	}
}

// TestReshapedCounterForgetsKeys checks that the names of the old shape are gone, and the counts of regions continue.
func TestReshapedCounterForgetsKeys(t *testing.T) {
	clock := newClock()
	named := Shape{Head: func(row []byte) int { return len(row) }, Text: func(b []byte) string { return string(b) }}
	c := NewCounter(named, clock.now)
	clock.pass(2 * time.Minute)
	add := func() {
		rows := stored{[]byte("secret")}
		c.Add(Batch{Region: Region{Name: "r"}, Count: Count{Rows: 1, Bytes: 9}, Rows: rows})
		c.AddField("station", 1, rows.Row)
	}
	add()
	if got := c.Heavy(); len(got) != 1 || got[0].Text != "secret" || len(c.HeavyFields()) != 1 || len(c.sample.all()) != 1 {
		t.Fatalf("before: %+v", got)
	}
	c.Reshape(Shape{Head: func([]byte) int { return 0 }, Text: func([]byte) string { return "" }})
	if len(c.Heavy()) > 0 || len(c.HeavyFields()) > 0 || len(c.sample.all()) > 0 {
		t.Errorf("after: %+v, %+v, %+v", c.Heavy(), c.HeavyFields(), c.sample.all())
	}
	add()
	if got := c.Heavy(); len(got) > 0 {
		t.Errorf("after another row: %+v", got)
	}
	if n := c.Recent().RowsRecent; n != 2 || len(c.sample.all()) != 1 {
		t.Errorf("%d rows are counted, %d in the sample; want 2, and the one since", n, len(c.sample.all()))
	}
}

func TestThousandsOfRegionsComeAndGoWithinBounds(t *testing.T) {
	const n = 10_000
	clock := newClock()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := NewCounter(Shape{Head: func(row []byte) int { return len(row) }}, clock.now)
	rnd := rand.New(rand.NewPCG(1, 1))
	key := make([]byte, 100)
	for id := range 3 {
		list := make([]Region, n)
		for i := range list {
			list[i] = Region{Name: fmt.Sprintf("%032x", i+id*n), ID: int64(id + 1), Server: "server-with-a-long-name:16020"}
			if i > 0 {
				list[i].Start = fmt.Appendf(nil, "%08d some more bytes of a key", i*10+id)
				list[i-1].End = list[i].Start
			}
		}
		c.SetRegions(list)
		for range 200 {
			clock.pass(time.Second)
			for i := range key {
				key[i] = byte(rnd.Uint32())
			}
			for range 50 {
				c.Add(Batch{Region: list[rnd.IntN(n)], Count: Count{Rows: 100, Bytes: 1}, Rows: randomRows{rnd, key}})
			}
		}
		clock.pass(time.Hour)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := c.Regions(); got != n {
		t.Errorf("%d regions, want %d", got, n)
	}
	used := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	t.Logf("%.1f MiB", used)
	if used > 32 {
		t.Errorf("%.1f MiB for %d regions, at most 32 are allowed", used, n)
	}
	runtime.KeepAlive(c)
}

type randomRows struct {
	rnd *rand.Rand
	key []byte
}

func (r randomRows) Row(i int) []byte {
	for j := range 8 {
		r.key[j] = byte(r.rnd.Uint32())
	}
	return r.key
}
