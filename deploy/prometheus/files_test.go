package prometheus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	ruleFiles  = "*.rules.yaml" // each with its tests next to it, in *.rules.test.yaml
	boards     = "../grafana/dashboards/*.json"
	runbooks   = "../../docs/runbooks"
	runbookURL = "docs/runbooks/"
)

type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	for _, text := range readAll(t, ruleFiles) {
		var file struct{ Groups []struct{ Rules []rule } }
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			t.Fatal(err)
		}
		for _, g := range file.Groups {
			rules = append(rules, g.Rules...)
		}
	}
	return rules
}

// readAll returns the content of each file that matches a pattern, by path.
func readAll(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// panelQuery is one query of one panel, as it is written in the dashboard.
type panelQuery struct{ dashboard, panel, expr, legend string }

// variable is a choice that a dashboard offers: the values of a metric's label.
type variable struct{ dashboard, metric, label string }

var labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)

func readDashboards(t *testing.T) (queries []panelQuery, variables []variable) {
	t.Helper()
	for f, text := range readAll(t, boards) {
		var d struct {
			UID    string
			Panels []struct {
				Title   string
				Targets []struct{ Expr, LegendFormat string }
			}
			Templating struct {
				List []struct {
					Name, Type string
					Query      string
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				queries = append(queries, panelQuery{d.UID, p.Title, q.Expr, q.LegendFormat})
			}
		}
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			m := labelValues.FindStringSubmatch(v.Query)
			if m == nil {
				t.Fatalf("%s: variable %s: unknown query %s", f, v.Name, v.Query)
			}
			variables = append(variables, variable{d.UID, m[1], m[2]})
		}
	}
	return queries, variables
}
