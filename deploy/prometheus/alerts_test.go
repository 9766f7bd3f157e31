package prometheus

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAlertsSayWhatToDo(t *testing.T) {
	name := regexp.MustCompile(`^Brine[A-Z][A-Za-z]+$`)
	tests := ""
	for _, text := range readAll(t, "*.rules.test.yaml") {
		tests += text
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
		_, rest, restores := strings.Cut(string(page), "\n## Restore service\n\n1. ")
		if !restores || !strings.Contains(rest, "\n## Find the cause\n") {
			t.Errorf("%s: its runbook first restores service, and then finds the cause", r.Alert)
		}
		if !strings.Contains(tests, `alertname="`+r.Alert+`"`) && !strings.Contains(tests, "alertname: "+r.Alert) {
			t.Errorf("%s has no unit test", r.Alert)
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

var (
	quotedTitle = regexp.MustCompile(`"([A-Z][^"]+)"`)
	onDashboard = regexp.MustCompile(`^(?:[,;]? (?:or |and )?"[A-Z][^"]+")* on\s+the\s+(overview|\w+\s+dashboard)`)
)

// Runbooks and alerts refer to panels, which must exist.
func TestRunbooksNamePanelsThatExist(t *testing.T) {
	queries, _ := readDashboards(t)
	where := map[string]map[string]bool{} // dashboards by panel title
	for _, q := range queries {
		if where[q.panel] == nil {
			where[q.panel] = map[string]bool{}
		}
		where[q.panel][q.dashboard] = true
	}
	found := 0
	check := func(file, text string) {
		for _, m := range quotedTitle.FindAllStringSubmatchIndex(text, -1) {
			title := text[m[2]:m[3]]
			found++
			if where[title] == nil {
				t.Errorf("%s: there is no panel %q", file, title)
				continue
			}
			on := onDashboard.FindStringSubmatch(text[m[1]:])
			if on == nil {
				continue
			}
			if name := "brine-" + strings.Fields(on[1])[0]; !where[title][name] {
				t.Errorf("%s: the panel %q is not on %s", file, title, name)
			}
		}
	}
	for file, text := range readAll(t, filepath.Join(runbooks, "Brine*.md")) {
		check(file, text)
	}
	for _, r := range readRules(t) {
		check(r.Alert, r.Annotations["description"])
	}
	if found < 20 {
		t.Errorf("only %d panels are named: are they still found?", found)
	}
}
