package kafkaauth

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/internal/gssapi"
	"brine/internal/gssapi/gssapitest"
)

const brokers = "kafka/localhost"

// realm returns a KDC, a broker's keytab and a client.
func realm(t *testing.T) (kdc *gssapitest.KDC, broker string, client Kerberos) {
	t.Helper()
	kdc = gssapitest.NewKDC("TEST.EXAMPLE")
	broker = kdc.Keytab(t, brokers)
	return kdc, broker, Kerberos{Server: "kafka/_HOST", Options: gssapi.Options{
		Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc"), Dial: kdc.Dial}}
}

// meet makes a client and a broker authenticate each other as in Kafka: the broker answers each token, the last one with nothing.
func meet(t *testing.T, m *kerberos, keytab string) error {
	t.Helper()
	acceptor, err := gssapi.NewAcceptor(keytab)
	if err != nil {
		t.Fatal(err)
	}
	broker := gssapi.NewServer(acceptor, gssapi.Auth|gssapi.Int|gssapi.Conf)
	client, sent, err := start(t, m)
	if err != nil {
		return err
	}
	token := []byte(sent)
	for {
		challenge, err := broker.Step(token)
		if err != nil {
			return errors.Join(kafka.SASLAuthenticationFailed, err)
		}
		var done bool
		if done, token, err = client.Next(t.Context(), challenge); done || err != nil {
			if err == nil && (!broker.Done() || broker.Peer() != "brine@TEST.EXAMPLE" || broker.Layer() != nil) {
				t.Error("the client is done before the broker")
			}
			return err
		}
	}
}

// Client and broker authenticate with one ticket for all connections; after the broker's keys have changed, the second attempt uses a new
// one.
func TestKerberosToABroker(t *testing.T) {
	kdc, broker, client := realm(t)
	m := client.Mechanism().(*kerberos)
	t.Cleanup(func() { m.login.Close() })
	for range 3 {
		if err := meet(t, m, broker); err != nil {
			t.Fatal(err)
		}
	}
	if logins, _, tickets := kdc.Counts(); logins != 1 || tickets != 1 {
		t.Errorf("%d logins and %d tickets for three connections", logins, tickets)
	}
	kdc.Key(brokers)
	kdc.WriteKeytab(t, broker, brokers)
	if err := meet(t, m, broker); !errors.Is(err, kafka.SASLAuthenticationFailed) {
		t.Errorf("with a ticket for the key before: %v", err)
	}
	if err := meet(t, m, broker); err != nil {
		t.Errorf("with another ticket: %v", err)
	}
}

// Each failure states its cause, and whether a retry may help.
func TestFailuresOfKerberos(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(kdc *gssapitest.KDC, client *Kerberos)
		cause error
		says  string
		final bool
	}{
		"KDC away":          {func(kdc *gssapitest.KDC, _ *Kerberos) { kdc.Set(func(f *gssapitest.Faults) { f.Down = true }) }, gssapi.ErrKDC, "", false},
		"clock off":         {func(kdc *gssapitest.KDC, _ *Kerberos) { kdc.Set(func(f *gssapitest.Faults) { f.Skew = time.Hour }) }, gssapi.ErrClockSkew, "behind", false},
		"unknown broker":    {func(_ *gssapitest.KDC, k *Kerberos) { k.Server = "other/_HOST" }, gssapi.ErrUnknownServer, "other/localhost", true},
		"other key":         {func(kdc *gssapitest.KDC, _ *Kerberos) { kdc.Key("brine") }, gssapi.ErrWrongKey, "brine@TEST.EXAMPLE", true},
		"no file":           {func(_ *gssapitest.KDC, k *Kerberos) { k.Keytab = "/nowhere/keytab" }, os.ErrNotExist, "/nowhere/keytab", false},
		"another principal": {func(_ *gssapitest.KDC, k *Kerberos) { k.Principal = "other" }, gssapi.ErrWrongKey, "no key of other", true},
	} {
		t.Run(name, func(t *testing.T) {
			kdc, broker, client := realm(t)
			c.spoil(kdc, &client)
			m := client.Mechanism().(*kerberos)
			t.Cleanup(func() {
				if m.login != nil {
					m.login.Close()
				}
			})
			err := meet(t, m, broker)
			if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) || Advice(err) == "" {
				t.Fatalf("%v (%s), want %v with %q", err, Advice(err), c.cause, c.says)
			}
			var network net.Error
			if errors.Is(err, kafka.SASLAuthenticationFailed) != c.final || !c.final && !errors.As(err, &network) {
				t.Errorf("%v: final %v, want %v", err, !c.final, c.final)
			}
		})
	}
}

// A keytab that appears later is read then.
func TestKeytabThatComesLater(t *testing.T) {
	kdc, broker, client := realm(t)
	client.Keytab = filepath.Join(t.TempDir(), "later")
	m := client.Mechanism().(*kerberos)
	if err := meet(t, m, broker); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	kdc.WriteKeytab(t, client.Keytab, "brine")
	if err := meet(t, m, broker); err != nil {
		t.Error(err)
	}
	m.login.Close()
}
