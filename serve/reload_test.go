package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"brine/internal/fault"
	"brine/serve"
	"brine/serve/client"
)

// reloads answers with the outcome named in the request. Each plan has the digest that the reload after it must have.
type reloads struct {
	operations
	asked *[]string
}

func (o reloads) Reload(_ context.Context, after, by string) (client.Reload, error) {
	*o.asked = append(*o.asked, fmt.Sprintf("reload %q by %s", after, by))
	return client.Reload{Result: "applied", By: by, Before: "b1", After: "a1"}, nil
}

func (o reloads) PlanReload(_ context.Context, of client.ReloadAsk, by string) (client.Reload, error) {
	*o.asked = append(*o.asked, fmt.Sprintf("%s %q by %s", map[bool]string{true: "dry run", false: "plan"}[of.DryRun], of.After, by))
	out := client.Reload{Result: "preview", By: by, Before: "b1", After: "a1",
		Pipelines: []client.ReloadHalf{{Name: "p.rows", Does: "changes"}, {Name: "p.documents", Does: "stays"}, {Name: "q.rows", Does: "starts"}},
		Settings:  []client.ReloadSetting{{Setting: "pipelines.p.when", Becomes: "n > 1", Effect: "onward"}}}
	switch of.After {
	case "away":
		return client.Reload{}, fault.New(fault.Unreachable, fmt.Errorf("kafka.brokers: no answer"), "is it running?")
	case "refused":
		out.Result, out.Error, out.Fix = "refused", "tables.t.key is part of what rows are known by", "write a new table"
	case "nowhere":
		return client.Reload{}, fault.New(fault.Failed, fmt.Errorf("this process runs no pipelines"), "ask one that does")
	case "large":
		for i := range 5000 {
			out.Settings = append(out.Settings, client.ReloadSetting{Setting: fmt.Sprintf("pipelines.p%d.topic", i), Becomes: "a topic"})
		}
	}
	return out, nil
}

// TestAReloadIsPlannedAuditedAndDone checks that exactly what was planned is done, and is in the audit before, as are refused reloads.
func TestAReloadIsPlannedAuditedAndDone(t *testing.T) {
	var asked []string
	g := newGuarded(t, func(o *serve.Options) { o.Operations = reloads{asked: &asked} })
	for _, c := range []struct {
		body   string
		status int
		says   string
		asks   string
	}{
		{`{"dry_run": true}`, 200, `"result":"preview"`, `[dry run "" by operator]`},
		{``, 200, `"result":"applied"`, `[plan "" by operator reload "a1" by operator]`},
		{`{"after": "a1"}`, 200, `"result":"applied"`, `[plan "a1" by operator reload "a1" by operator]`},
		{`{"after": "refused", "dry_run": true}`, 200, `"fix":"write a new table"`, `[dry run "refused" by operator]`},
		{`{"after": "refused"}`, 409, "rows are known by; write a new table", `[plan "refused" by operator]`},
		{`{"after": "nowhere"}`, 409, "runs no pipelines; ask one that does", `[plan "nowhere" by operator]`},
		{`{"after": "away"}`, 503, "is it running?", `[plan "away" by operator]`},
		{`{"before": "a1"}`, 400, "before", `[]`},
	} {
		asked = nil
		w := g.asOps("operator", http.MethodPost, "/api/v1/ops/reload", c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || fmt.Sprint(asked) != c.asks {
			t.Errorf("%s: %d %s, asked %v", c.body, w.Code, w.Body, asked)
		}
	}
	const entry = `reload {"before":"b1","after":"a1","starts":["q.rows"],"changes":["p.rows"],`
	audit := actions(t, g)
	if strings.Count(audit, entry+`"settings":[{"setting":"pipelines.p.when","becomes":"n \u003e 1","effect":"onward"}]}`) != 2 ||
		strings.Count(audit, entry+`"refused":"tables.t.key is part of what rows are known by",`) != 1 || strings.Count(audit, "reload {") != 3 {
		t.Errorf("the audit:\n%s", audit)
	}
}

// TestTheAuditOfALargeReloadIsWhole checks that the entry has the number of settings that it leaves out.
func TestTheAuditOfALargeReloadIsWhole(t *testing.T) {
	var asked []string
	g := newGuarded(t, func(o *serve.Options) { o.Operations = reloads{asked: &asked} })
	if w := g.asOps("admin", http.MethodPost, "/api/v1/ops/reload", `{"after": "large"}`); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	_, entry, _ := strings.Cut(actions(t, g), "reload ")
	entry, _, _ = strings.Cut(entry, "\n")
	var of struct {
		LeftOut  int `json:"settings_left_out"`
		Settings []client.ReloadSetting
	}
	if err := json.Unmarshal([]byte(entry), &of); err != nil || of.LeftOut == 0 || of.LeftOut+len(of.Settings) != 5001 {
		t.Errorf("%d settings and %d left out, %v", len(of.Settings), of.LeftOut, err)
	}
}
