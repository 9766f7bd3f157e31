package brokers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"strings"

	"brine/ingest"
	"brine/internal/kafkaauth"
)

// Fix returns what to do about brokers that could not be queried, according to what refused the connection if that is known. Other denials
// name what is missing themselves.
func Fix(err error) string {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	if fix := kafkaauth.Advice(err); fix != "" {
		return fix
	}
	switch {
	case errors.As(err, &authority):
		return "set kafka.tls.ca to the file of the authority that signed the brokers' certificates"
	case errors.As(err, &host):
		return "write kafka.brokers with the names in their certificates"
	case errors.As(err, &invalid):
		return "renew the brokers' certificates, or correct the clock"
	case errors.As(err, &record):
		return "the port does not speak TLS: correct kafka.brokers, or remove kafka.tls"
	case err != nil && strings.Contains(err.Error(), "remote error: tls: "):
		return "the brokers refuse this client: set kafka.tls.cert and kafka.tls.key to a certificate that they accept"
	case ingest.WantsTLS(err):
		return "the port speaks TLS: set kafka.tls, or correct kafka.brokers"
	case errors.Is(err, ingest.ErrNotKafka), errors.Is(err, ingest.ErrMalformed):
		return "another server listens at that port: correct kafka.brokers"
	case errors.Is(err, ingest.ErrCredentials) && strings.Contains(err.Error(), "mechanism GSSAPI"):
		return "the brokers refuse the ticket: check kafka.sasl.kerberos.server_principal, that their keytab matches the KDC's, and their clock"
	case errors.Is(err, ingest.ErrCredentials) && strings.Contains(err.Error(), "mechanism OAUTHBEARER"):
		return "the brokers refuse the token: check that they accept its issuer, audience and scope"
	case errors.Is(err, ingest.ErrCredentials):
		return "correct kafka.sasl.user or kafka.sasl.password"
	case errors.Is(err, ingest.ErrMechanism):
		return "set kafka.sasl.mechanism to one that the brokers accept"
	case errors.Is(err, ingest.ErrNoSASL):
		return "the port takes no credentials: correct kafka.brokers, or remove kafka.sasl"
	case errors.Is(err, ingest.ErrDenied):
		return ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "is Kafka running at kafka.brokers? A broker that requires kafka.sasl or kafka.tls also closes the connection"
	}
	return "is Kafka running at kafka.brokers?"
}
