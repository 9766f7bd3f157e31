package kafkaauth

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"hash"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"

	"brine/internal/certs/certstest"
	"brine/internal/gssapi"
	"brine/internal/testenv"
)

// brokersOf are the listeners that a row is tested on.
type brokersOf struct {
	plain    string // of the real broker, without authentication
	secured  testenv.SecuredKafka
	kerberos testenv.KerberosKafka
	ca       *tls.Config
	user     string // a user that the real broker knows, with the password below
	password string
}

// shownBy is what a client presents; nil means nothing.
type shownBy struct {
	tls  *tls.Config
	sasl sasl.Mechanism
}

// matrix lists what clients present to a real Kafka, and it to them. If says is empty they work together; otherwise the error contains it, with
// anything where it has "…". The rows are those of docs/security.md.
var matrix = []struct {
	mechanism, with string
	broker          func(t *testing.T, b *brokersOf) string
	shows           func(t *testing.T, b *brokersOf) shownBy
	says            string
}{
	{"TLS", "a certificate of ours, where one is wanted", mtls, certificate(certstest.Leaf{}, true), ""},
	{"TLS", "no certificate, where one is wanted", mtls, byTLS(nil), "tls: bad certificate"},
	{"TLS", "a certificate that has expired", mtls, certificate(certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour}, true), "tls: unknown certificate"},
	{"TLS", "a certificate of an unknown authority", mtls, certificate(certstest.Leaf{}, false), "tls: unknown certificate"},
	{"TLS", "another authority in `ca`", scramTLS, func(t *testing.T, b *brokersOf) shownBy {
		return shownBy{tls: trusting(t, certstest.New(t, "other").CA), sasl: password(scram.SHA512, b.user, b.password)}
	}, "certificate signed by unknown authority"},
	{"TLS", "the broker's has expired", presenting(certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour}), byTLS(nil),
		"certificate has expired or is not yet valid: current time … is after"},
	{"TLS", "the broker's is not yet valid", presenting(certstest.Leaf{From: time.Hour, Till: 2 * time.Hour}), byTLS(nil),
		"certificate has expired or is not yet valid: current time … is before"},
	{"TLS", "the broker's is for another name", presenting(certstest.Leaf{Hosts: []string{"kafka.example", "10.1.2.3"}}), byTLS(nil),
		"certificate is valid for 10.1.2.3, not 127.0.0.1"},
	{"TLS", "the broker's is signed by itself", presenting(certstest.Leaf{Self: true}), byTLS(nil), "certificate signed by unknown authority"},
	{"TLS", "the broker's was replaced while it ran", presenting(certstest.Leaf{}), byTLS(nil), ""},
	{"TLS", "plain text to a port of TLS", mtls, func(*testing.T, *brokersOf) shownBy { return shownBy{} }, "EOF"},
	{"SCRAM-SHA-256", "the right password", scramTLS, byPassword(scram.SHA256, ""), ""},
	{"SCRAM-SHA-512", "the right password", scramTLS, byPassword(scram.SHA512, ""), ""},
	{"SCRAM-SHA-256", "another password", scramTLS, byPassword(scram.SHA256, "other"), "invalid credentials"},
	{"SCRAM-SHA-512", "another password", scramTLS, byPassword(scram.SHA512, "other"), "invalid credentials"},
	{"SCRAM-SHA-512", "no credentials", scramTLS, byTLS(nil), "EOF"},
	{"OAUTHBEARER", "a token of an endpoint", oauth, byTokenOf("hunter2", "kafka", time.Hour), ""},
	{"OAUTHBEARER", "a token of a file", oauth, byTokenFile("kafka", time.Hour), ""},
	{"OAUTHBEARER", "another secret for the endpoint", oauth, byTokenOf("other", "kafka", time.Hour), "answers 401 invalid_client"},
	{"OAUTHBEARER", "a token that has ended", oauth, byTokenFile("kafka", -time.Minute), "by this machine's clock it expired at"},
	{"OAUTHBEARER", "a token for another scope", oauth, byTokenFile("other", time.Hour), "insufficient_scope"},
	{"OAUTHBEARER", "no credentials", oauth, byTLS(nil), "EOF"},
	{"GSSAPI", "a keytab", kerberized, byTicket(func(*testing.T, *Kerberos) {}), ""},
	{"GSSAPI", "another principal of the brokers", kerberized, byTicket(func(_ *testing.T, k *Kerberos) { k.Server = "other/_HOST" }),
		"the KDC does not know the server's principal"},
	{"GSSAPI", "a keytab that is none", kerberized, byTicket(func(t *testing.T, k *Kerberos) { k.Keytab = filed(t, "no keytab") }), "keytab"},
	{"GSSAPI", "another principal than the keytab's", kerberized, byTicket(func(_ *testing.T, k *Kerberos) { k.Principal = "other" }), "no key of other"},
	{"GSSAPI", "no credentials", kerberized, func(*testing.T, *brokersOf) shownBy { return shownBy{} }, "EOF"},
}

func mtls(_ *testing.T, b *brokersOf) string       { return b.secured.MTLS }
func scramTLS(_ *testing.T, b *brokersOf) string   { return b.secured.SCRAM }
func oauth(_ *testing.T, b *brokersOf) string      { return b.secured.OAuth }
func kerberized(_ *testing.T, b *brokersOf) string { return b.kerberos.Broker }

// presenting has the broker present a certificate of its authority, on a listener of its own.
func presenting(l certstest.Leaf) func(*testing.T, *brokersOf) string {
	return func(t *testing.T, b *brokersOf) string {
		cert, key := certstest.Load(t, b.secured.CA, b.secured.CAKey).Issue(t, l)
		return b.secured.Present(t, cert, key)
	}
}

func trusting(t *testing.T, ca string) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots}
}

// certificate presents a certificate signed by the broker's authority, or by another one.
func certificate(l certstest.Leaf, known bool) func(*testing.T, *brokersOf) shownBy {
	return func(t *testing.T, b *brokersOf) shownBy {
		by := certstest.New(t, "unknown")
		if known {
			by = certstest.Load(t, b.secured.CA, b.secured.CAKey)
		}
		pair, err := tls.LoadX509KeyPair(by.Issue(t, l))
		if err != nil {
			t.Fatal(err)
		}
		c := b.ca.Clone()
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		return shownBy{tls: c}
	}
}

func byTLS(m sasl.Mechanism) func(*testing.T, *brokersOf) shownBy {
	return func(_ *testing.T, b *brokersOf) shownBy { return shownBy{b.ca, m} }
}

func password(algorithm scram.Algorithm, user, password string) sasl.Mechanism {
	m, err := scram.Mechanism(algorithm, user, password)
	if err != nil {
		panic(err) // only the texts above are parsed
	}
	return m
}

func byPassword(algorithm scram.Algorithm, other string) func(*testing.T, *brokersOf) shownBy {
	return func(_ *testing.T, b *brokersOf) shownBy {
		return shownBy{b.ca, password(algorithm, b.user, b.password+other)}
	}
}

// bearerOf returns an unsigned token.
func bearerOf(scope string, life time.Duration) string {
	now := time.Now()
	return jwt(fmt.Sprintf(`{"sub":"brine","scope":%q,"iat":%d,"exp":%d}`, scope, now.Add(life-time.Hour).Unix(), now.Add(life).Unix()))
}

func byTokenOf(secret, scope string, life time.Duration) func(*testing.T, *brokersOf) shownBy {
	return func(t *testing.T, b *brokersOf) shownBy {
		return shownBy{b.ca, serveTokens(t, issued(bearerOf(scope, life), 3600)).client(secret).Mechanism()}
	}
}

func byTokenFile(scope string, life time.Duration) func(*testing.T, *brokersOf) shownBy {
	return func(t *testing.T, b *brokersOf) shownBy {
		return shownBy{b.ca, OAuth{TokenFile: filed(t, bearerOf(scope, life))}.Mechanism()}
	}
}

func filed(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func byTicket(change func(*testing.T, *Kerberos)) func(*testing.T, *brokersOf) shownBy {
	return func(t *testing.T, b *brokersOf) shownBy {
		k := Kerberos{Server: "kafka/_HOST", Options: gssapi.Options{Principal: b.kerberos.Principal, Keytab: b.kerberos.Keytab, Krb5Conf: b.kerberos.Krb5Conf}}
		change(t, &k)
		m := k.Mechanism()
		t.Cleanup(func() {
			if l := m.(*kerberos).login; l != nil {
				l.Close()
			}
		})
		return shownBy{sasl: m}
	}
}

// clientOf returns a client of one broker; its connections end with the test.
func clientOf(t *testing.T, broker string, s shownBy) *kafka.Client {
	transport := &kafka.Transport{TLS: s.tls, SASL: s.sasl, DialTimeout: 10 * time.Second, Dial: (&net.Dialer{}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(broker), Transport: transport, Timeout: 20 * time.Second}
}

// realBrokers returns the real brokers, with a user created on the one with the listeners.
func realBrokers(t *testing.T) *brokersOf {
	t.Helper()
	b := &brokersOf{plain: testenv.Kafka(t)[0], secured: testenv.KafkaSecured(t), kerberos: testenv.KafkaKerberos(t), user: testenv.Name(t), password: rand.Text()}
	b.ca = trusting(t, b.secured.CA)
	const iterations = 4096
	for mechanism, newHash := range map[kafka.ScramMechanism]func() hash.Hash{kafka.ScramMechanismSha256: sha256.New, kafka.ScramMechanismSha512: sha512.New} {
		salt := []byte(rand.Text())
		salted, err := pbkdf2.Key(newHash, b.password, salt, iterations, newHash().Size())
		if err != nil {
			t.Fatal(err)
		}
		resp, err := clientOf(t, b.plain, shownBy{}).AlterUserScramCredentials(t.Context(), &kafka.AlterUserScramCredentialsRequest{
			Upsertions: []kafka.UserScramCredentialsUpsertion{{Name: b.user, Mechanism: mechanism, Iterations: iterations, Salt: salt, SaltedPassword: salted}}})
		if err == nil {
			err = resp.Results[0].Error
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestMatrixOnARealKafka(t *testing.T) {
	t.Parallel()
	b := realBrokers(t)
	for _, c := range matrix {
		t.Run(c.mechanism+" "+c.with, func(t *testing.T) {
			t.Parallel()
			s := c.shows(t, b)
			_, err := clientOf(t, c.broker(t, b), s).Metadata(t.Context(), &kafka.MetadataRequest{})
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !testenv.Says(err.Error(), c.says)):
				t.Errorf("%v, want %q", err, c.says)
			case err != nil && (strings.Contains(err.Error(), b.password) || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("%v shows a password", err)
			}
		})
	}
}

// The embedded Kafka accepts clients in plain text without credentials, and no others.
func TestMatrixOnTheEmbeddedKafka(t *testing.T) {
	addr := testenv.KafkaFake(t, 1).ListenAddrs()[0]
	unknown := trusting(t, certstest.New(t, "servers").CA)
	for name, c := range map[string]struct {
		shows shownBy
		ok    bool
	}{
		"plain text":  {shownBy{}, true},
		"TLS":         {shownBy{tls: unknown}, false},
		"SCRAM":       {shownBy{sasl: password(scram.SHA512, "brine", "secret")}, false},
		"OAUTHBEARER": {shownBy{sasl: OAuth{TokenFile: filed(t, bearerOf("kafka", time.Hour))}.Mechanism()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientOf(t, addr, c.shows).Metadata(t.Context(), &kafka.MetadataRequest{})
			if (err == nil) != c.ok {
				t.Errorf("%v, want it to be let in: %v", err, c.ok)
			}
		})
	}
}

// A broker ends connections with their tokens [connections.max.reauth.ms, or the token's expiry if that is sooner]. A client continues with
// another token on another connection, and a call that was cut off succeeds on retry.
func TestConnectionsEndWithTheirTokens(t *testing.T) {
	t.Parallel()
	secured := testenv.KafkaSecured(t)
	var asked atomic.Int64
	endpoint := serveTokensWith(t, func() string { asked.Add(1); return issued(bearerOf("kafka", 3*time.Second), 3) })
	o := OAuth{TokenURL: endpoint.URL, ClientID: "brine", Secret: func() string { return "hunter2" }}
	client := clientOf(t, secured.OAuth, shownBy{trusting(t, secured.CA), o.Mechanism()})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for cut := 0; asked.Load() < 4; {
		_, err := client.Metadata(ctx, &kafka.MetadataRequest{})
		if err == nil {
			cut = 0
		} else if cut++; cut > 2 || ctx.Err() != nil {
			t.Fatalf("after %d tokens: %v", asked.Load(), err)
		}
	}
}

var update = flag.Bool("update", false, "write the matrix of docs/security.md again")

// TestSecurityMatrix compares the page with the test's table.
func TestSecurityMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| mechanism | with | Kafka 4.3.1 | brine says |\n|---|---|---|---|\n")
	for _, c := range matrix {
		outcome := "works"
		if c.says != "" {
			outcome = "refused"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.mechanism, c.with, outcome, c.says)
	}
	testenv.Section(t, "docs/security.md", "kafka", b.String(), *update)
}
