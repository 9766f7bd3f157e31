package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	brokers "brine/ingest/embedded"
)

// refusingKafka is a Kafka that knows one user of SASL PLAIN, and reports to others what is wrong, as Apache's does.
func refusingKafka(t *testing.T) string {
	t.Helper()
	kafka, err := brokers.Start(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "brine", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	kafka.ControlKey(kmsg.SASLAuthenticate.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		if strings.HasSuffix(string(q.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes), "\x00secret") {
			return nil, nil, false
		}
		r := q.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		r.ErrorCode, r.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr("Authentication failed: Invalid username or password")
		return r, nil, true
	})
	kafka.ControlKey(kmsg.SASLHandshake.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		r := q.ResponseKind().(*kmsg.SASLHandshakeResponse)
		r.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		return r, nil, q.(*kmsg.SASLHandshakeRequest).Mechanism != "PLAIN"
	})
	return kafka.ListenAddrs()[0]
}

// TestRefusedCredentials: every command that uses Kafka says what to correct if the brokers refuse the password or its mechanism.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	kafka, records := refusingKafka(t), filepath.Join(t.TempDir(), "scans.jsonl")
	if err := os.WriteFile(records, []byte(`{"waybill":"W1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	topic := []string{"--topic", "courier.scans", "--key", "waybill"}
	for name, refused := range map[string]struct{ mechanism, says, fix string }{
		"password":  {"plain", "Invalid username or password", "correct kafka.sasl.user or kafka.sasl.password"},
		"mechanism": {"scram-sha-512", "(?i)unsupported sasl mechanism|does not support the requested SASL mechanism", "set kafka.sasl.mechanism to one that the brokers accept"},
	} {
		settings := map[string]string{"BRINE_KAFKA_BROKERS": kafka, "BRINE_KAFKA_SASL_USER": "brine", "BRINE_KAFKA_SASL_PASSWORD": "wrong",
			"BRINE_KAFKA_SASL_MECHANISM": refused.mechanism, "BRINE_KAFKA_REQUEST_TIMEOUT": "5m"}
		for _, args := range [][]string{
			{"offsets", "show"}, {"offsets", "set", "--to", "latest"}, {"deadletters", "ls"}, {"deadletters", "show", "0:1"},
			append([]string{"publish", records}, topic...), append([]string{"publish", "--alone", records}, topic...),
			{"deadletters", "replay", "-c", "../../examples/scans.yaml"}, {"check", "--connect", "../../examples/scans.yaml"},
		} {
			t.Run(name+" "+strings.Join(args[:2], " "), func(t *testing.T) {
				own := map[string]string{"BRINE_HBASE_CONNECT": "embedded:" + t.TempDir(), "BRINE_SEARCH_CONNECT": "embedded:" + t.TempDir()}
				var stdout, stderr strings.Builder
				code := run(&env{ctx: t.Context(), stdout: &stdout, stderr: &stderr, getenv: func(name string) (string, bool) {
					if value, ok := own[name]; ok {
						return value, true
					}
					value, ok := settings[name]
					return value, ok
				}}, args)
				said := stderr.String()
				if code != exitFailed || !regexp.MustCompile(refused.says).MatchString(said) || !strings.Contains(said, "hint: "+refused.fix) || strings.Contains(said, "wrong") {
					t.Errorf("exit %d\n%s%s", code, &stdout, said)
				}
			})
		}
	}
}
