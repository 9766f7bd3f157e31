package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"brine/account"
	"brine/mask"
	"brine/serve"
)

const opsJobs = "/api/v1/ops/jobs"

// TestJobsAreAccepted checks that each start and cancel is answered with 202 and the job's location, and is in the audit before.
func TestJobsAreAccepted(t *testing.T) {
	g := newGuarded(t, nil)
	for _, c := range []struct {
		who, path, body, key string
		status               int
		says                 string
	}{
		{"operator", "/replay", `{"from": "earliest"}`, "", 202, `"kind":"replay","state":"queued","account":"operator","asked":{"from":"earliest"}`},
		{"operator", "/verify", `{"sample": "1%"}`, "again", 202, `"kind":"verify"`},
		{"operator", "/dead-letter-replay", `{"reasons": ["wrong_type"], "let": ["a = 1"], "key": "k"}`, "", 202, `"let":["a = 1"]`},
		{"operator", "/reindex", `{"index": "orders", "from": "hbase"}`, "", 202, `"kind":"reindex"`},
		{"operator", "/dead-letter-purge", `{"older_than": "30d", "dry_run": true}`, "", 202, `"dry_run":true`},
		{"operator", "/dead-letter-purge", `{"older_than": "30d"}`, "", 403, "an administrator may delete"},
		{"operator", "/verify", `{"full": true, "delete_extra": true}`, "", 403, "an administrator may delete"},
		{"operator", "/reindex", `{"index": "orders", "from": "hbase", "drop_old": true}`, "", 403, "an administrator may delete"},
		{"operator", "/reindex", `{"index": "orders", "from": "hbase", "again": true}`, "", 403, "an administrator may delete"},
		{"admin", "/dead-letter-purge", `{"older_than": "30d"}`, "", 428, "shown: missing; start a dry run (dry_run)"},
		{"admin", "/dead-letter-purge", `{"older_than": "30d", "shown": "j7"}`, "", 202, `"kind":"dead-letter-purge"`},
		{"admin", "/dead-letter-purge", `{"older_than": "30d", "yes": true}`, "", 202, `"yes":true`},
		{"admin", "/verify", `{"full": true, "delete_extra": true}`, "", 428, "most_extra: missing; verify without delete_extra"},
		{"admin", "/verify", `{"full": true, "delete_extra": true, "most_extra": 3}`, "", 202, `"delete_extra":true`},
		{"admin", "/verify", `{"full": true, "delete_extra": true, "yes": true}`, "", 202, `"yes":true`},
		{"support", "/replay", `{"from": "earliest"}`, "", 403, "may not do this"},
		{"operator", "/replay", `{"from": "earliest"}`, "full", 429, "too many jobs"},
		{"operator", "/replay", `{"from": "earliest"}`, "reused", 422, "key-reused"},
		{"operator", "/replay", `{"from": "earliest"}`, strings.Repeat("k", 256), 400, "Idempotency-Key"},
		{"operator", "/replay", `{"from": "earliest"}`, "misused", 400, "not how it is asked"},
		{"operator", "/replay", `{"from": "earliest", "into": ["x"]}`, "", 400, "unknown field"},
		{"operator", "/none", `{}`, "", 405, "GET"},
	} {
		w := g.asOps(c.who, http.MethodPost, opsJobs+c.path, c.body, "Idempotency-Key", c.key)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s %s: %d %s", c.who, c.path, c.body, w.Code, w.Body)
		}
		if c.status == 202 && (w.Header().Get("Location") != opsJobs+"/j1" || (w.Header().Get("Idempotency-Replayed") != "") != (c.key == "again")) {
			t.Errorf("%s: %v", c.path, w.Header())
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete} {
		if w := g.asOps("operator", method, opsJobs+"/replay", ""); w.Code != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s of a kind: %d, Allow: %s", method, w.Code, w.Header().Get("Allow"))
		}
	}
	if w := g.asOps("operator", http.MethodPost, opsJobs+"/j7/cancel", ""); w.Code != 202 || w.Header().Get("Location") != opsJobs+"/j7" {
		t.Errorf("canceled: %d %s", w.Code, w.Body)
	}
	for id, want := range map[string]int{"missing": 404, "refused": 409} {
		if w := g.asOps("operator", http.MethodPost, opsJobs+"/"+id+"/cancel", ""); w.Code != want {
			t.Errorf("canceled %s: %d %s", id, w.Code, w.Body)
		}
	}
	audit := actions(t, g)
	for _, want := range []string{`jobs.replay {"from":"earliest"}`, `jobs.dead-letter-purge {"older_than":"30d","shown":"j7"}`, `jobs.cancel "j7"`} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit)
		}
	}
	for _, refused := range []string{`jobs.reindex {"index":"orders","from":"hbase","drop_old":true}`, `jobs.dead-letter-purge {"older_than":"30d"}`,
		`jobs.verify {"full":true,"delete_extra":true}`} {
		if strings.Contains(audit, refused) {
			t.Errorf("what was refused is audited as done:\n%s", audit)
		}
	}
}

func actions(t *testing.T, g *guarded) string {
	t.Helper()
	list, err := g.accounts.Entries(t.Context(), 0, "", 200)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range list {
		out.WriteString(e.Action + " " + e.Object + "\n")
	}
	return out.String()
}

// TestJobsShowNothingMasked checks that keys, texts and expressions, which may hold masked values, are neither in the audit nor in the job.
func TestJobsShowNothingMasked(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) {
		o.Masks = &mask.Rules{}
		o.Masks.Field("orders", "user")
		o.Masks.Key("scans", "user")
		o.RoleMasks = map[account.Role]*mask.Rules{account.Operator: {}}
	})
	for path, body := range map[string]string{
		"/region-split":       `{"table": "scans", "region": "key:planted", "at": "planted"}`,
		"/region-move":        `{"table": "scans", "region": "planted"}`,
		"/replay":             `{"from": "earliest", "keys": ["planted-1", "planted-2"]}`,
		"/dead-letter-replay": `{"key": "planted", "text": "planted", "let": ["a = 'planted'"]}`,
	} {
		if w := g.asOps("operator", http.MethodPost, opsJobs+path, body); w.Code != 202 || strings.Contains(w.Body.String(), "planted") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	const name = "0123456789abcdef0123456789abcdef" // of a region, not a key
	if w := g.asOps("operator", http.MethodPost, opsJobs+"/region-move", `{"table": "scans", "region": "`+name+`"}`); !strings.Contains(w.Body.String(), name) {
		t.Errorf("a region's name is hidden: %s", w.Body)
	}
	if audit := actions(t, g); strings.Contains(audit, "planted") {
		t.Error(audit)
	}
}

// TestPipelinesAreAsked checks that an order for a pipeline is in the audit before it is sent, with the caller's name.
func TestPipelinesAreAsked(t *testing.T) {
	g := newGuarded(t, nil)
	const pipelines = "/api/v1/ops/pipelines/"
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"p/pause", "", 200, `{"name":"pause -1","paused":false,"by":"operator"}`},
		{"p/resume", `{"half": "rows"}`, 200, `"resume rows-1"`},
		{"p/limit", `{"limit": 0}`, 200, `"limit 0"`},
		{"p/limit", `{}`, 400, "body.limit"}, {"p/pause", `{"limit": 5}`, 400, "body.limit"}, {"p/limit", "", 415, "application/json"},
		{"missing/pause", "", 404, "there is no such thing"}, {"misused/limit", `{"limit": 0.5}`, 400, "not how it is asked"},
		{"away/pause", "", 503, "kafka.brokers: no answer"}, {"p/stop", `{}`, 404, "no such route"},
	} {
		if w := g.asOps("operator", http.MethodPost, pipelines+c.path, c.body); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
	audit := actions(t, g)
	for _, want := range []string{`pipelines.pause {"pipeline":"p"}`, `pipelines.resume {"pipeline":"p","half":"rows"}`, `pipelines.limit {"pipeline":"p","limit":0}`} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit lacks %s:\n%s", want, audit)
		}
	}
}
