package hbase

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase/embedded"
)

// TestReadReportsEachRegionsAnswers checks that the Read hook is called once per region of each answered call of gets and scans, with how
// long the answer took, and neither for writes nor for a region that answered with an exception.
func TestReadReportsEachRegionsAnswers(t *testing.T) {
	server := startEmbedded(t, embedded.Options{})
	var mu sync.Mutex
	var seen []string
	opts := patient("rpc://" + server.Addr())
	const delay = 50 * time.Millisecond
	opts.Hooks.Read = func(i ReadInfo) {
		mu.Lock()
		defer mu.Unlock()
		slow := ""
		if i.Duration >= delay {
			slow = " slowly"
		}
		seen = append(seen, fmt.Sprintf("%s %q%s", i.Region.Table, i.Region.Start, slow))
	}
	c := open(t, opts)
	ctx := t.Context()
	if err := c.CreateTable(ctx, Table{Name: "t", Families: []Family{{Name: "e"}}}, [][]byte{[]byte("m")}); err != nil {
		t.Fatal(err)
	}
	b := NewBatch("t")
	for _, row := range []string{"a", "x"} {
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), 1, []byte("v"))
	}
	if failed := land(t, c, b); failed != nil {
		t.Fatal(failed)
	}
	get := func(rows ...string) error {
		var gets []Get
		for _, row := range rows {
			gets = append(gets, Get{Row: []byte(row)})
		}
		_, err := c.GetAll(ctx, "t", gets)
		return err
	}
	for _, tt := range []struct {
		name, method string
		outcome      *embedded.Outcome
		read         func() error
		want         string
	}{
		{"a get", "Get", nil, func() error { _, err := c.Get(ctx, "t", Get{Row: []byte("x")}); return err }, `t "m"`},
		{"a slow get", "Get", &embedded.Outcome{Delay: delay}, func() error { _, err := c.Get(ctx, "t", Get{Row: []byte("a")}); return err },
			`t "" slowly`},
		{"a get that fails at first", "Get", &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.RegionTooBusyException"}},
			func() error { _, err := c.Get(ctx, "t", Get{Row: []byte("a")}); return err }, `t ""`},
		{"gets", "Multi", nil, func() error { return get("a", "b", "x") }, `t "", t "m"`},
		{"slow gets", "Multi", &embedded.Outcome{Delay: delay}, func() error { return get("a", "x") }, `t "" slowly, t "m" slowly`},
		{"a scan", "Scan", nil, func() error {
			for _, err := range c.Scan(ctx, "t", Scan{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, `t "", t "m"`},
	} {
		seen = nil
		if tt.outcome != nil {
			server.Control(tt.method, func(*embedded.Request) *embedded.Outcome { return tt.outcome })
		}
		if err := tt.read(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		slices.Sort(seen) // the regions of one call are in no order
		if got := strings.Join(seen, ", "); got != tt.want {
			t.Errorf("%s: reported %s, want %s", tt.name, got, tt.want)
		}
	}
}
