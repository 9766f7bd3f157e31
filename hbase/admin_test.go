package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

func TestNamespaces(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, name string) {
		ctx := t.Context()
		if err := c.CreateNamespace(ctx, name); err != nil {
			t.Fatal(err)
		}
		config := map[string]string{"hbase.namespace.quota.maxtables": "3"}
		if err := c.AlterNamespace(ctx, hbase.Namespace{Name: name, Config: config}); err != nil {
			t.Error(err)
		}
		find := func() *hbase.Namespace {
			all, err := c.Namespaces(ctx)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(n hbase.Namespace) bool { return n.Name == name })
			if i < 0 {
				return nil
			}
			return &all[i]
		}
		if n := find(); n == nil || !maps.Equal(n.Config, config) {
			t.Errorf("%+v", n)
		}
		for range 2 {
			if err := c.DeleteNamespace(ctx, name); err != nil {
				t.Error(err)
			}
		}
		if n := find(); n != nil {
			t.Errorf("deleted: %+v", n)
		}
	})
}

func TestAlterTable(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		ctx := t.Context()
		create(t, c, table, "m")
		put(t, c, table, "a e:q 1 x", "z f:q 1 y")
		if err := c.AddFamily(ctx, table, hbase.Family{Name: "g", Values: map[string]string{"BLOCKSIZE": "8192"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.AlterFamily(ctx, table, hbase.Family{Name: "g", Values: map[string]string{"BLOCKSIZE": "16384"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteFamily(ctx, table, "f"); err != nil {
			t.Fatal(err)
		}
		d, err := c.Describe(ctx, table)
		if err != nil || len(d.Families) != 2 || d.Families[1].Name != "g" || d.Families[1].Values["BLOCKSIZE"] != "16384" {
			t.Fatalf("%+v %v", d, err)
		}
		d.Families[1].Values["VERSIONS"] = "3"
		d.Families[1].Config = map[string]string{"hbase.hstore.blockingStoreFiles": "20"}
		if err := c.AlterTable(ctx, d); err != nil {
			t.Fatal(err)
		}
		again, err := c.Describe(ctx, table)
		if err != nil || again.Families[1].Values["VERSIONS"] != "3" || !maps.Equal(again.Families[1].Config, d.Families[1].Config) {
			t.Errorf("%+v %v", again, err)
		}
		put(t, c, table, "b g:q 2 z")
		if got := read(t, c, table, hbase.Scan{}); got != "a e:q=x, b g:q=z" {
			t.Error(got)
		}
		if err := c.DeleteFamily(ctx, table, "nofamily"); !errors.Is(err, hbase.ErrNoFamily) {
			t.Errorf("no such family: %v", err)
		}
		if err := c.AddFamily(ctx, table+"_no", hbase.Family{Name: "g"}); !errors.Is(err, hbase.ErrNoTable) {
			t.Errorf("no such table: %v", err)
		}
	})
}

func TestTruncateKeepsOrDropsSplits(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, table string) {
		ctx := t.Context()
		create(t, c, table, "h", "p")
		for _, keep := range []bool{true, false} {
			put(t, c, table, "a e:q 1 x", "z e:q 1 x")
			if available, err := c.TableAvailable(ctx, table); err != nil || !available {
				t.Errorf("enabled: %v %v", available, err)
			}
			if err := c.DisableTable(ctx, table); err != nil {
				t.Fatal(err)
			}
			if state, err := c.TableState(ctx, table); err != nil || state != hbase.Disabled {
				t.Errorf("%s %v", state, err)
			}
			if available, err := c.TableAvailable(ctx, table); err != nil || available {
				t.Errorf("disabled: %v %v", available, err)
			}
			if err := c.TruncateTable(ctx, table, keep); err != nil {
				t.Fatal(err)
			}
			regions, err := c.Regions(ctx, table)
			if want := map[bool]int{true: 3, false: 1}[keep]; err != nil || len(regions) != want {
				t.Errorf("keep %v: %d regions %v", keep, len(regions), err)
			}
			if got := read(t, c, table, hbase.Scan{}); got != "" {
				t.Errorf("keep %v: %s", keep, got)
			}
		}
		if _, err := c.TableState(ctx, table+"_no"); !errors.Is(err, hbase.ErrNoTable) {
			t.Errorf("no such table: %v", err)
		}
	})
}

// A scan continues while regions split, merge and move under it, and a region that no longer exists is named.
func TestRegionsSplitMergeAndMoveUnderAScan(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, name string) {
		ctx := t.Context()
		table(t, c, name)
		regions := func() []hbase.Region {
			rs, err := c.Regions(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			return rs
		}
		parent := regions()[1]
		changes := map[int]func() error{
			10: func() error { return c.SplitRegion(ctx, parent, []byte("r30")) },
			28: func() error { rs := regions(); return c.MergeRegions(ctx, rs[3], rs[4]) },
			55: func() error { return c.MoveRegion(ctx, regions()[2], "") },
			80: func() error { return c.MoveRegion(ctx, regions()[3], regions()[3].Server) },
		}
		var got []string
		for r, err := range c.Scan(ctx, name, hbase.Scan{Caching: 4}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r.Row))
			if change := changes[len(got)]; change != nil {
				if err := change(); err != nil {
					t.Fatalf("at row %d: %v", len(got), err)
				}
			}
		}
		if !slices.Equal(got, rows(0, 100)) {
			t.Errorf("%v", got)
		}
		if rs := regions(); len(rs) != 4 || string(rs[1].End) != "r30" || string(rs[3].Start) != "r50" {
			t.Errorf("%+v", rs)
		}
		if err := c.FlushRegion(ctx, parent); !errors.Is(err, hbase.ErrNoRegion) {
			t.Errorf("flush of a region that is no more: %v", err)
		}
		if err := c.MoveRegion(ctx, regions()[0], "nobody.example:1"); err == nil || !contains(err.Error(), "no live region server nobody.example:1") {
			t.Errorf("move to nobody: %v", err)
		}
		if err := c.MergeRegions(ctx, parent); err == nil {
			t.Error("merged one region")
		}
		if err := c.MoveRegion(ctx, parent, ""); err == nil { // it ends, and is not tried for ever
			t.Errorf("move of a region that is no more: %v", err)
		}
	})
}

func TestMoveToANamedServer(t *testing.T) {
	_, c := start(t, embedded.Options{Servers: 3})
	ctx := t.Context()
	table(t, c, "t")
	status, err := c.ClusterStatus(ctx)
	if err != nil || len(status.Servers) != 3 {
		t.Fatalf("%+v %v", status, err)
	}
	for _, s := range status.Servers {
		rs, err := c.Regions(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.MoveRegion(ctx, rs[0], s.Addr); err != nil {
			t.Fatal(err)
		}
		if rs, err = c.Regions(ctx, "t"); err != nil || rs[0].Server != s.Addr {
			t.Errorf("on %s, want %s: %v", rs[0].Server, s.Addr, err)
		}
		if got := scan(t, c, "t", hbase.Scan{}); !slices.Equal(got, rows(0, 100)) {
			t.Errorf("%v", got)
		}
	}
}

func TestFlushCompactAndLoads(t *testing.T) {
	onBoth(t, func(t *testing.T, c *hbase.Client, name string) {
		ctx := t.Context()
		table(t, c, name)
		for range 2 {
			if err := c.FlushTable(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		for _, major := range []bool{false, true} {
			if err := c.CompactTable(ctx, name, major); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
			states, err := c.TableCompactions(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			if states["NONE"] == 4 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("still compacting: %v", states)
			}
		}
		loads, err := c.RegionLoads(ctx, name)
		if err != nil || len(loads) != 4 {
			t.Fatalf("%+v %v", loads, err)
		}
		writes := uint64(0)
		for _, l := range loads {
			writes += l.Writes
			if l.Table != name || l.Stores != 1 || len(l.Encoded) != 32 {
				t.Errorf("%+v", l)
			}
		}
		if writes != 100 {
			t.Errorf("%d writes", writes)
		}
	})
}

func TestClusterStatusAndBalancer(t *testing.T) {
	var balancer sync.Mutex // real and zookeeper are the same cluster
	onBoth(t, func(t *testing.T, c *hbase.Client, name string) {
		ctx := t.Context()
		table(t, c, name)
		s, err := c.ClusterStatus(ctx)
		if err != nil || s.Version == "" || s.ID == "" || s.Master == "" || len(s.Servers) == 0 || len(s.Servers[0].Regions) == 0 || s.Servers[0].Started.IsZero() {
			t.Errorf("%+v %v", s, err)
		}
		version, tested, err := c.ServerVersion(ctx)
		if err != nil || version != s.Version || !tested {
			t.Errorf("%s %v %v", version, tested, err)
		}
		balancer.Lock()
		defer balancer.Unlock()
		was, err := c.BalancerOn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, on := range []bool{true, was} {
			if _, err := c.SetBalancer(ctx, on); err != nil {
				t.Error(err)
			}
			if is, err := c.BalancerOn(ctx); err != nil || is != on {
				t.Errorf("%v, want %v: %v", is, on, err)
			}
		}
		if _, err := c.Balance(ctx); err != nil {
			t.Error(err)
		}
	})
}

// However the master fails in any call of a change, the change is made once, and the client waits for its end.
func TestMasterFailsWhileAChangeIsMade(t *testing.T) {
	class := func(name string) func() *embedded.Outcome {
		return func() *embedded.Outcome {
			return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase." + name}}
		}
	}
	for name, fault := range map[string]func() *embedded.Outcome{
		"initialising": class("PleaseHoldException"), "stopping": class("MasterNotRunningException"), "starting": class("ipc.ServerNotRunningYetException"),
		"lost before": func() *embedded.Outcome { return &embedded.Outcome{Drop: true} },
		"lost after":  func() *embedded.Outcome { return &embedded.Outcome{Drop: true, Apply: true} },
	} {
		t.Run(name, func(t *testing.T) {
			s, c := start(t, embedded.Options{})
			for _, method := range []string{"CreateTable", "getProcedureResult", "GetActiveMaster", "ModifyTable", "DisableTable", "truncateTable"} {
				s.Control(method, func(*embedded.Request) *embedded.Outcome { return fault() })
			}
			table(t, c, "t")
			d, err := c.Describe(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			d.Families[0].Values["VERSIONS"] = "7"
			if err := errors.Join(c.AlterTable(t.Context(), d), c.DisableTable(t.Context(), "t"), c.TruncateTable(t.Context(), "t", true)); err != nil {
				t.Error(err)
			}
			if regions, err := c.Regions(t.Context(), "t"); err != nil || len(regions) != 4 {
				t.Errorf("%d regions %v", len(regions), err)
			}
		})
	}
}

// An admin call ends with its context, even while it waits for a procedure.
func TestAdminHeedsItsContext(t *testing.T) {
	s, c := start(t, embedded.Options{})
	asked := make(chan struct{}, 1000)
	defer s.Control("getProcedureResult", func(r *embedded.Request) *embedded.Outcome {
		asked <- struct{}{}
		r.Keep()
		return &embedded.Outcome{Answer: &hbasepb.GetProcedureResultResponse{State: hbasepb.GetProcedureResultResponse_RUNNING.Enum()}}
	})()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	err := c.CreateTable(ctx, hbase.Table{Name: "t", Families: []hbase.Family{{Name: "e"}}}, nil)
	var e *hbase.Error
	if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Op != "create table" {
		t.Errorf("%v", err)
	}
}

func TestUntestedVersionIsReportedOnce(t *testing.T) {
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for version, want := range map[string]string{"2.6.4": "", "2.4.18-hadoop3": "", "2.7.0": "2.7.0", "3.0.0-beta-2": "3.0.0-beta-2", "12.6.0": "12.6.0"} {
		remove := s.Control("GetClusterStatus", func(*embedded.Request) *embedded.Outcome {
			return &embedded.Outcome{Answer: &hbasepb.GetClusterStatusResponse{ClusterStatus: &hbasepb.ClusterStatus{
				HbaseVersion: &hbasepb.HBaseVersionFileContent{Version: proto.String(version)},
			}}}
		})
		var reported []string
		c, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + s.Addr(), Hooks: hbase.Hooks{
			Untested: func(i hbase.UntestedInfo) { reported = append(reported, i.Version) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		remove()
		if got := strings.Join(reported, " "); got != want {
			t.Errorf("%s: reported %q", version, fmt.Sprint(reported))
		}
	}
}
