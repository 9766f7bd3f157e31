package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/config"
	"brine/verify"
)

func TestConfigurationIsGood(t *testing.T) {
	_, problems := config.Load("index.yaml", func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Error(err)
	}
	for _, warning := range problems.Warnings() {
		t.Error(warning)
	}
}

// TestRowsOnly checks that the configuration without documents is valid, with the same pipelines and rows.
func TestRowsOnly(t *testing.T) {
	text, err := os.ReadFile("index.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "brine.yaml")
	if err := os.WriteFile(file, []byte(rowsOnly(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(file, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, p := range cfg.Pipelines {
		if rows += len(p.Rows); len(p.Documents) > 0 {
			t.Errorf("pipeline %s still has documents", p.Name)
		}
	}
	if cfg.Memory != 64<<20 || len(cfg.Pipelines) != len(topics) || rows != len(topics) {
		t.Errorf("%d pipelines with %d rows", len(cfg.Pipelines), rows)
	}
}

// TestSpans checks that progress counts for the state that the index was in all the time, and for none if the state changed.
func TestSpans(t *testing.T) {
	p := new(progress)
	at := time.Unix(0, 0)
	step := func(seconds int, rows int64) {
		at = at.Add(time.Duration(seconds) * time.Second)
		p.note(position{at: at, published: p.last.published + rows, rows: p.last.rows + rows, documents: p.last.documents})
	}
	step(1, 1000) // before it counts
	p.count(true)
	step(1, 500) // half of it before
	step(2, 20)
	p.become(gone)
	step(1, 7) // in both
	step(5, 10)
	step(5, 20)
	p.become(there)
	step(1, 7)
	step(8, 80)
	p.count(false)
	step(1, 1000)
	if is, away := p.spans[there], p.spans[gone]; is.rate().Value != 10 || is.Seconds != 10 || away.rate().Value != 3 || away.Seconds != 10 {
		t.Errorf("there %+v, gone %+v", is, away)
	}
	if p.behind != p.last.published {
		t.Errorf("documents were %d behind of %d", p.behind, p.last.published)
	}
}

func TestTargetsAreShort(t *testing.T) {
	good := func() *run {
		r := &run{Faults: 2, Kills: []float64{1}, Freezes: []float64{1}, There: Span{Seconds: 10, Rows: 100}, Away: Span{Seconds: 10, Rows: 96}, Frozen: []float64{96, 96.2, 95.9}, Beside: []float64{100, 100.2, 100}, Alone: []float64{104, 104.1, 103.8}}
		r.Verify.Tables = []fault.Verified{{Table: "t", Rows: 5, Found: map[verify.Kind]int64{}}, {Index: "i", Rows: 5, Found: map[verify.Kind]int64{}}}
		return r
	}
	for _, c := range []struct {
		name  string
		spoil func(*run)
		short string
	}{
		{"good", func(*run) {}, ""},
		{"a fault less", func(r *run) { r.Kills = nil }, "chaos_index.faults"},
		{"slower rows", func(r *run) { r.Away.Rows = 94 }, "chaos_index.rows_while_away_of_there"},
		{"slower rows of a backlog", func(r *run) { r.Frozen = []float64{93, 93.2, 92} }, "chaos_index.rows_of_a_backlog_frozen_of_there"},
		{"rows that documents take the share of", func(r *run) { r.Alone = []float64{113, 113.1, 112.6} }, "chaos_index.rows_of_a_backlog_there_of_alone"},
		{"too late", func(r *run) { r.CatchUp = 601 }, "chaos_index.catch_up_s"},
		{"nothing verified", func(r *run) { r.Verify.Tables = r.Verify.Tables[:1] }, "chaos_index.documents"},
		{"missing", func(r *run) { r.Verify.Tables[1].Found[verify.Missing] = 1 }, "chaos_index.verify_missing"},
		{"stale", func(r *run) { r.Verify.Tables[1].Found[verify.Stale] = 1 }, "chaos_index.verify_stale"},
		{"extra", func(r *run) { r.Verify.Tables[0].Found[verify.Extra] = 1 }, "chaos_index.verify_extra"},
		{"lost", func(r *run) { r.Verify.Lost = 1 }, "chaos_index.verify_lost"},
		{"brine has ended", func(r *run) { r.Ended = "by itself" }, "chaos_index.ends_nobody_asked_for"},
	} {
		r := good()
		c.spoil(r)
		if got := strings.Join(measure.Shorts(r.targets()), " "); got != c.short {
			t.Errorf("%s: short are %q, want %q", c.name, got, c.short)
		}
		if err := measure.Judge(r.targets()); (err != nil) != (c.short != "") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
