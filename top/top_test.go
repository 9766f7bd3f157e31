package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"brine/hbase"
	"brine/internal/term"
	"brine/skew"
)

func sampled() Snapshot {
	s := Snapshot{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}
	for i, lag := range []int64{120_000, 0} {
		p := pipeline{Pipeline: Pipeline{Name: []string{"scans.rows", "scans.documents"}[i], Lag: lag, Dead: 3}, brine: "a:8765", rate: 12_345.6}
		if p.Limit = "fetch"; i == 0 {
			drain := 4000.0
			p.Waiting, p.Limit, p.Drain = "partition 3 is halted: no such table", "server", &drain
		}
		s.pipelines = append(s.pipelines, p)
	}
	for i := range 12 {
		r := region{name: fmt.Sprintf("%08xabc", 0xabc0000+i), table: "shop:orders", server: fmt.Sprintf("rs%d:16020", i%3), start: fmt.Sprintf("%d000", i), rows: 100, reads: 7.5, writes: 110, mb: int64(10 * i)}
		if i%2 == 1 {
			r.table = "logistics:scans"
		}
		if i == 7 {
			r.rows, r.hot = 4000, true
		}
		s.regions = append(s.regions, r)
	}
	s.keys = []heavyKey{{"logistics:scans", "key", "courier=C7", 0.31, 9000}, {"logistics:scans", "station", "北京", 0.02, 600}}
	region := skew.Region{Name: "abc0007", Start: skew.Key("7000"), Server: "rs1:16020"}
	s.hot = []skew.HotSpot{{Table: "logistics:scans", Region: &region, Server: "rs1:16020", Severity: "critical", Rate: 4000, Times: 5.3, Cause: skew.HeavyKey,
		Actions: []skew.Action{{Kind: skew.Split, Text: "split the region at 7400"}}}}
	return s
}

func picture(v *View, columns, height int) string {
	var out strings.Builder
	for _, l := range v.draw(columns, height) {
		fmt.Fprintf(&out, "%c %s\n", " =>!"[l.style], l.text)
	}
	return out.String()
}

func TestTopPictures(t *testing.T) {
	var out strings.Builder
	for _, keys := range [][]string{
		{}, {"p"}, {"r"}, {"s"}, {"k"}, {"h"},
		{"t", "down", "enter"}, // what the table consists of
		{"s", "enter", "R"},    // a server's regions, in reverse
		{"r", "left", "left", "/", "R", "O", "W", "S", "/", "S", ">", "1", "0", "0", "enter"}, // filtered, by another column
		{"r", "/", "r", "s", "1", "backspace", "2"},
		{"?", "space"},
	} {
		v := NewView("t", "")
		v.snap = sampled()
		for _, key := range keys {
			if v.press(key) {
				t.Errorf("%q ends", key)
			}
		}
		fmt.Fprintf(&out, "%s\n%s\n", strings.Join(keys, " "), picture(v, 120, 9))
	}
	const file = "testdata/top.txt"
	if os.Getenv("BRINE_UPDATE") == "1" {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s: -want +got (BRINE_UPDATE=1 writes the file):\n%s", file, diff)
	}
}

func TestTopFitsAnyTerminalAndAnyKeys(t *testing.T) {
	keys := []string{"p", "t", "r", "s", "k", "h", "up", "down", "pgup", "pgdn", "left", "right", "R", "/", "<", "x", "backspace", "enter", "esc", "?", "space", "ü", ""}
	v := NewView("p", "")
	v.snap = sampled()
	for i := range 5000 {
		v.press(keys[(i*i+i/7)%len(keys)])
		columns, height := 1+i%130, 1+i%30
		lines := v.draw(columns, height)
		if len(lines) > height {
			t.Fatalf("%d lines in %d", len(lines), height)
		}
		for _, l := range lines {
			if term.Width(l.text) > max(columns, 1) {
				t.Fatalf("%d columns: %q", columns, l.text)
			}
		}
		if i%100 == 0 {
			v.snap = Snapshot{}
			v.press("down")
			_ = v.draw(80, 20)
			v.snap = sampled()
		}
	}
	if !v.press("ctrl+c") {
		t.Error("ctrl+c does not end")
	}
}

func TestTopFilters(t *testing.T) {
	lines := tableLines(new(sampled()))
	for filter, want := range map[string]int{
		"": 2, "ROWS/S>1000": 1, "rows/s>=600": 2, "rows/s<1000": 1, "TABLE=shop:orders": 1, "table=SHOP:ORDERS hot=0": 1, "scans": 1,
		"MB>x": 2, "nothing=3": 2, "hot>": 2, "ROWS/S>1000 shop": 0,
	} {
		keep := parseFilter(filter, modes[1].columns)
		n := 0
		for _, l := range lines {
			if keep(l) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q keeps %d, want %d", filter, n, want)
		}
	}
}

func TestReadJoinsBrinesAndClusterAndNamesThoseThatDoNotAnswer(t *testing.T) {
	hot := time.Unix(1_700_000_000, 0)
	events := int64(1000)
	good := Brine{
		Addr: "a:8765",
		Skew: func(context.Context) (skew.State, error) {
			return skew.State{
				Tables: map[string]skew.TableState{"scans": {
					Report: skew.Report{Regions: []skew.Load{
						{Region: skew.Region{Name: "r0", Server: "s0:1", End: skew.Key("5")}, Rate: 700, HotSince: &hot},
						{Region: skew.Region{Name: "r1", Server: "s1:1", Start: skew.Key("5")}, Rate: 70, Cluster: &skew.ClusterLoad{Writes: 80, MB: 3}},
					}},
					Heavy: []skew.Heavy{{Key: skew.Key("C7|"), Text: "courier=C7", Rows: 9000, Share: 0.9}},
				}},
				Hot: []skew.HotSpot{{Table: "scans", Server: "s0:1"}},
			}, nil
		},
		Pipelines: func(context.Context) ([]Pipeline, error) {
			events += 500
			return []Pipeline{{Name: "scans.rows", Events: events}}, nil
		},
	}
	dead := Brine{Addr: "127.0.0.1:1", Skew: func(context.Context) (skew.State, error) { return skew.State{}, errors.New("connection refused") }}
	cluster := &counted{}
	r := &Reader{Brines: []Brine{good, dead}, Cluster: cluster}
	now := time.Unix(1_700_000_000, 0)
	r.Read(t.Context(), now)
	s := r.Read(t.Context(), now.Add(5*time.Second))
	if len(s.pipelines) != 1 || s.pipelines[0].rate != 100 {
		t.Errorf("pipelines: %+v", s.pipelines)
	}
	want := []region{
		{name: "r0", table: "scans", server: "s0:1", rows: 700, reads: 2, writes: 200, mb: 7, hot: true}, // as the cluster reports it
		{name: "r1", table: "scans", server: "s1:1", start: "5", rows: 70, writes: 80, mb: 3},
	}
	if !slices.Equal(s.regions, want) || len(s.hot) != 1 || len(s.keys) != 1 || s.keys[0].key != "courier=C7" {
		t.Errorf("%+v", s)
	}
	if len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0], "127.0.0.1:1 does not answer") {
		t.Errorf("problems: %q", s.Problems)
	}
	cluster.err = errors.New("no master")
	if s := r.Read(t.Context(), now.Add(10*time.Second)); len(s.Problems) != 2 || len(s.regions) != 2 {
		t.Errorf("without the cluster: %+v", s)
	}
}

// counted is a cluster whose only region gets 10 reads and 1,000 writes between two requests.
type counted struct {
	asked uint64
	err   error
}

func (c *counted) ClusterStatus(context.Context) (hbase.ClusterStatus, error) {
	c.asked++
	load := hbase.RegionLoad{Encoded: "r0", Table: "scans", Name: "scans,,1700000000000.r0.", StoreFileMB: 4, MemStoreMB: 3, Reads: 10 * c.asked, Writes: 1000 * c.asked}
	return hbase.ClusterStatus{Servers: []hbase.ServerLoad{{Addr: "s0:1", Regions: []hbase.RegionLoad{load}}}}, c.err
}

func TestStartInName(t *testing.T) {
	for name, want := range map[string]string{"scans,a,b,17.abc.": "a,b", "scans,,17.abc.": "", "scans": "", "": ""} {
		if got := startInName(hbase.RegionLoad{Table: "scans", Name: name}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestTopDrawsOnATerminalUntilAKeyEndsIt(t *testing.T) {
	screen := tcell.NewSimulationScreen("")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(100, 12)
	looks := make(chan bool, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- NewView("p", "").Watch(t.Context(), screen, time.Millisecond, func(context.Context, time.Time) Snapshot {
			select {
			case looks <- true:
			default: // enough were counted
			}
			return sampled()
		})
	}()
	for range 3 { // the first picture with contents is drawn before the third look
		<-looks
	}
	screen.InjectKey(tcell.KeyRune, 'q', tcell.ModNone)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	cells, columns, _ := screen.GetContents()
	var lines []string
	for row := range slices.Chunk(cells, columns) {
		var line strings.Builder
		for _, c := range row {
			line.WriteString(string(c.Runes))
		}
		lines = append(lines, line.String())
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "pipelines: 2") || !strings.Contains(all, "scans.rows") {
		t.Errorf("on the screen:\n%s", all)
	}
}
