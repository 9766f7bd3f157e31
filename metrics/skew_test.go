package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"brine/skew"
)

// regionOf returns region i of n equal ones, by the first four bytes of its keys.
func regionOf(i, n int) skew.Region {
	bound := func(i int) skew.Key {
		if i == 0 || i == n {
			return nil
		}
		return fmt.Appendf(nil, "%08d", 100_000_000/n*i)
	}
	return skew.Region{Name: fmt.Sprintf("%032x", i), ID: 1, Start: bound(i), End: bound(i + 1), Server: fmt.Sprint("rs", i%8, ":16020")}
}

// values returns a metric by the value of one of its labels.
func values(t *testing.T, reg *prometheus.Registry, name, by string) map[string]float64 {
	t.Helper()
	return labelled(t, reg, name, by)
}

// labelled returns a metric by the values of its labels, joined by slashes.
func labelled(t *testing.T, reg *prometheus.Registry, name string, by ...string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			key := make([]string, len(by))
			for _, l := range m.Label {
				if i := slices.Index(by, l.GetName()); i >= 0 {
					key[i] = l.GetValue()
				}
			}
			out[strings.Join(key, "/")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return out
}

// The busiest regions change from scrape to scrape, regions split by the hundred, and answers of regions that are gone come late: yet no
// series goes down, and together they count every row.
func TestRegionSeriesAreMonotoneWhileRegionsComeAndGo(t *testing.T) {
	clock := time.Unix(0, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(&Skew{Tables: tables})
	c := tables.Counter("t", skew.Shape{})
	rnd := rand.New(rand.NewPCG(7, 7))
	regions := make([]skew.Region, 400)
	for i := range regions {
		regions[i] = regionOf(i, len(regions))
	}
	c.SetRegions(regions)
	written, before, left := int64(0), map[string]float64{}, 0
	gone := map[string]float64{}
	for scrape := range 60 {
		for range 2000 {
			r := regions[min(rnd.IntN(len(regions)), rnd.IntN(len(regions)))]
			if rnd.IntN(3) == 0 {
				r = regions[(scrape*97+rnd.IntN(60))%len(regions)] // busy for this scrape
			}
			rows := rnd.Int64N(5000)
			c.Add(skew.Batch{Region: r, Count: skew.Count{Rows: rows, Bytes: 10 * rows}})
			written += rows
		}
		for range 20 { // splits
			i := rnd.IntN(len(regions))
			low, high := regions[i], regions[i]
			middle := append(append(skew.Key(nil), regions[i].Start...), byte('0'+scrape%60))
			low.Name, low.ID, low.End = low.Name+"l", low.ID+1, middle
			high.Name, high.ID, high.Start = high.Name+"h", high.ID+1, middle
			regions = append(regions, high)
			regions[i] = low
			if rnd.IntN(2) == 0 {
				c.SetRegions([]skew.Region{low, high})
			}
		}
		clock = clock.Add(15 * time.Second)
		now := values(t, reg, "brine_region_written_rows_total", "region")
		sum := 0.0
		for name, v := range now {
			if v < before[name] || v < gone[name] {
				t.Fatalf("scrape %d: %s went from %v to %v", scrape, name, max(before[name], gone[name]), v)
			}
			sum += v
		}
		for name, v := range before {
			if _, still := now[name]; !still {
				gone[name] = v
				left++
			}
		}
		if len(now) > topRegions+1 {
			t.Fatalf("%d series", len(now))
		}
		for name, v := range gone {
			if _, back := now[name]; !back {
				sum += v
			}
		}
		if int64(sum) != written {
			t.Fatalf("scrape %d: the series count %d rows, written were %d", scrape, int64(sum), written)
		}
		before = now
	}
	if left < 100 {
		t.Errorf("only %d regions left the top: the test does not test", left)
	}
}

type keys [][]byte

func (k keys) Row(i int) []byte { return k[i] }

// One table has a hot region with one heavy key, another is even: the cause of the first is reported.
func TestHotRegionsAreCountedByCause(t *testing.T) {
	clock := time.Unix(1000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(&Skew{Tables: tables})
	shape := skew.Shape{Head: func(row []byte) int { return strings.IndexByte(string(row), '|') + 1 }}
	scraped := func() string {
		return fmt.Sprint(values(t, reg, "brine_table_hot_regions", "table"), labelled(t, reg, "brine_table_hot_cause_regions", "table", "cause"))
	}
	for second := range 10 {
		for i := range 4 {
			r, rows := regionOf(i, 4), make(keys, 100)
			for n := range rows {
				rows[n] = fmt.Appendf(nil, "%s%d|%d", r.Start, n, second)
			}
			tables.Counter("even", shape).Add(skew.Batch{Region: r, Count: skew.Count{Rows: 100}, Rows: rows})
			if i == 2 {
				for range 500 {
					rows = append(rows, fmt.Appendf(nil, "%sheavy|%d", r.Start, len(rows)))
				}
			}
			tables.Counter("hot", shape).Add(skew.Batch{Region: r, Count: skew.Count{Rows: int64(len(rows))}, Rows: rows})
		}
		clock = clock.Add(time.Second)
		tables.Observe()
	}
	if got, want := scraped(), "map[even:0 hot:1] map[hot/one heavy key:1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	clock = clock.Add(time.Minute) // nothing is written any more
	tables.Observe()
	if got, want := scraped(), "map[even:0 hot:0] map[]"; got != want {
		t.Errorf("after a minute without writes: got %s, want %s", got, want)
	}
}

func TestTablesOfAHundredRegionsShowWhole(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	tables := skew.NewTables(time.Now)
	reg.MustRegister(&Skew{Tables: tables})
	for _, table := range []string{"a", "b"} {
		for i := range 100 {
			tables.Counter(table, skew.Shape{}).Add(skew.Batch{Region: regionOf(i, 100), Count: skew.Count{Rows: 1}})
		}
	}
	n, err := testutil.GatherAndCount(reg, "brine_region_written_rows_total")
	if err != nil || n != 200 {
		t.Errorf("%d series, %v; want one for each of the 200 regions and none for others", n, err)
	}
}

func TestBinaryKeysAreSafeInLabels(t *testing.T) {
	for _, c := range []struct {
		name, decoded, want string
		start               skew.Key
	}{
		{"bytes", "", `\x00\xFF\x0Aab\x5C\x22`, skew.Key("\x00\xff\nab\\\"")},
		{"fields", "waybill=YD31", "waybill=YD31", skew.Key("whatever")},
		{"fields that break lines", "a=\x1b[31m\n", `a=\x1B[31m\x0A`, skew.Key("x")},
		{"fields that are no text", "a=\xff\xfe", `a=\xFF\xFE`, skew.Key("x")},
		{"long", "", strings.Repeat("k", maxStart) + "…", skew.Key(strings.Repeat("k", 32767))},
		{"Chinese", "茶=绿", "茶=绿", skew.Key("x")},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := skew.NewTables(time.Now)
			reg := prometheus.NewPedanticRegistry()
			reg.MustRegister(&Skew{Tables: tables, Start: func(string, []byte) string { return c.decoded }})
			tables.Counter("t", skew.Shape{}).SetRegions([]skew.Region{{Name: "r", Start: c.start, Server: "rs\xff:1"}})
			got := values(t, reg, "brine_region_info", "start")
			want := strings.ReplaceAll(c.want, `\x22`, `"`)
			if got[want] != 1 || len(got) != 1 {
				t.Errorf("got %v, want %q", got, want)
			}
			for server := range values(t, reg, "brine_region_info", "server") {
				if !utf8.ValidString(server) {
					t.Errorf("server %q is no text", server)
				}
			}
		})
	}
}

// The cluster's loads are missing, then present, then old because the cluster no longer reports them.
func TestLoadsThatAreUnavailableAreSeenToBe(t *testing.T) {
	clock := time.Unix(1000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(&Skew{Tables: tables})
	c := tables.Counter("t", skew.Shape{})
	c.SetRegions([]skew.Region{regionOf(0, 2), regionOf(1, 2)})
	if got := values(t, reg, "brine_table_loads_age_seconds", "table"); len(got) != 0 {
		t.Errorf("an age of loads that were never reported: %v", got)
	}
	clock = clock.Add(time.Second)
	c.SetLoads([]string{"rs0:16020", "rs1:16020"}, []skew.RegionLoad{{Region: regionOf(0, 2).Name, MB: 30}, {Region: regionOf(1, 2).Name, MB: 10}})
	clock = clock.Add(90 * time.Second)
	if got := values(t, reg, "brine_table_loads_age_seconds", "table"); got["t"] != 90 {
		t.Errorf("the loads are %v s old, want 90", got["t"])
	}
	if got := values(t, reg, "brine_region_data_skew_ratio", "index"); got["max_mean"] != 1.5 {
		t.Errorf("max/mean of the data is %v, want 1.5", got["max_mean"])
	}
	clock = clock.Add(-time.Hour) // setting the clock back makes no negative age
	if got := values(t, reg, "brine_table_loads_age_seconds", "table"); got["t"] != 90 {
		t.Errorf("the loads are %v s old, want 90", got["t"])
	}
}

func TestDealing(t *testing.T) {
	for _, c := range []struct {
		wants []int
		total int
		want  int
	}{
		{nil, 10, 0}, {[]int{3, 4}, 10, 4}, {[]int{128}, 768, 128}, {[]int{10, 10, 10}, 12, 4}, {[]int{1, 1, 100, 100}, 22, 10}, {[]int{5, 5, 5}, 2, 0},
	} {
		got := deal(c.wants, c.total)
		sum := 0
		for _, w := range c.wants {
			sum += min(w, got)
		}
		if got != c.want || sum > c.total {
			t.Errorf("of %d for %v each has at most %d, want %d", c.total, c.wants, got, c.want)
		}
	}
}
