package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

func start(t testing.TB, o embedded.Options) (*embedded.Server, *hbase.Client) {
	t.Helper()
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dial(t, "rpc://"+s.Addr())
}

func dial(t testing.TB, connect string) *hbase.Client {
	t.Helper()
	c, err := hbase.Open(context.Background(), hbase.Options{Connect: connect, Pause: 2 * time.Millisecond, PauseServerOverloaded: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// table creates a table of rows r00 … r99, each with cells e:a and e:b, split at r25, r50 and r75.
func table(t testing.TB, c *hbase.Client, name string) {
	t.Helper()
	splits := [][]byte{[]byte("r25"), []byte("r50"), []byte("r75")}
	if err := c.CreateTable(t.Context(), hbase.Table{Name: name, Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		t.Fatal(err)
	}
	b := hbase.NewBatch(name)
	for i := range 100 {
		b.Mutate(fmt.Appendf(nil, "r%02d", i))
		b.Put([]byte("e"), []byte("a"), 1, fmt.Appendf(nil, "a%d", i))
		b.Put([]byte("e"), []byte("b"), 1, []byte(strings.Repeat("b", 200)))
	}
	failed, err := c.Submit(t.Context(), b).Wait(t.Context())
	if err != nil || failed != nil {
		t.Fatal(failed, err)
	}
}

func rows(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("r%02d", i))
	}
	return out
}

func backwards(s []string) []string { slices.Reverse(s); return s }

func scan(t testing.TB, c *hbase.Client, table string, s hbase.Scan) (out []string) {
	t.Helper()
	for r, err := range c.Scan(t.Context(), table, s) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(r.Row))
	}
	return out
}

func TestScanCrossesRegions(t *testing.T) {
	_, c := start(t, embedded.Options{})
	table(t, c, "t")
	tests := []struct {
		name string
		scan hbase.Scan
		want []string
	}{
		{"all", hbase.Scan{}, rows(0, 100)},
		{"part", hbase.Scan{Start: []byte("r20"), Stop: []byte("r60")}, rows(20, 60)},
		{"up to a region's start", hbase.Scan{Start: []byte("r20"), Stop: []byte("r50")}, rows(20, 50)},
		{"from a region's start", hbase.Scan{Start: []byte("r50")}, rows(50, 100)},
		{"limit", hbase.Scan{Start: []byte("r20"), Limit: 7}, rows(20, 27)},
		{"limit at a region's end", hbase.Scan{Limit: 25}, rows(0, 25)},
		{"reverse", hbase.Scan{Reverse: true}, backwards(rows(0, 100))},
		{"reverse part", hbase.Scan{Reverse: true, Start: []byte("r60"), Stop: []byte("r20")}, backwards(rows(21, 61))},
		{"reverse from a region's start", hbase.Scan{Reverse: true, Start: []byte("r50"), Stop: []byte("r25")}, backwards(rows(26, 51))},
		{"reverse limit", hbase.Scan{Reverse: true, Limit: 30}, backwards(rows(70, 100))},
		{"nothing", hbase.Scan{Start: []byte("x")}, nil},
	}
	for _, tt := range tests {
		for _, caching := range []int{0, 1, 7} {
			for _, size := range []int{0, 1, 1000} {
				tt.scan.Caching, tt.scan.MaxResultBytes = caching, size
				if got := scan(t, c, "t", tt.scan); !slices.Equal(got, tt.want) {
					t.Errorf("%s, caching %d, %d bytes: %v", tt.name, caching, size, got)
				}
			}
		}
	}
}

// Whichever call of a scan fails, and however, no row is missed, seen twice or torn.
func TestScanGoesOnBehindTheLastRow(t *testing.T) {
	for _, class := range []string{
		"NotServingRegionException", "UnknownScannerException", "exceptions.ScannerResetException",
		"exceptions.OutOfOrderScannerNextException", "regionserver.LeaseException", "regionserver.RegionServerStoppedException",
		"CallQueueTooBigException",
	} {
		for _, reverse := range []bool{false, true} {
			s, c := start(t, embedded.Options{})
			table(t, c, "t")
			want := rows(0, 100)
			if reverse {
				slices.Reverse(want)
			}
			for call, more := 0, true; more; call += 3 {
				n := 0
				remove := s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
					if n++; n-1 != call {
						return nil
					}
					return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase." + class}}
				})
				if got := scan(t, c, "t", hbase.Scan{Reverse: reverse, Caching: 11, MaxResultBytes: 900}); !slices.Equal(got, want) {
					t.Fatalf("%s in call %d, reverse %v: %v", class, call, reverse, got)
				}
				remove()
				more = n > call
			}
		}
	}
}

// When a consumer stops early, its scanner is closed.
func TestScannerIsClosedWhenTheConsumerStops(t *testing.T) {
	s, c := start(t, embedded.Options{})
	table(t, c, "t")
	closed := make(chan struct{}, 10)
	remove := s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if strings.Contains(fmt.Sprint(r.Param), "close_scanner:true") {
			closed <- struct{}{}
		}
		return nil
	})
	defer remove()
	for range c.Scan(t.Context(), "t", hbase.Scan{Caching: 3}) {
		break
	}
	<-closed
	if n := len(closed); n > 0 {
		t.Errorf("%d scanners closed", 1+n)
	}
}

func TestGetAllKeepsTheOrderOfTheGets(t *testing.T) {
	s, c := start(t, embedded.Options{})
	table(t, c, "t")
	var gets []hbase.Get
	for _, i := range []int{99, 0, 50, 0, 500, 25} {
		gets = append(gets, hbase.Get{Row: fmt.Appendf(nil, "r%02d", i), Columns: []hbase.Column{{Family: []byte("e"), Qualifier: []byte("a")}}})
	}
	busy := &embedded.Exception{Class: "org.apache.hadoop.hbase.RegionTooBusyException"}
	defer s.Control("Multi", func(*embedded.Request) *embedded.Outcome {
		return &embedded.Outcome{Rows: map[string]*embedded.Exception{"r50": busy, "r00": busy}}
	})()
	got, err := c.GetAll(t.Context(), "t", gets)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, r := range got {
		v := ""
		for _, cell := range r.Cells {
			v += string(cell.Value)
		}
		values = append(values, string(r.Row)+"="+v)
	}
	if want := []string{"r99=a99", "r00=a0", "r50=a50", "r00=a0", "r500=", "r25=a25"}; !slices.Equal(values, want) {
		t.Errorf("%v", values)
	}
}

func TestAdmin(t *testing.T) {
	_, c := start(t, embedded.Options{})
	ctx := t.Context()
	if err := c.CreateNamespace(ctx, "shop"); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateNamespace(ctx, "shop"); err != nil {
		t.Errorf("a namespace that exists: %v", err)
	}
	spec := hbase.Table{Name: "shop:orders", Families: []hbase.Family{{Name: "b", Values: map[string]string{"TTL": "3600"}}, {Name: "d"}}}
	if err := c.CreateTable(ctx, spec, [][]byte{[]byte("m"), []byte("d")}); err != nil {
		t.Fatal(err)
	}
	var e *hbase.Error
	if err := c.CreateTable(ctx, spec, nil); !errors.Is(err, hbase.ErrTableExists) || !errors.As(err, &e) || e.Op != "create table" {
		t.Errorf("a table that exists: %v", err)
	}
	got, err := c.Describe(ctx, "shop:orders")
	if err != nil || got.Name != "shop:orders" || len(got.Families) != 2 || got.Families[0].Values["TTL"] != "3600" {
		t.Errorf("%+v %v", got, err)
	}
	regions, err := c.Regions(ctx, "shop:orders")
	if err != nil || len(regions) != 3 || string(regions[1].Start) != "d" || string(regions[1].End) != "m" || regions[1].Server == "" {
		t.Errorf("%+v %v", regions, err)
	}
	if tables, err := c.Tables(ctx); err != nil || len(tables) != 1 {
		t.Errorf("%v %v", tables, err)
	}
	if err := c.DisableTable(ctx, "shop:orders"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(ctx, "shop:orders", hbase.Get{Row: []byte("a")}); !errors.Is(err, hbase.ErrDisabled) {
		t.Errorf("get from a disabled table: %v", err)
	}
	b := hbase.NewBatch("shop:orders")
	b.Mutate([]byte("a"))
	b.Put([]byte("b"), nil, 1, nil)
	failed, err := c.Submit(ctx, b).Wait(ctx)
	if err != nil || len(failed) != 1 || failed[0].Kind != hbase.NoTable || !errors.Is(&failed[0], hbase.ErrDisabled) {
		t.Errorf("put into a disabled table: %+v %v", failed, err)
	}
	if err := c.EnableTable(ctx, "shop:orders"); err != nil {
		t.Fatal(err)
	}
	if failed, err := c.Submit(ctx, b).Wait(ctx); err != nil || failed != nil {
		t.Errorf("put after enabling: %+v %v", failed, err)
	}
	if err := errors.Join(c.DisableTable(ctx, "shop:orders"), c.DeleteTable(ctx, "shop:orders")); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"describe": second(c.Describe(ctx, "shop:orders")), "regions": second(c.Regions(ctx, "shop:orders")),
		"get": second(c.Get(ctx, "shop:orders", hbase.Get{Row: []byte("a")})), "disable": c.DisableTable(ctx, "shop:orders"),
	} {
		if !errors.Is(err, hbase.ErrNoTable) {
			t.Errorf("%s a table that is gone: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
