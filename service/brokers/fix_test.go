package brokers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"brine/ingest"
)

func TestFix(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "kafka.tls.ca"},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "b"}, "the names in their certificates"},
		{x509.CertificateInvalidError{Reason: x509.Expired}, "renew"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "does not speak TLS"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, "kafka.tls.cert"},
		{errors.New("broker appears to be expecting TLS"), "set kafka.tls,"},
		{io.ErrUnexpectedEOF, "kafka.sasl"},
		{ingest.ErrCredentials, "correct kafka.sasl.user or kafka.sasl.password"},
		{ingest.ErrMechanism, "set kafka.sasl.mechanism"},
		{ingest.ErrNoSASL, "remove kafka.sasl"},
		{fmt.Errorf("%w: its answer begins with %q", ingest.ErrNotKafka, "HTTP"), "correct kafka.brokers"},
		{ingest.ErrMalformed, "correct kafka.brokers"},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, "is Kafka running at kafka.brokers?"},
	} {
		if got := Fix(fmt.Errorf("kafka: %w", c.err)); !strings.Contains(got, c.says) {
			t.Errorf("%v: %s", c.err, got)
		}
	}
}
