// Package console measures the web console in Chromium, which a script of its tests drives: first paint, sizes, frames, the heap of a page
// that is left open, and the cost to the server. `make bench-console` runs it.
//
// Chromium has no GPU here: the processor draws frames, and the server shares it.
package console

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"brine/bench/measure"
)

// patience is the limit for the whole script.
const patience = 30 * time.Minute

// Command is the command line.
type Command struct{}

// measured is the output of the script. For what varies, it has each measurement.
type measured struct {
	Chromium  string    `json:"chromium"`
	Shell     float64   `json:"shell_kb"`
	All       float64   `json:"all_kb"`
	First     []float64 `json:"first_visits_ms"`
	Second    []float64 `json:"second_visits_ms"`
	Panning   []float64 `json:"panning_fps"`
	Scrolling []float64 `json:"scrolling_fps"`
	Items     float64   `json:"scrolling_items"`
	Grown     []float64 `json:"grown_mib"` // of an overview
	Timeline  []float64 `json:"timeline_grown_mib"`
	Idle      struct {
		Open     []float64 `json:"open"` // an overview
		Regions  []float64 `json:"regions"`
		Timeline []float64 `json:"timeline"`
		Others   []float64 `json:"others"` // all other pages at once
		Without  []float64 `json:"without"`
		Again    []float64 `json:"again"` // without, a second time
	} `json:"idle_percent"`
}

// Run measures.
func (*Command) Run(ctx context.Context) error {
	return measure.Make("bench-console", func() error { return run(ctx) })
}

func run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "test/bench.mjs")
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = "console", os.Stderr, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var m measured
	if err := json.Unmarshal(out, &m); err != nil {
		return fmt.Errorf("output of the script: %w", err)
	}
	if err := m.complete(); err != nil {
		return err
	}
	report := measure.NewReport("console")
	report.Detail, report.Targets = m, targets(&m)
	return report.Finish(text(report, &m))
}

// complete returns an error if a measurement is missing: without values, every target would be met.
func (m *measured) complete() error {
	for name, list := range map[string][]float64{"first_visits_ms": m.First, "second_visits_ms": m.Second, "panning_fps": m.Panning,
		"scrolling_fps": m.Scrolling, "grown_mib": m.Grown, "timeline_grown_mib": m.Timeline,
		"idle_percent.open": m.Idle.Open, "idle_percent.regions": m.Idle.Regions,
		"idle_percent.timeline": m.Idle.Timeline, "idle_percent.others": m.Idle.Others,
		"idle_percent.without": m.Idle.Without, "idle_percent.again": m.Idle.Again} {
		if len(list) == 0 {
			return fmt.Errorf("the script measured no %s", name)
		}
	}
	return nil
}

func targets(m *measured) []measure.Target {
	return []measure.Target{
		measure.AtMost("console.first_visit_ms", measure.Repeated(m.First), 1500),
		measure.AtMost("console.second_visit_ms", measure.Repeated(m.Second), 1000),
		measure.AtMost("console.shell_kb", measure.Exactly(m.Shell), 60),
		measure.AtMost("console.all_kb", measure.Exactly(m.All), 250),
		measure.AtLeast("console.panning_fps", measure.Repeated(m.Panning), 50),
		measure.AtLeast("console.scrolling_fps", measure.Repeated(m.Scrolling), 50),
		measure.AtMost("console.scrolling_items", measure.Exactly(m.Items), 100),
		measure.AtMost("console.grown_mib", measure.Repeated(m.Grown), 20),
		measure.AtMost("console.timeline_grown_mib", measure.Repeated(m.Timeline), 20),
		measure.AtMost("console.idle_percent", measure.Added(m.Idle.Open, m.Idle.Without, m.Idle.Again), 0.2),
		measure.AtMost("console.idle_regions_percent", measure.Added(m.Idle.Regions, m.Idle.Without, m.Idle.Again), 0.2),
		measure.AtMost("console.idle_timeline_percent", measure.Added(m.Idle.Timeline, m.Idle.Without, m.Idle.Again), 0.2),
		measure.AtMost("console.idle_others_percent", measure.Added(m.Idle.Others, m.Idle.Without, m.Idle.Again), 0.2),
	}
}

// text returns the section of the page.
func text(r *measure.Report, m *measured) string {
	return fmt.Sprintf("%s Chromium %s without a GPU, brine dev beside it. A visit is from the navigation until the frame "+
		"that shows the pipelines, "+
		"first with an empty cache; the map has 1,536 × 1,440 cells, a quarter of them in sight; the list has 10,000 orders; "+
		"the heap is that of an overview, and of a parcel's timeline, before and after 3,600 events; "+
		"the cost of an idle page (an overview, a table's regions, a timeline, and all others at once) is what the server takes with it beyond "+
		"what it takes without, in turns. Values are medians; ± is how far "+
		"those of another run may be, and of the cost how far the server without a console is from itself.\n\n%s",
		r.Heading(), m.Chromium, measure.TargetTable(r.Targets))
}
