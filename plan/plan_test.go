package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"brine/plan"
	"brine/rowkey"
)

func userKey(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	key, err := rowkey.Parse(expr, []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "n", Type: rowkey.Int}})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rowOf(t testing.TB, key *rowkey.Key, user string, n int64) []byte {
	t.Helper()
	row, err := key.Append(nil, []rowkey.Value{rowkey.TextValue(user), rowkey.IntValue(n)}[:len(key.Fields())])
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func forecast(t testing.TB, tally *plan.Tally, regions int) *plan.Forecast {
	t.Helper()
	f, err := tally.Forecast(regions)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func starts(s *plan.Split) string {
	var out []string
	for _, r := range s.Regions[1:] {
		out = append(out, r.Start.String())
	}
	return strings.Join(out, " ")
}

func rules(f *plan.Forecast) string {
	var out []string
	for _, a := range f.Advice {
		out = append(out, a.Rule)
	}
	return strings.Join(out, " ")
}

func TestProposals(t *testing.T) {
	const rows = 20_000
	for _, tt := range []struct {
		name, expr string
		user       func(i int) string
		splits     []string
		regions    int
		kind       string
		points     string
		advice     string
	}{
		{name: "hash, evenly used", expr: `md5(user, 4) + user`, user: func(i int) string { return fmt.Sprint("u", i) },
			splits: []string{"4000", "8000", "c000"}, kind: "boundaries", points: "4000 8000 c000"},
		{name: "hash, one user with half of the rows", expr: `md5(user, 4) + user + "|" + asc(n, 64)`,
			user:   func(i int) string { return fmt.Sprint("u", i*(i%2)) },
			splits: []string{"4000", "8000", "c000"}, kind: "quantiles", points: `3e33u0|\x80\x00\x00\x00\x00\x00\x14 3e33u0|\x80\x00\x00\x00\x00\x00< 8`, advice: "hot-region large-value"},
		{name: "no hash: quantiles between users", expr: `user + "|" + asc(n, 64)`, user: func(i int) string { return fmt.Sprintf("u%05d", i%500) },
			regions: 4, kind: "quantiles", points: "u0012 u0025 u0037"},
		{name: "the naive split of hex text", expr: `md5(user, 4) + user`, user: func(i int) string { return fmt.Sprint("u", i) },
			splits: []string{"\x40", "\x80", "\xc0"}, kind: "boundaries", points: "4000 8000 c000", advice: "hot-region hot-region empty-regions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := userKey(t, tt.expr)
			table := plan.Table{Name: "t", Key: key}
			for _, s := range tt.splits {
				table.Splits = append(table.Splits, []byte(s))
			}
			tally := plan.NewTally(table)
			for i := range rows {
				tally.Add(int64(i), rowOf(t, key, tt.user(i), int64(i)), nil)
			}
			f := forecast(t, tally, tt.regions)
			if got := starts(f.Proposed); f.Kind != tt.kind || got != tt.points {
				t.Errorf("proposed %s %s, want %s %s", f.Kind, got, tt.kind, tt.points)
			}
			if got := rules(f); got != tt.advice {
				t.Errorf("advice %q, want %q", got, tt.advice)
			}
			total := 0
			for _, r := range f.Proposed.Regions {
				total += r.Rows
			}
			if f.Rows != rows || total != rows {
				t.Errorf("%d rows, %d in the proposed regions, want %d", f.Rows, total, rows)
			}
			if tt.kind == "quantiles" && f.Proposed.Indices.MaxMean > 1.15 {
				t.Errorf("quantiles are uneven: %+v", f.Proposed.Indices)
			}
		})
	}
}

// However the events are ordered and distributed, the plan is the same.
func TestOrderDoesNotMatter(t *testing.T) {
	key := userKey(t, `md5(user, 4) + user`)
	table := plan.Table{Name: "t", Key: key, EventRows: true, Splits: [][]byte{[]byte("8000")}}
	rapid.Check(t, func(r *rapid.T) {
		users := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 200).Draw(r, "users")
		at := rapid.Permutation(seq(len(users))).Draw(r, "order")
		one, two, dealt := plan.NewTally(table), plan.NewTally(table), plan.NewTally(table)
		add := func(tally *plan.Tally, i int) {
			tally.Add(int64(i), rowOf(t, key, fmt.Sprint(users[i]), 0), []byte{byte(i % 3)})
		}
		for i := range users {
			add(one, i)
		}
		for n, i := range at {
			if n%3 == 0 {
				add(two, i)
			} else {
				add(dealt, i)
			}
		}
		two.Merge(dealt)
		a, b := forecast(t, one, 2), forecast(t, two, 2)
		if got, want := text(t, b), text(t, a); got != want {
			r.Fatalf("got  %s\nwant %s", got, want)
		}
		pa, pb := a.Pairs(), b.Pairs()
		if (pa == nil) != (a.Collisions == 0) {
			r.Fatalf("%d collisions, pairs %v", a.Collisions, pa)
		}
		if pa == nil {
			return
		}
		for i := range users {
			pa.Add(int64(i), rowOf(t, key, fmt.Sprint(users[i]), 0), []byte{byte(i % 3)})
		}
		for _, i := range at {
			pb.Add(int64(i), rowOf(t, key, fmt.Sprint(users[i]), 0), []byte{byte(i % 3)})
		}
		if got, want := text(t, pb.List()), text(t, pa.List()); got != want {
			r.Fatalf("pairs %s, want %s", got, want)
		}
		for _, p := range pa.List() {
			if len(p.Events) != 2 || p.Events[0].Text == p.Events[1].Text || p.Events[0].At >= p.Events[1].At {
				r.Fatalf("no pair of different events in order: %+v", p)
			}
		}
	})
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func text(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRowSizeAndPacking(t *testing.T) {
	key := userKey(t, `md5(user, 4) + user`)
	families := []plan.Family{{Name: "a", Codec: "none", BlockSize: 1 << 16}}
	for _, codec := range []string{"gz", "snappy", "lz4", "zstd", "lzo"} {
		families = append(families, plan.Family{Name: codec, Codec: codec, BlockSize: 1 << 16})
	}
	tally := plan.NewTally(plan.Table{Name: "t", Key: key, Families: families})
	for i := range 5000 {
		row := rowOf(t, key, fmt.Sprintf("user-%06d", i), 0)
		var cells []plan.Cell
		for _, f := range families {
			cells = append(cells, plan.Cell{Family: f.Name, Qualifier: "qq", Value: []byte("delivered")})
		}
		tally.Add(int64(i), row, nil)
		tally.AddCells(int64(i), row, 1_700_000_000_000+int64(i), cells)
	}
	f := forecast(t, tally, 0)
	// 6 cells of 20 + 15 (4 + 11) + family + 2 + 9 bytes; the families' names have 1 + 2 + 6 + 3 + 4 + 3 = 19.
	if want := float64(6*(20+15+2+9) + 19); f.Row.Bytes != want || f.Row.Cells != 6 || f.Row.Key != 15 {
		t.Errorf("row %+v, want %v bytes", f.Row, want)
	}
	if p := f.Packing[0]; p.Ratio != 1 || p.Before != 5000*(20+15+1+2+9) {
		t.Errorf("uncompressed: %+v", p)
	}
	for _, p := range f.Packing[1:] {
		if p.Ratio < 2 || p.Ratio > 40 {
			t.Errorf("%+v", p)
		}
	}
	if f.Packing[5].As != "lz4" {
		t.Errorf("lzo: %+v", f.Packing[5])
	}
}

var server = plan.Server{Heap: 32 * plan.GB, Disk: 16 * plan.TB, Rows: 25_000}

func sheet(t *testing.T, l plan.Load) *plan.Sheet {
	t.Helper()
	key := userKey(t, `md5(user, 4) + user`)
	tally := plan.NewTally(plan.Table{Name: "t", Key: key, Families: []plan.Family{{Name: "e", Codec: "none", BlockSize: 1 << 16}}})
	row := rowOf(t, key, "u", 0)
	tally.Add(1, row, nil)
	tally.AddCells(1, row, 1, []plan.Cell{{Family: "e", Qualifier: "q", Value: make([]byte, 100)}, {Family: "e", Qualifier: "r", Value: make([]byte, 100)}})
	l.Server = server
	return forecast(t, tally, 0).Sheet(l)
}

// The numbers were computed by hand.
func TestSheet(t *testing.T) {
	s := sheet(t, plan.Load{Rows: 250_000, RowBytes: 300, Keep: 92 * 24 * time.Hour})
	got := fmt.Sprintf("rows %.0f raw %.1f TB disk %.0f TB; %d of 50 GB, %d of 10 GB, %d; servers %d %v; buckets %d; partitions %d",
		s.RowsKept, s.RawBytes/plan.TB, s.DiskBytes/plan.TB, s.RegionsLarge, s.RegionsSmall, s.Regions, s.Servers, s.ServersBy, s.Buckets, s.Partitions)
	// 250,000 × 7,948,800 s; × 300 = 5.96e14; × 3 ÷ 0.7; ÷ 53.7e9; disk ÷ 17.6e12.
	want := "rows 1987200000000 raw 542.2 TB disk 2324 TB; 11105 of 50 GB, 55522 of 10 GB, 11105; servers 146 [{disk 146} {writes 10} {regions 56} {replication 3}]; buckets 256; partitions 32"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Heap: 250,000 × (300 + 2 × 96). A server's part of the heap for 77 regions: 32 GB × 0.4 × 0.95 ÷ 76.06 = 164 MB > 128 MB.
	if m := s.Memstore; m.HeapRate != 123e6 || m.By != "time" || m.RegionLimit != 102 {
		t.Errorf("memstore %+v", m)
	}
	if w := s.WAL; w.MaxLogs != 204 || w.Rate != 75e6/146 || !slices.ContainsFunc(s.Advice, func(a plan.Advice) bool { return a.Rule == "many-regions" }) {
		t.Errorf("WAL %+v, advice %+v", w, s.Advice)
	}
	if len(s.WrongFor) > 0 {
		t.Errorf("the right store: %+v", s.WrongFor)
	}
}

func TestSmallLoadsAndOddNeedsAreForOtherStores(t *testing.T) {
	s := sheet(t, plan.Load{Rows: 1, Keep: 24 * time.Hour, Needs: plan.Needs})
	var got []string
	for _, f := range s.WrongFor {
		got = append(got, f.Reason)
		if f.Msg == "" || f.Instead == "" {
			t.Errorf("%+v says too little", f)
		}
	}
	if want := "few-rows transactions two-orders"; strings.Join(got, " ") != want { // a scan of so little is short
		t.Errorf("%v, want %s", got, want)
	}
	if s.Regions != 1 || s.Servers != 3 || s.Partitions != 8 || !s.RowMeasured || s.RowBytes != 2*(20+5+1+1+100) {
		t.Errorf("%+v", s)
	}
	large := sheet(t, plan.Load{Rows: 1e5, Keep: 365 * 24 * time.Hour, Needs: []plan.Need{plan.FullScans}})
	if len(large.WrongFor) != 1 || large.WrongFor[0].Number < 3600 {
		t.Errorf("a scan of %g bytes is long: %+v", large.StoredBytes, large.WrongFor)
	}
}

// Two hot regions are fixed together: splitting one of them alone leaves the other as large as it was.
func TestTwoHotRegions(t *testing.T) {
	key := userKey(t, `user`)
	tally := plan.NewTally(plan.Table{Name: "t", Key: key, Splits: [][]byte{[]byte("b"), []byte("c"), []byte("d"), []byte("e"), []byte("f"), []byte("g"), []byte("h")}})
	for i := range 40_000 {
		region := "af"[i%2 : i%2+1]
		if i%5 == 0 {
			region = string(rune('a' + i/5%8))
		}
		tally.Add(int64(i), rowOf(t, key, fmt.Sprintf("%s%05d", region, i), 0), nil)
	}
	f := forecast(t, tally, 0)
	if len(f.Hot) != 2 || f.Hot[0].After != f.Hot[1].After || f.Hot[0].Largest > 0.16 || f.Hot[0].After.MaxMean >= f.Split.Indices.MaxMean {
		t.Fatalf("before %+v, hot %+v", f.Split.Indices, f.Hot)
	}
	for _, a := range f.Advice[:2] {
		if !strings.Contains(a.Fix, "and the other large ones as well: the largest region then takes 14.9 % instead of 42.5 %") {
			t.Errorf("%+v", a)
		}
	}
}

// An event may have several rows: one for each of its words, or one on each side.
func TestRowsOfOneEvent(t *testing.T) {
	key := userKey(t, `user + "|" + asc(n, 64)`)
	tally := plan.NewTally(plan.Table{Name: "t", Key: key, EventRows: true, Splits: [][]byte{[]byte("b")}})
	for at := range int64(10) {
		for _, word := range []string{"a", "b", "c"} {
			tally.Add(at, rowOf(t, key, word, at), []byte{byte(at)})
		}
	}
	f := forecast(t, tally, 0)
	if f.Events != 10 || f.Rows != 30 || f.Collisions != 0 || f.Split.Regions[0].Rows != 10 || f.Split.Regions[1].Rows != 20 || f.Split.Regions[1].Writes != 20 {
		t.Errorf("%+v", f)
	}
}
