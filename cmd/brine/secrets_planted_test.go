package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/certs/certstest"
	"brine/internal/sample"
)

// hidden holds the secrets of a test by place, and whatever else would reveal them.
type hidden struct {
	t   *testing.T
	dir string
	all map[string]string
}

// text creates a secret; where names its owner.
func (p *hidden) text(where string) string {
	secret := "hunter2+" + rand.Text()
	p.all[where] = secret
	for _, user := range []string{"brine:", ""} {
		p.all[where+" in base64 "+user] = base64.StdEncoding.EncodeToString([]byte(user + secret))
	}
	return secret
}

// file creates a secret in a file, and returns the reference to it for a configuration.
func (p *hidden) file(where string) string {
	file := filepath.Join(p.dir, where)
	if err := os.WriteFile(file, []byte(p.text(where)+"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return "${file:" + file + "}"
}

// pair creates a certificate whose key is a secret.
func (p *hidden) pair(where string) (cert, key string) {
	cert, key = certstest.New(p.t, "planted").Issue(p.t, certstest.Leaf{})
	text, err := os.ReadFile(key)
	if err != nil {
		p.t.Fatal(err)
	}
	p.all[where] = strings.Split(string(text), "\n")[1]
	return cert, key
}

// in fails the test if a text contains any of them.
func (p *hidden) in(what, text string) {
	p.t.Helper()
	for where, secret := range p.all {
		if strings.Contains(text, secret) {
			p.t.Errorf("%s holds the secret of %s:\n%s", what, where, text)
		}
	}
}

// repeating is a server that refuses every caller, and repeats what it was sent.
func repeating(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error_code":40101,"message":%[1]q,"error":{"type":"security_exception","reason":%[1]q},"status":401}`,
			"not let in: "+r.Header.Get("Authorization")+" "+user+":"+password)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// plantedSettings are the settings whose values are secrets, each with the section that it needs.
var plantedSettings = map[string]string{
	"kafka.sasl.password":              "kafka: { sasl: { mechanism: scram-sha-256, user: brine, password: %q }",
	"kafka.sasl.oauth.client_secret":   "kafka: { sasl: { mechanism: oauthbearer, oauth: { token_url: URL, client_id: brine, client_secret: %q } }",
	"kafka.sasl.aws.secret_access_key": "kafka: { sasl: { mechanism: aws_msk_iam, aws: { access_key_id: brine, secret_access_key: %q } }",
	"kafka.sasl.aws.session_token":     "kafka: { sasl: { mechanism: aws_msk_iam, aws: { access_key_id: brine, secret_access_key: unused, session_token: %q } }",
	"search.password":                  "search: { user: brine, password: %q",
	"search.api_key":                   "search: { api_key: %q",
	"registry.password":                "registry: { url: URL, user: brine, password: %q }\n",
	"registry.token":                   "registry: { url: URL, token: %q }\n",
	"http.token":                       "http: { token: %q }\n",
}

// Twenty secrets are put where settings take them: in files, variables and BRINE_ variables, with keys of certificates beside them. Every
// server refuses brine and repeats what it was sent. No command shows any of them.
func TestPlantedSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), ordersExample)
	j.publish(first(sample.Orders(100), 100))
	p := &hidden{t: t, dir: t.TempDir(), all: map[string]string{}}
	url := repeating(t)
	texts, asked := 0, 0
	for setting, shape := range plantedSettings {
		for _, way := range []string{"file", "variable", "BRINE_"} {
			texts++
			vars := map[string]string{"BRINE_KAFKA_BROKERS": strings.Join(j.brokers, ","), "BRINE_HBASE_CONNECT": j.hbase, "BRINE_SEARCH_CONNECT": url,
				"BRINE_HTTP_LISTEN": "127.0.0.1:0", "BRINE_KAFKA_REQUEST_TIMEOUT": "300ms"}
			where := setting + " as " + way
			written := "unused-hunter-text"
			switch way {
			case "file":
				written = p.file(where)
			case "variable":
				written, vars["PLANTED"] = "${PLANTED}", p.text(where)
			default:
				vars["BRINE_"+strings.ToUpper(strings.ReplaceAll(setting, ".", "_"))] = p.text(where)
			}
			section, _, _ := strings.Cut(setting, ".")
			if section == "http" { // otherwise nobody would get as far as the other servers
				vars["BRINE_HBASE_TLS_ENABLED"] = "true"
				vars["BRINE_HBASE_TLS_CERT"], vars["BRINE_HBASE_TLS_KEY"] = p.pair("hbase.tls.key beside " + where)
			}
			if section == "kafka" {
				vars["BRINE_KAFKA_TLS_ENABLED"] = "true"
				vars["BRINE_KAFKA_TLS_CERT"], vars["BRINE_KAFKA_TLS_KEY"] = p.pair("kafka.tls.key beside " + where)
			}
			vars["BRINE_HTTP_TLS_CERT"], vars["BRINE_HTTP_TLS_KEY"] = p.pair("http.tls.key beside " + where)
			file := planting(t, j.file, section, strings.ReplaceAll(fmt.Sprintf(shape, written), "URL", url))
			for _, args := range [][]string{
				{"check", file}, {"check", "--json", file}, {"check", "--connect", "--timeout", "5s", file}, {"check", "--connect", "--json", "--timeout", "5s", file},
				{"tables", "plan", "-c", file, "--timeout", "5s"}, {"query", "-c", file, "--timeout", "5s", j.table}, {"skew", "-c", file, "--http", "127.0.0.1:1", "--timeout", "5s"},
				{"schema", "-c", file, "--pipeline", "orders", "--format", "asyncapi"}, {"deadletters", "ls", "-c", file, "--timeout", "5s"},
				{"run", "-q", "--until-end", "-c", file, "--for", "1ms"},
			} {
				var stdout, stderr bytes.Buffer
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				e := &env{ctx: ctx, stdout: &stdout, stderr: &stderr, getenv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
				for name, value := range vars {
					e.environ = append(e.environ, name+"="+value)
				}
				run(e, args)
				cancel()
				asked++
				p.in(where+": brine "+strings.Join(args, " "), stdout.String()+stderr.String())
			}
		}
	}
	if texts < 18 || len(p.all) < 20 || asked < 180 {
		t.Errorf("%d texts and %d secrets in %d commands", texts, len(p.all), asked)
	}
}

// planting copies a configuration with further settings in one of its sections.
func planting(t *testing.T, from, section, settings string) string {
	t.Helper()
	source, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	if section == "kafka" || section == "search" { // the section is in block style there
		_, inner, _ := strings.Cut(settings, "{ ")
		text = strings.Replace(text, section+":\n", section+":\n  "+strings.ReplaceAll(blocks(inner), "\n", "\n  ")+"\n", 1)
	} else {
		text = settings + text
	}
	file := filepath.Join(t.TempDir(), "brine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// blocks puts each setting of a flow on a line of its own, except within inner braces.
func blocks(flow string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				return '\n'
			}
		}
		return r
	}, strings.ReplaceAll(flow, ", ", ","))
}

// A working brine shows no secrets either: not on its port, to anyone, in its log, in its traces, nor when it ends with all of its stacks.
// If a token is replaced in its file, the new one counts.
func TestPlantedSecretsOfARunningBrine(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedTLS(t), ordersExample)
	p := &hidden{t: t, dir: t.TempDir(), all: map[string]string{}}
	for _, key := range []string{j.tls.Key} {
		text, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		p.all["hbase.tls.key"] = strings.Split(string(text), "\n")[1]
	}
	spans := filepath.Join(t.TempDir(), "spans.json")
	cert, key := p.pair("http.tls.key")
	j.replace("kafka:", "tracing: { to: 'file:"+spans+"', one_in: 1 }\nhttp: { pprof: true, token: '"+p.file("http.token")+"', tls: { cert: '"+cert+"', key: '"+key+"' } }\nkafka:")
	j.replace("search:\n", "search:\n  user: brine\n  password: '"+p.file("search.password")+"'\n")
	n := j.publish(first(sample.Orders(500), 500))
	j.search = repeating(t)
	b := j.begin("BRINE_KAFKA_STOP_TIMEOUT=1s")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	get := func(path, token string, remote bool) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+b.http+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if remote {
			req.Header.Set("X-Forwarded-For", "10.1.1.1")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		p.in("GET "+path, string(body)+fmt.Sprint(resp.Header))
		return resp.StatusCode
	}
	for ctx := t.Context(); ctx.Err() == nil && j.uncommitted("rows") > 0; { // by then its traces and its failures have been reported
		time.Sleep(10 * time.Millisecond)
	}
	before := p.all["http.token"]
	for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/skew", "/debug/pipelines", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline"} {
		for _, token := range []string{"", "wrong", before} {
			get(path, token, false)
			get(path, token, true)
		}
	}
	if status := get("/debug/skew", before, true); status != http.StatusOK {
		t.Errorf("with the token: %d", status)
	}
	p.file("http.token") // another one, in the same file
	if old, now := get("/debug/skew", before, true), get("/debug/skew", p.all["http.token"], true); old != http.StatusUnauthorized || now != http.StatusOK {
		t.Errorf("after the token was replaced: %d for the one before, %d for this one", old, now)
	}
	p.all["http.token before"] = before
	for !strings.Contains(b.log.String(), "not let in") { // by the search engine
		wait(t, 20*time.Millisecond)
	}
	b.stop()
	p.in("the log", b.log.String())
	broken := j.begin("GOTRACEBACK=all")
	if err := broken.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-broken.read
	_ = broken.cmd.Wait() // it was ended
	if !strings.Contains(broken.log.String(), "goroutine ") {
		t.Errorf("the log has no stacks:\n%.3000s", &broken.log)
	}
	p.in("the log of one that broke", broken.log.String())
	text, err := os.ReadFile(spans)
	if err != nil || len(text) == 0 && n > 0 {
		t.Errorf("%d bytes of spans, %v", len(text), err)
	}
	p.in("the spans", string(text))
	if len(p.all) < 6 || slices.Contains([]string{before}, p.all["http.token"]) {
		t.Error("the token was not replaced")
	}
}
