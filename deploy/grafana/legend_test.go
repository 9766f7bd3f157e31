package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asked is a query of a panel as the file has it.
type asked struct {
	Expr, LegendFormat string
}

// queries returns the queries of a dashboard by panel title.
func queries(t *testing.T, text []byte) map[string][]asked {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Targets []asked
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string][]asked{}
	for _, p := range d.Panels {
		out[p.Title] = p.Targets
	}
	return out
}

// TestWhereThereIsNothingTheLegendSaysNone checks that the only label of such a series is its whole legend, apart from words before it.
func TestWhereThereIsNothingTheLegendSaysNone(t *testing.T) {
	var (
		none   = regexp.MustCompile(`label_replace\(vector\(0\), "(\w+)", "none", "", ""\)`)
		labels = regexp.MustCompile(`{{\w+}}`)
		good   = regexp.MustCompile(`^(\w+: )?none$`)
		found  int
	)
	eachFile(t, func(t *testing.T, text []byte) {
		for title, all := range queries(t, text) {
			for _, q := range all {
				label := none.FindStringSubmatch(q.Expr)
				if label == nil {
					continue
				}
				found++
				legend := labels.ReplaceAllString(strings.ReplaceAll(q.LegendFormat, "{{"+label[1]+"}}", "none"), "")
				if legend = strings.Join(strings.Fields(legend), " "); !good.MatchString(legend) { // browsers show consecutive spaces as one
					t.Errorf("%s: the legend is %q", title, legend)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no panel says that there is nothing")
	}
}

// hotRegions makes two tables hot for a while, for promtool; %[1]q is the query.
const hotRegions = `
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'brine_table_hot_cause_regions{instance="a", table="scans", cause="one heavy key"}', values: '_x9 1x9 stale' }
      - { series: 'brine_table_hot_cause_regions{instance="b", table="scans", cause="one heavy key"}', values: '_x9 2x9 stale' }
      - { series: 'brine_table_hot_cause_regions{instance="a", table="orders", cause="uneven splits"}', values: '_x9 3x9 stale' }
    promql_expr_test:
      - { expr: %[1]q, eval_time: 5m, exp_samples: [ { labels: '{cause="none"}', value: 0 } ] }
      - expr: %[1]q
        eval_time: 15m
        exp_samples:
          - { labels: '{table="scans", cause="scans: one heavy key"}', value: 2 }
          - { labels: '{table="orders", cause="orders: uneven splits"}', value: 3 }
      - { expr: %[1]q, eval_time: 25m, exp_samples: [ { labels: '{cause="none"}', value: 0 } ] }
`

// TestHotRegionsAreDrawnByCause makes promtool run the panel's query while two tables are hot and while none is.
func TestHotRegionsAreDrawnByCause(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("BRINE_REAL") == "required" {
			t.Fatalf("%v (BRINE_REAL=required, so this is a failure); apt-get install prometheus has it", err)
		}
		t.Skipf("%v; apt-get install prometheus has it", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "brine-writes.json"))
	if err != nil {
		t.Fatal(err)
	}
	of := queries(t, text)["Hot regions by cause"]
	if len(of) == 0 || of[0].LegendFormat != "{{cause}}" {
		t.Fatalf("the panel asks %v", of)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	rules := fmt.Sprintf(hotRegions, strings.NewReplacer("$instance", ".+", "$table", ".+").Replace(of[0].Expr))
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}
