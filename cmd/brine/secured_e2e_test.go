package main

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"brine/internal/sample"
	"brine/internal/testenv"
)

// TestSecuredKafka writes through the listeners of a real broker that admit only known clients. With anything but the right credentials
// brine is refused, and reports why but never the password.
func TestSecuredKafka(t *testing.T) {
	t.Parallel()
	secured := testenv.KafkaSecured(t)
	user, password := testenv.Name(t), rand.Text()
	tls := func(fields ...string) string {
		return "tls: { " + strings.Join(append(fields, "enabled: true"), ", ") + " }"
	}
	sasl := func(mechanism, password string) string {
		return fmt.Sprintf("sasl: { mechanism: %s, user: %s, password: %s }", mechanism, user, password)
	}
	ca := "ca: " + secured.CA
	t.Run("let in", func(t *testing.T) {
		for name, c := range map[string]struct {
			broker   string
			settings []string
		}{
			"SCRAM-SHA-256":      {secured.SCRAM, []string{tls(ca), sasl("scram-sha-256", password)}},
			"SCRAM-SHA-512":      {secured.SCRAM, []string{tls(ca), sasl("scram-sha-512", password)}},
			"client certificate": {secured.MTLS, []string{tls(ca, "cert: "+secured.Cert, "key: "+secured.Key)}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				j := newJob(t, realStack(t))
				j.know(user, password)
				n := j.publish(first(sample.Scans(), 5000))
				j.by(c.broker, c.settings...).must("check", "--connect", j.file)
				j.by(c.broker, c.settings...).must("run", "-q", "-c", j.file, "--until-end")
				if got := scanTable(t, j.hbase, j.table); got.rows != n {
					t.Errorf("%d rows of %d events", got.rows, n)
				}
			})
		}
	})
	t.Run("refused", func(t *testing.T) {
		j := newJob(t, realStack(t))
		j.know(user, password)
		for _, c := range []struct {
			name, broker string
			settings     []string
			says         string // an expression
		}{
			{"wrong password", secured.SCRAM, []string{tls(ca), sasl("scram-sha-512", "not"+password)}, "invalid credentials"},
			{"no credentials", secured.SCRAM, []string{tls(ca)}, "(?:was closed|ended too early)"}, // the broker closes the connection without a word
			{"no certificate", secured.MTLS, []string{tls(ca)}, "bad certificate"},
			{"unknown authority", secured.SCRAM, []string{tls(), sasl("scram-sha-512", password)}, "signed by an unknown authority"},
			{"plain text", secured.MTLS, nil, "expecting TLS"},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, args := range [][]string{{"check", "--connect", j.file}, {"run", "-q", "-c", j.file, "--until-end"}} {
					out, code := j.by(c.broker, append(c.settings, "request_timeout: 2s")...).exit(args...)
					if code == exitOK || !regexp.MustCompile(c.says).MatchString(out) || strings.Contains(out, password) {
						t.Errorf("brine %v: exit %d, want a refusal that says %q and no password:\n%s", args, code, c.says, out)
					}
				}
			})
		}
	})
}

// by returns the job with its broker reached at another listener, with these settings in the section kafka.
func (j *job) by(broker string, settings ...string) *job {
	j.t.Helper()
	source, err := os.ReadFile(j.file)
	if err != nil {
		j.t.Fatal(err)
	}
	const before = "  commit_interval: 100ms\n"
	start, rest, found := strings.Cut(string(source), before)
	_, rest, _ = strings.Cut(rest, "\n\n") // an earlier call wrote up to the end of the section
	if !found {
		j.t.Fatalf("no %q in %s", before, source)
	}
	text := start + before + "  " + strings.Join(settings, "\n  ") + "\n\n" + rest
	if err := os.WriteFile(j.file, []byte(text), 0o600); err != nil {
		j.t.Fatal(err)
	}
	by := *j
	by.brokers = []string{broker}
	return &by
}

// know registers a user with the broker, for both of SCRAM's mechanisms.
func (j *job) know(user, password string) {
	j.t.Helper()
	const iterations = 4096
	salt := []byte(rand.Text())
	for mechanism, newHash := range map[kafka.ScramMechanism]func() hash.Hash{kafka.ScramMechanismSha256: sha256.New, kafka.ScramMechanismSha512: sha512.New} {
		salted, err := pbkdf2.Key(newHash, password, salt, iterations, newHash().Size())
		if err != nil {
			j.t.Fatal(err)
		}
		resp, err := j.client().AlterUserScramCredentials(j.t.Context(), &kafka.AlterUserScramCredentialsRequest{Upsertions: []kafka.UserScramCredentialsUpsertion{
			{Name: user, Mechanism: mechanism, Iterations: iterations, Salt: salt, SaltedPassword: salted}}})
		if err == nil {
			err = resp.Results[0].Error
		}
		if err != nil {
			j.t.Fatal(err)
		}
	}
}
