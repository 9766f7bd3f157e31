package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/config"
	"brine/forecast"
	"brine/hbase"
)

// regionRows is a region as planned, or as it is.
type regionRows struct {
	Start string
	Rows  int
}

// checkPlan checks that brine tables plan predicts from the design's events the number of rows written to each region of each table.
func (d *design) checkPlan() {
	d.t.Helper()
	cfg, problems := config.Load(d.file, func(string) (string, bool) { return "", false })
	if cfg == nil {
		d.t.Fatal(problems)
	}
	sample := filepath.Join(d.t.TempDir(), "events.jsonl")
	if err := os.WriteFile(sample, []byte(shiftTimes(d.events, d.later)), 0o600); err != nil {
		d.t.Fatal(err)
	}
	source, err := forecast.OpenFile(sample, "utf-8", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	targets, err := cfg.Forecast()
	if err != nil {
		d.t.Fatal(err)
	}
	seen, err := forecast.Run(d.t.Context(), source, targets, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	client, err := hbase.Open(d.t.Context(), hbase.Options{Connect: d.hbase})
	if err != nil {
		d.t.Fatal(err)
	}
	defer client.Close()
	if len(seen) != len(cfg.Tables) {
		d.t.Errorf("%d tables are foreseen, there are %d", len(seen), len(cfg.Tables))
	}
	for _, f := range seen {
		var foreseen []regionRows
		for _, r := range f.Split.Regions {
			foreseen = append(foreseen, regionRows{string(r.Start), r.Rows})
		}
		if diff := cmp.Diff(foreseen, rowsByRegion(d.t, client, f.Table)); diff != "" || f.Rows == 0 {
			d.t.Errorf("%s: -plan +written:\n%s", f.Table, diff)
		}
	}
}

// rowsByRegion counts the rows in each region of a table.
func rowsByRegion(t *testing.T, client *hbase.Client, table string) (out []regionRows) {
	t.Helper()
	regions, err := client.Regions(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range regions {
		in := regionRows{Start: string(r.Start)}
		for _, err := range client.Scan(t.Context(), table, hbase.Scan{Start: r.Start, Stop: r.End}) {
			if err != nil {
				t.Fatal(err)
			}
			in.Rows++
		}
		out = append(out, in)
	}
	return out
}
