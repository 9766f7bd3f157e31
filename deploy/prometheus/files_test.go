package prometheus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	rulesFile  = "brine.rules.yaml"
	rulesTest  = "brine.rules.test.yaml"
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
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		rules = append(rules, g.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

// panelQuery is one query of one panel, as it is written in the dashboard.
type panelQuery struct{ dashboard, panel, expr, legend string }

// variable is a choice that a dashboard offers: the values of a label of a metric.
type variable struct{ dashboard, metric, label string }

var labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)

func readDashboards(t *testing.T) (queries []panelQuery, variables []variable) {
	t.Helper()
	files, err := filepath.Glob(boards)
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards at %s: %v", boards, err)
	}
	for _, f := range files {
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
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &d); err != nil {
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

func TestAlertsTellWhatToDo(t *testing.T) {
	name := regexp.MustCompile(`^Brine[A-Z][A-Za-z]+$`)
	tests, err := os.ReadFile(rulesTest)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, r := range readRules(t) {
		if r.Alert == "" {
			continue
		}
		if !name.MatchString(r.Alert) {
			t.Errorf("%s: names begin with Brine, in CamelCase", r.Alert)
		}
		if s := r.Labels["severity"]; s != "critical" && s != "warning" && s != "info" {
			t.Errorf("%s: severity is %q", r.Alert, s)
		}
		if r.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", r.Alert)
		}
		for _, part := range []string{"Impact: ", "Causes: ", "Actions: 1. "} {
			if !strings.Contains(r.Annotations["description"], part) {
				t.Errorf("%s: the description lacks %q", r.Alert, part)
			}
		}
		if want := runbookURL + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %q, want %s", r.Alert, r.Annotations["runbook_url"], want)
		}
		page, err := os.ReadFile(filepath.Join(runbooks, r.Alert+".md"))
		if err != nil || !strings.HasPrefix(string(page), "# "+r.Alert+"\n") {
			t.Errorf("%s: its runbook must exist and begin with its name: %v", r.Alert, err)
		}
		if !strings.Contains(string(tests), `alertname="`+r.Alert+`"`) && !strings.Contains(string(tests), "alertname: "+r.Alert) {
			t.Errorf("%s has no unit test in %s", r.Alert, rulesTest)
		}
		pages[r.Alert+".md"] = true
	}
	found, err := filepath.Glob(filepath.Join(runbooks, "Brine*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if !pages[filepath.Base(f)] {
			t.Errorf("%s is the runbook of no alert", f)
		}
	}
}
