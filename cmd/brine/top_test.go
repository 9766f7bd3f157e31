package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"brine/service/admin"
	"brine/skew"
)

func topSample() topSnapshot {
	s := topSnapshot{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}
	for i, lag := range []int64{120_000, 0} {
		p := topPipeline{reading: reading{Name: []string{"scans.rows", "scans.documents"}[i], Lag: lag, Dead: 3}, brine: "a:8765", rate: 12_345.6}
		if i == 0 {
			p.Waiting = "partition 3 is halted: no such table"
		}
		s.pipelines = append(s.pipelines, p)
	}
	for i := range 12 {
		r := topRegion{name: fmt.Sprintf("%08xabc", 0xabc0000+i), table: "shop:orders", server: fmt.Sprintf("rs%d:16020", i%3), start: fmt.Sprintf("%d000", i), rows: 100, reads: 7.5, writes: 110, mb: int64(10 * i)}
		if i%2 == 1 {
			r.table = "logistics:scans"
		}
		if i == 7 {
			r.rows, r.hot = 4000, true
		}
		s.regions = append(s.regions, r)
	}
	s.keys = []topKey{{"logistics:scans", "key", "courier=C7", 0.31, 9000}, {"logistics:scans", "station", "北京", 0.02, 600}}
	region := skew.Region{Name: "abc0007", Start: skew.Key("7000"), Server: "rs1:16020"}
	s.hot = []skew.HotSpot{{Table: "logistics:scans", Region: &region, Server: "rs1:16020", Severity: "critical", Rate: 4000, Times: 5.3, Cause: skew.HeavyKey,
		Actions: []skew.Action{{Kind: skew.Split, Text: "split the region at 7400"}}}}
	return s
}

func picture(v *topView, columns, height int) string {
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
		{"t", "down", "enter"}, // what the table is made of
		{"s", "enter", "R"},    // a server's regions, turned round
		{"r", "left", "left", "/", "R", "O", "W", "S", "/", "S", ">", "1", "0", "0", "enter"}, // filtered, by another column
		{"r", "/", "r", "s", "1", "backspace", "2"},
		{"?", "space"},
	} {
		v := newTopView()
		v.show("t")
		v.snap = topSample()
		for _, key := range keys {
			if v.press(key) {
				t.Errorf("%q ends", key)
			}
		}
		fmt.Fprintf(&out, "%s\n%s\n", strings.Join(keys, " "), picture(v, 120, 9))
	}
	golden(t, "top.txt", out.String())
}

func TestTopFitsAnyTerminalAndAnyKeys(t *testing.T) {
	keys := []string{"p", "t", "r", "s", "k", "h", "up", "down", "pgup", "pgdn", "left", "right", "R", "/", "<", "x", "backspace", "enter", "esc", "?", "space", "ü", ""}
	v := newTopView()
	v.snap = topSample()
	for i := range 5000 {
		v.press(keys[(i*i+i/7)%len(keys)])
		columns, height := 1+i%130, 1+i%30
		lines := v.draw(columns, height)
		if len(lines) > height {
			t.Fatalf("%d lines in %d", len(lines), height)
		}
		for _, l := range lines {
			if width(l.text) > max(columns, 1) {
				t.Fatalf("%d columns: %q", columns, l.text)
			}
		}
		if i%100 == 0 {
			v.snap = topSnapshot{}
			v.press("down")
			_ = v.draw(80, 20)
			v.snap = topSample()
		}
	}
	if !v.press("ctrl+c") {
		t.Error("ctrl+c does not end")
	}
}

func TestTopFilters(t *testing.T) {
	lines := tableLines(new(topSample()))
	for filter, want := range map[string]int{
		"": 2, "ROWS/S>1000": 1, "rows/s>=600": 2, "rows/s<1000": 1, "TABLE=shop:orders": 1, "table=SHOP:ORDERS hot=0": 1, "scans": 1,
		"MB>x": 2, "nothing=3": 2, "hot>": 2, "ROWS/S>1000 shop": 0,
	} {
		keep := parseTopFilter(filter, topModes[1].columns)
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

func TestTopReadsBrinesAndSaysWhichDoNotAnswer(t *testing.T) {
	tables := hotTables("scans", []skew.Region{{Name: "r0", Server: "s0:1", End: skew.Key("5")}, {Name: "r1", Server: "s1:1", Start: skew.Key("5")}})
	events := int64(1000)
	mux := http.NewServeMux()
	serveSkew(mux, tables)
	mux.HandleFunc("GET "+pipelinesPath, func(w http.ResponseWriter, _ *http.Request) {
		events += 500
		admin.WriteJSON(w, http.StatusOK, []reading{{Name: "scans.rows", Events: events}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r := &topReader{brines: []brineAt{{addr: strings.TrimPrefix(server.URL, "http://")}, {addr: "127.0.0.1:1"}}}
	now := time.Unix(1_700_000_000, 0)
	r.read(t.Context(), now)
	s := r.read(t.Context(), now.Add(5*time.Second))
	if len(s.pipelines) != 1 || s.pipelines[0].rate != 100 {
		t.Errorf("pipelines: %+v", s.pipelines)
	}
	if len(s.regions) != 2 || !s.regions[0].hot || s.regions[0].rows < 700 || len(s.hot) != 1 || len(s.keys) == 0 {
		t.Errorf("%+v", s)
	}
	if len(s.problems) != 1 || !strings.HasPrefix(s.problems[0], "127.0.0.1:1 does not answer") {
		t.Errorf("problems: %q", s.problems)
	}
	code, out, _ := brine(t, "top", "--http", r.brines[0].addr, "--once", "--every", "10ms", "--list", "r", "--where", "ROWS/S>500")
	if code != exitOK || !strings.Contains(out, "regions: 1") || !strings.Contains(out, "s0:1") {
		t.Errorf("exit %d:\n%s", code, out)
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
		ended <- watchTop(t.Context(), screen, newTopView(), time.Millisecond, func(context.Context) topSnapshot {
			select {
			case looks <- true:
			default: // enough were counted
			}
			return topSample()
		})
	}()
	for range 3 { // the first picture with something in it is drawn before the third look
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
