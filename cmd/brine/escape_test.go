package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/segmentio/kafka-go"

	"brine/hbase/embedded"
	"brine/internal/term"
	"brine/service"
	"brine/service/devstack"
	"brine/skew"
	"brine/skew/skewtest"
)

// planted contains what a terminal acts on: it clears the screen, sets the window's title, reverses text, is invalid UTF-8, and begins a
// line that looks like brine's.
const planted = "\x1b[2Jp\x1b]0;t\a\u009b2J\x9b2J\u202el\u2066a\x7f\r\bn\u0085t\xff\nforged"

// actsOn finds what a terminal would act on in the output of commands.
func actsOn(text string) int {
	return strings.IndexFunc(strings.ToValidUTF8(text, "\x00"), func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}

// shown runs a command line. It fails the test if a terminal would act on the output, or if the output lacks the word.
func shown(t *testing.T, word string, variables map[string]string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(&env{ctx: t.Context(), stdout: &stdout, stderr: &stderr, getenv: func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}}, args)
	for name, got := range map[string]string{"stdout": stdout.String(), "stderr": stderr.String()} {
		if i := actsOn(got); i >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q: exit %d, %s at byte %d: %q", args, code, name, i, got)
		}
	}
	if got := stdout.String() + stderr.String(); !strings.Contains(got, word) {
		t.Errorf("%q: exit %d, prints no %q: %q", args, code, word, got)
	}
	for line := range strings.Lines(stdout.String() + stderr.String()) {
		if strings.HasPrefix(line, "forged") && !strings.HasPrefix(strings.Join(args, " "), "deadletters show") { // it prints the value as it is
			t.Errorf("%q: a line that is not ours: %q", args, line)
		}
	}
	for line := range strings.Lines(stdout.String()) {
		if strings.Contains(strings.Join(args, " "), "--json") && !json.Valid([]byte(line)) {
			t.Errorf("%q: no JSON: %q", args, line)
		}
	}
}

// Whatever records, keys, headers, tables and files contain, no command prints what a terminal acts on.
func TestNoCommandPrintsWhatATerminalActsOn(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{})
	j := newJobOf(t, servers, ordersExample)
	at := time.Now().Truncate(time.Millisecond)
	text, err := json.Marshal(planted)
	if err != nil {
		t.Fatal(err)
	}
	order := func(user, items string) []byte {
		return fmt.Appendf(nil, `{"order":"O1","user":%s,"created":%d,"at":%d,"status":"paid","items":%s,"note":%s}`, user, at.UnixMilli(), at.UnixMilli(), items, text)
	}
	bad := []kafka.Header{{Key: "h" + planted, Value: []byte(planted)}}
	j.sendAll([]sent{
		{time: at, key: []byte("u1"), value: order(`"u1"`, string(text))},
		{time: at, key: []byte(planted), value: order(string(text), `"tea"`), headers: bad},
		{time: at, key: []byte(planted), value: []byte(`{"` + planted + `":`), headers: bad},
		{time: at, key: []byte(planted), value: []byte(planted), headers: bad},
		{time: at, key: []byte("u1"), value: bytes.Replace(order(`"u1"`, `"tea"`), []byte(`"paid"`), []byte(`{"`+strings.ToValidUTF8(planted[4:], "")+`":1}`), 1)},
	})
	j.must("run", "-q", "-c", j.file, "--until-end")
	variables := map[string]string{"BRINE_KAFKA_BROKERS": strings.Join(j.brokers, ","), "BRINE_HBASE_CONNECT": j.hbase, "BRINE_SEARCH_CONNECT": j.search}
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(file, []byte("{\"order\":\"O9\",\"\u009bx\u202e\":\"\\u001b[2J\"}\n{\"order\":\"\u009bx\u202e\x1b[2J\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("kafka: { brokers: [\"a\\e[2J\"] }\n\"x\\e[2J\\u202e\\x9b\": 1\nmemory: \"\\e[2J\\x9b\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		word string
		args []string
	}{
		{`\x1b[2Jp`, []string{"query", "-c", j.file, j.table, "user=u1"}},
		{`\u001b[2Jp`, []string{"query", "-c", j.file, j.table, "user=u1", "--json"}},
		{`\x1b[2Jp`, []string{"query", "-c", j.file, j.table, "user=" + strings.ToValidUTF8(planted, "\ufffd")}},
		{`\x1b[2J`, []string{"query", "-c", j.file, j.table, "user" + planted + "=1"}},
		{`\x1b[2J`, []string{"query", "-c", j.file, j.table + planted, "user=u1"}},
		{`\x1b[2Jp`, []string{"deadletters", "ls", "-c", j.file}},
		{"key_base64", []string{"deadletters", "ls", "-c", j.file, "--json"}},
		{"undecodable", []string{"deadletters", "ls", "-c", j.file, "--summary"}},
		{`h\x1b[2Jp`, []string{"deadletters", "show", "-c", j.file, "0:2"}},
		{`h\x1b[2Jp`, []string{"deadletters", "show", "-c", j.file, "0:3"}},
		{"base64", []string{"deadletters", "show", "-c", j.file, "0:3", "--json"}},
		{"status", []string{"deadletters", "show", "-c", j.file, "0:4"}},
		{"", []string{"verify", "-c", j.file}},
		{"", []string{"verify", "-c", j.file, "--full", "--json"}},
		{"", []string{"replay", "-c", j.file, "--from", "earliest", "--diff", "10"}},
		{"", []string{"replay", "-c", j.file, "--from", "earliest", "--half", "rows", "--name", "x"}},
		{"", []string{"offsets", "show", "-c", j.file}},
		{j.table, []string{"regions", "ls", "-c", j.file, j.table}},
		{`\x1b[2J`, []string{"regions", "ls", "-c", j.file, j.table + planted}},
		{"", []string{"tables", "plan", "-c", j.file}},
		{"", []string{"key", "encode", "-c", j.file, j.table, "user=" + planted, "created=1", "order=O1"}},
		{"", []string{"key", "explain", "-c", j.file, j.table, "user=" + planted, "created=1", "order=O1"}},
		{"", []string{"key", "decode", "-c", j.file, j.table, planted}},
		{"", []string{"check", "--connect", j.file}},
		{`\x1b[2J`, []string{"publish", "-c", j.file, "--topic", j.topic, "--key", "k" + planted, file}},
		{`\u009b`, []string{"check", broken}},
		{"", []string{"check", "--json", broken}},
		{`\x1b[2J`, []string{"check", "no" + planted + "file"}},
		{`\x1b[2J`, []string{"query" + planted}},
		{`\x1b[2J`, []string{"query", "--flag" + planted}},
		{`\x1b[2J`, []string{"offsets", "set", "-c", j.file, "--to", planted}},
	} {
		shown(t, c.word, variables, c.args...)
	}
	server.Control("Scan", func(*embedded.Request) *embedded.Outcome {
		return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: strings.ToValidUTF8(planted, "")}}
	})
	shown(t, `\x1b[2J`, variables, "query", "-c", j.file, j.table, "user=u1")
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"type":"x`+planted+`","reason":`+string(text)+`},"status":400}`)
	}))
	defer search.Close()
	variables["BRINE_SEARCH_CONNECT"] = search.URL
	shown(t, "", variables, "query", "-c", j.file, j.table, "items=tea")
	shown(t, "", variables, "tables", "plan", "-c", j.file)
}

// The same for the answers of an admin port, whatever process serves it.
func TestNothingThatAnAdminPortAnswersActsOnTheTerminal(t *testing.T) {
	tables := skewtest.HotTables("scans"+planted, []skew.Region{{Name: "r0" + planted, Server: "s0" + planted, End: skew.Key("5")}, {Name: "r1", Server: "s1:1", Start: skew.Key("5" + planted)}})
	state := tables.State()
	var status atomic.Int64
	brine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := int(status.Load())
		w.WriteHeader(code)
		var answer any = state
		switch {
		case code != http.StatusOK:
			_, _ = io.WriteString(w, planted)
			return
		case r.URL.Path == service.PipelinesPath:
			answer = []service.Status{{Name: "p" + planted, Waiting: planted, Retried: planted}}
		case r.URL.Path == devstack.NodesPath:
			answer = []devstack.Node{{Addr: "a" + planted, State: planted}}
		case r.URL.Path == service.SkewMapPath:
			answer = skew.HeatMap{Times: []time.Time{time.Now()}, Starts: []skew.Key{skew.Key(planted)}, Rows: [][]float64{{1}}, Most: 1}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer brine.Close()
	addr := strings.TrimPrefix(brine.URL, "http://")
	for _, code := range []int{http.StatusOK, http.StatusForbidden, http.StatusTeapot} {
		status.Store(int64(code))
		for _, args := range [][]string{
			{"skew"}, {"skew", "--json"}, {"skew", "--map"}, {"skew", "nosuch"}, {"top", "--once", "--every", "1ms", "--list", "p"},
			{"top", "--once", "--every", "1ms", "--list", "r"}, {"top", "--once", "--every", "1ms", "--list", "h"}, {"top", "--once", "--every", "1ms", "--list", "k"},
			{"dev", "node", "ls"}, {"dev", "node", "ls", "--json"},
		} {
			word := `\x1b[2J`
			if code == http.StatusOK && args[len(args)-1] == "--json" {
				word = ""
			}
			shown(t, word, nil, append(args, "--http", addr)...)
		}
	}
}

// On a terminal, brine's own cursor movements are the only ones in its redrawn lines and its log.
func TestLiveLinesAreEscaped(t *testing.T) {
	var out bytes.Buffer
	s := term.Screen{Out: &out, Terminal: true}
	s.Show("a"+planted, "b")
	s.Show("c" + planted)
	rest := strings.NewReplacer("\x1b[2K", "", "\x1b[2A", "", "\n", "").Replace(out.String())
	if actsOn(rest) >= 0 || strings.Count(out.String(), "\n") != 3 || strings.Count(out.String(), "\x1b[2K") != 3 {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	e := &env{stdout: io.Discard, stderr: &out}
	log, done := newLog(e, 0)
	log.Info("m"+planted, "k"+planted, planted, "error", fmt.Errorf("e%s", planted))
	done()
	if actsOn(out.String()) >= 0 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q", out.String())
	}
}
