package hbase

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/hbase"
)

func TestPlanFollowsTheSeed(t *testing.T) {
	first := kinds.Plan(1)
	if len(first) < 30 || len(kinds) < 8 {
		t.Errorf("%d faults of %d kinds, want 30 of 8", len(first), len(kinds))
	}
	if !slices.Equal(first, kinds.Plan(1)) || slices.Equal(first, kinds.Plan(2)) {
		t.Error("the seed does not decide the order")
	}
	if got, err := kinds.Parse("split, kill server"); err != nil || !slices.Equal(got, []string{"split", "kill server"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := kinds.Parse("spilt"); err == nil || !strings.Contains(err.Error(), `"spilt"`) || !strings.Contains(err.Error(), "flush+compact") {
		t.Errorf("error %v does not say what there is", err)
	}
}

// stored returns the contents of a row after all of its mutations were applied once, in order.
func stored(k []byte, n int) hbase.Result {
	r := hbase.Result{Row: k}
	add := func(q []byte, at int, v []byte) {
		r.Cells = append(r.Cells, hbase.Cell{Row: k, Family: family, Qualifier: q, Timestamp: int64(at), Value: v, Type: hbase.Put})
	}
	for i := 1; i <= n; i++ {
		add(data, i, dataOf(k, i))
		add(version, i, versionOf(k, i))
		if i == n || (i+1)/tie != i/tie {
			add(order, i/tie, orderOf(i))
		}
	}
	return r
}

func TestFindings(t *testing.T) {
	k := key(3, 14)
	const n = 10
	at := func(r hbase.Result, q string, ts int64) int {
		return slices.IndexFunc(r.Cells, func(c hbase.Cell) bool { return string(c.Qualifier) == q && c.Timestamp == ts })
	}
	without := func(q string, ts int64) func(*hbase.Result, []fate) {
		return func(r *hbase.Result, _ []fate) { i := at(*r, q, ts); r.Cells = slices.Delete(r.Cells, i, i+1) }
	}
	with := func(q string, ts int64, v []byte) func(*hbase.Result, []fate) {
		return func(r *hbase.Result, _ []fate) { r.Cells[at(*r, q, ts)].Value = v }
	}
	for _, c := range []struct {
		name                   string
		change                 func(*hbase.Result, []fate)
		lost, twice, reordered int
	}{
		{"all there", func(*hbase.Result, []fate) {}, 0, 0, 0},
		{"a version missing", without("v", 5), 1, 0, 0},
		{"another cell missing", without("d", 5), 1, 0, 0},
		{"the cell of a tie missing", without("o", 1), 1, 0, 0},
		{"missing, never acknowledged", func(r *hbase.Result, fates []fate) { without("v", 5)(r, fates); fates[4] = given }, 0, 0, 0},
		{"a wrong value", with("d", 5, dataOf(k, 6)), 1, 1, 0},
		{"twice", func(r *hbase.Result, _ []fate) { r.Cells = append(r.Cells, r.Cells[0]) }, 0, 1, 0},
		{"from nowhere", func(r *hbase.Result, _ []fate) { r.Cells[at(*r, "v", 5)].Timestamp = 50 }, 1, 1, 0},
		{"an earlier mutation won", with("o", 1, orderOf(6)), 0, 0, 1},
		{"an earlier one won, the later was refused", func(r *hbase.Result, fates []fate) { with("o", 1, orderOf(6))(r, fates); fates[6] = refused }, 0, 0, 0},
		{"a mutation of another timestamp won", with("o", 1, orderOf(9)), 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, fates, f := stored(k, n), slices.Repeat([]fate{acknowledged}, n), new(Findings)
			c.change(&r, fates)
			f.row(r, fates)
			if f.Lost != c.lost || f.Twice != c.twice || f.Reordered != c.reordered {
				t.Errorf("lost %d, twice %d, reordered %d; want %d, %d, %d", f.Lost, f.Twice, f.Reordered, c.lost, c.twice, c.reordered)
			}
		})
	}
}

func TestTargetsAreShort(t *testing.T) {
	good := func() *run {
		r := &run{setting: plain, limit: time.Minute, Findings: &Findings{Rows: 5, Cells: 9}, Java: "rows=5 cells=9 sha256=aa"}
		r.Faults = []*Fault{{Fault: fault.Fault{Kind: "kill server"}, Beyond: 3}, {Fault: fault.Fault{Kind: "disable+enable"}, Refused: 7}}
		return r
	}
	for _, c := range []struct {
		name  string
		spoil func(*run)
		short string
	}{
		{"good", func(*run) {}, ""},
		{"not recovered", func(r *run) { r.Faults[1].Failed = "not recovered"; r.stuck("fault 2") }, "chaos-hbase.faults chaos-hbase.kinds chaos-hbase.not_recovered"},
		{"lost", func(r *run) { r.Findings.Lost = 1 }, "chaos-hbase.lost"},
		{"Java counts otherwise", func(r *run) { r.Java = "rows=5 cells=90 sha256=aa" }, "chaos-hbase.java_counts_otherwise"},
		{"refused while enabled", func(r *run) { r.Faults[0].Refused = 1 }, "chaos-hbase.refused_while_enabled"},
		{"master needed", func(r *run) {
			r.Faults = append(r.Faults, &Fault{Fault: fault.Fault{Kind: "kill master", Failed: "a client did not open"}})
		}, "chaos-hbase.master_needed"},
		{"a read that lacked something", func(r *run) { r.Reads.Lacking = 1 }, "chaos-hbase.reads_lacking"},
		{"not cut, and one ticket for all", func(r *run) { r.setting, r.loaded, r.Logins = secured, time.Minute, 2 },
			"chaos-hbase-secure.cut chaos-hbase-secure.logins"},
		{"cut", func(r *run) { r.setting, r.loaded, r.Cut, r.Logins = secured, time.Minute, 2, 3 }, ""},
		{"not upgraded", func(r *run) { r.setting, r.Upgraded = upgraded("2.5.12-hadoop3"), 2 }, "upgrade-hbase.upgraded"},
		{"slower than the cluster", func(r *run) { r.Faults[0].Beyond = 3.1 }, "chaos-hbase.kill_beyond_recovery_s"},
	} {
		r := good()
		c.spoil(r)
		if got := strings.Join(measure.Shorts(r.targets(2, 2)), " "); got != c.short {
			t.Errorf("%s: short are %q, want %q", c.name, got, c.short)
		}
		if says := strings.Contains(r.table(), "ended early: fault 2."); says != (r.Stuck != "") {
			t.Errorf("%s: the page says that it ended early: %v", c.name, says)
		}
	}
}

func TestStalls(t *testing.T) {
	zero := time.Unix(1000, 0)
	after := func(s float64) time.Time { return zero.Add(time.Duration(s * float64(time.Second))) }
	s := newStalls(zero)
	for i := range 100 { // slot 0 stalls from 4 s to 9 s, slot 1 never, the others always
		if sec := float64(i) / 10; sec <= 4 || sec >= 9 {
			s.acknowledged(0, after(sec))
		}
		s.acknowledged(1, after(float64(i)/10))
	}
	if got := s.longest(after(0), after(10), false); got != 5*time.Second {
		t.Errorf("longest is %v, want 5 s", got)
	}
	if got := s.longest(after(0), after(3), false) + s.longest(after(0), after(10), true); got != 0 {
		t.Errorf("stalls of %v outside, want none", got)
	}
	if got := s.beyond(0, after(7)); got != 2*time.Second {
		t.Errorf("beyond is %v, want 2 s", got)
	}
	if got := s.beyond(1, after(7)); got != 0 {
		t.Errorf("beyond is %v where nothing stood still", got)
	}
	if s.since(after(8)) {
		t.Error("slots that were never acknowledged anything count as going on")
	}
}

// A short run, if real servers are required: it takes a minute and a half.
func TestShortRun(t *testing.T) {
	if os.Getenv("BRINE_REAL") != "required" {
		t.Skip("a cluster of its own takes a minute: set BRINE_REAL=required, or run make chaos-hbase")
	}
	t.Chdir("../../..")
	r := run{setting: plain, Seed: 1, Rate: 1000, limit: 15 * time.Minute, order: []string{"move", "split", "kill server"}}
	if err := r.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, target := range r.targets(3, 3) {
		// Tests run side by side here, and slow each other down.
		if target.Verdict() == measure.Short && target.Name != "chaos-hbase.kill_beyond_recovery_s" {
			t.Error(target)
		}
	}
	t.Logf("%d mutations acknowledged; Java: %s", r.Findings.Acknowledged, r.Java)
}
