package ingest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	kgoplain "github.com/twmb/franz-go/pkg/sasl/plain"
)

// TLS and SASL are used on every connection: the group's, the fetches' and the dead letters'.
func TestSecuredBroker(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	ours := &tls.Config{RootCAs: roots}
	b := &fakeKafka{t: t, sent: map[int]int64{}}
	b.begin(kfake.SeedTopics(1, topic), kfake.TLS(&tls.Config{Certificates: web.TLS.Certificates}), kfake.EnableSASL(), kfake.Superuser("PLAIN", "brine", "secret"))
	b.client = b.newClient(kgo.DialTLSConfig(ours), kgo.SASL(kgoplain.Auth{User: "brine", Pass: "secret"}.AsMechanism()))
	b.produce(10, 0)
	b.poison(0)
	s := newStore()
	o := b.options(s)
	o.Kafka.TLS, o.Kafka.SASL = func() *tls.Config { return ours }, plain.Mechanism{Username: "brine", Password: "secret"}
	l := start(t, o)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 11 })
	l.stop()
	s.wantOnce(t, 10)

	// Kafka answers SASL_AUTHENTICATION_FAILED (ErrDenied); kfake just closes the connection.
	o.Kafka.SASL, o.RequestTimeout = plain.Mechanism{Username: "brine", Password: "wrong"}, 300*time.Millisecond
	if err := Run(t.Context(), o); !errors.Is(err, ErrDenied) && !errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v with a wrong password", err)
	}
}
