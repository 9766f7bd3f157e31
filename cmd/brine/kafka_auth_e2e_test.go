package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/internal/sample"
	"brine/internal/testenv"
)

// unsigned returns a token without a signature, for a broker that accepts such tokens.
func unsigned(scope string, life time.Duration) string {
	now := time.Now()
	b64 := base64.RawURLEncoding
	return b64.EncodeToString([]byte(`{"alg":"none"}`)) + "." + b64.EncodeToString(fmt.Appendf(nil,
		`{"sub":"brine","scope":%q,"iat":%d,"exp":%d}`, scope, now.Add(life-time.Hour).Unix(), now.Add(life).Unix())) + "."
}

// tokenEndpoint issues tokens to callers who know the secret.
func tokenEndpoint(t *testing.T, secret string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, password, _ := r.BasicAuth(); password != secret || r.FormValue("scope") != "kafka" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":%q}`, password+r.FormValue("client_secret"))
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":3600}`, unsigned("kafka", time.Hour))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// records returns a file of scans, and their number.
func recordsFile(t *testing.T) (file string, n int) {
	var text strings.Builder
	for line := range first(sample.Scans(), 2000) {
		text.Write(append(line, '\n'))
		n++
	}
	file = filepath.Join(t.TempDir(), "scans.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, n
}

// through publishes, checks and ingests through the job's broker, and counts the rows.
func (j *job) through(broker string, settings ...string) {
	j.t.Helper()
	records, n := recordsFile(j.t)
	by := j.by(broker, settings...)
	by.must("publish", "-c", j.file, "--topic", j.topic, "--key", "waybill", "--partitions", "2", records)
	by.must("check", "--connect", j.file)
	by.must("run", "-q", "-c", j.file, "--until-end")
	if got := scanTable(j.t, j.hbase, j.table); got.rows != n {
		j.t.Errorf("%d rows of %d events", got.rows, n)
	}
}

// refuses runs check and run, which must fail with a message that the expression matches and that does not contain the secret.
func (j *job) refuses(says, secret, broker string, settings ...string) {
	j.t.Helper()
	for _, args := range [][]string{{"check", "--connect", j.file}, {"run", "-q", "-c", j.file, "--until-end"}} {
		out, code := j.by(broker, append(settings, "request_timeout: 2s")...).exit(args...)
		if code == exitOK || !regexp.MustCompile(says).MatchString(out) || secret != "" && strings.Contains(out, secret) {
			j.t.Errorf("brine %v: exit %d, want a refusal that says %q and no secret:\n%s", args, code, says, out)
		}
	}
}

// TestKafkaByToken publishes to a real broker and reads from it with bearer tokens from an endpoint and from a file. With other tokens the
// broker refuses it, and brine reports why.
func TestKafkaByToken(t *testing.T) {
	t.Parallel()
	secured := testenv.KafkaSecured(t)
	tls := "tls: { enabled: true, ca: " + secured.CA + " }"
	const secret = "hunter2-of-the-client"
	url := tokenEndpoint(t, secret)
	token := func(scope string, life time.Duration) string {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(unsigned(scope, life)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return "sasl: { mechanism: oauthbearer, oauth: { token_file: " + file + " } }"
	}
	endpoint := func(url, secret string) string {
		return fmt.Sprintf("sasl: { mechanism: oauthbearer, oauth: { token_url: %q, client_id: brine, client_secret: %s, scope: kafka } }", url, secret)
	}
	newJob := func(t *testing.T) *job {
		s := embeddedStack(t)
		s.brokers, s.lasting = testenv.Kafka(t), true
		return newJob(t, s)
	}
	for name, sasl := range map[string]string{"endpoint": endpoint(url, secret), "file": token("kafka", time.Hour)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newJob(t).through(secured.OAuth, tls, sasl)
		})
	}
	j := newJob(t)
	for name, c := range map[string]struct{ sasl, says string }{
		"wrong secret":  {endpoint(url, "not"+secret), `(?s)answers 401 invalid_client: ….*correct kafka.sasl.oauth.client_id`},
		"endpoint away": {endpoint("http://127.0.0.1:1/token", secret), `(?s)token endpoint http://127.0.0.1:1/token: .*connection refused.*check that the endpoint is up`},
		"expired":       {token("kafka", -time.Minute), `(?s)refuses the token of .*invalid_token.*it expired at .* 1m\d+s ago.*NTP`},
		"other scope":   {token("other", time.Hour), `(?s)refuses the token of .*insufficient_scope.*issuer, audience and scope`},
		"none":          {"sasl: { mechanism: scram-sha-512, user: brine, password: " + secret + " }", `(?i)unsupported sasl mechanism|does not support the requested SASL`},
	} {
		t.Run(name, func(t *testing.T) {
			of := *j
			of.t = t
			of.refuses(c.says, secret, secured.OAuth, tls, c.sasl)
		})
	}
}

// TestKafkaByKerberos does the same with tickets from a real KDC.
func TestKafkaByKerberos(t *testing.T) {
	t.Parallel()
	k := testenv.KafkaKerberos(t)
	sasl := func(keytab string, more ...string) string {
		return fmt.Sprintf("sasl: { mechanism: gssapi, kerberos: { principal: %s, keytab: %s, krb5_conf: %s%s } }", k.Principal, keytab, k.Krb5Conf,
			strings.Join(more, ""))
	}
	j := newJob(t, embeddedStack(t))
	j.through(k.Broker, sasl(k.Keytab))
	broken := filepath.Join(t.TempDir(), "keytab")
	if err := os.WriteFile(broken, []byte("no keytab"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.refuses(`the KDC does not know the server's principal: other/localhost`, "", k.Broker, sasl(k.Keytab, ", server_principal: other/_HOST"))
	j.refuses(`(?s)refuse the ticket|Kerberos with hbase/localhost|credentials with SASL mechanism GSSAPI`, "", k.Broker, sasl(k.Keytab, ", server_principal: hbase/_HOST"))
	j.refuses(`keytab`, "", k.Broker, sasl(broken))
	j.refuses(`(was closed|ended too early|does not answer)`, "", k.Broker)
}
