package config

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strconv"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"brine/internal/certs"
)

func (l *loader) checkKafka(k *Kafka) {
	for i, broker := range k.Brokers {
		if fix := hostPort(broker, true); fix != "" {
			l.fault("kafka.brokers["+strconv.Itoa(i)+"]", Address, "is not a valid broker address", fix)
		}
	}
	if k.Group != "" && !kafkaName(k.Group) {
		l.fault("kafka.group", Name, "holds other characters than letters, digits, \".\", \"_\" and \"-\"", "write group: brine")
	}
	if k.InstanceID != "" && !kafkaName(k.InstanceID) {
		l.fault("kafka.instance_id", Name, "holds other characters than letters, digits, \".\", \"_\" and \"-\"",
			"write the name of the host or the pod: ${HOSTNAME}")
	}
	l.checkStart("kafka.start", k.Start)
	l.checkSASL(k)
	l.checkTLS(k)
}

func (l *loader) checkStart(setting, start string) {
	if _, err := startTime(start); err != nil && start != "earliest" && start != "latest" && start != "" {
		l.fault(setting, Choice, "is neither earliest, latest nor a time", "write a time as 2026-01-31T00:00:00Z")
	}
}

// checkSASL makes the mechanism that clients use.
func (l *loader) checkSASL(k *Kafka) {
	const setting = "kafka.sasl"
	s := &k.SASL
	switch {
	case s.Mechanism == "none" && (s.User != "" || s.Password != ""):
		l.fault(setting+".mechanism", Missing, "is none, and a user or password is there",
			"write mechanism: scram-sha-512, or what the brokers ask for")
		return
	case s.Mechanism != "none" && s.Mechanism != "" && (s.User == "" || s.Password == ""):
		l.fault(setting, Missing, "needs a user and a password", "write user and password: ${KAFKA_PASSWORD}")
		return
	case s.Mechanism == "plain" && !k.TLS.Enabled:
		l.warn(setting+".mechanism", OpenPassword, "the password is sent as it is, over connections that are not encrypted",
			"write kafka.tls: { enabled: true }, or use scram-sha-512")
	}
	var err error
	if k.sasl, err = s.mechanism(); err == nil && k.sasl != nil {
		if now := l.followed(setting+".password", func(p string) bool { return p != "" }); now != nil {
			k.sasl = following{k.sasl.Name(), s, now}
		}
	}
	if err != nil {
		l.fault(setting, Name, "the user or password holds characters that SCRAM does not take",
			"change them on the brokers to printable characters")
	}
}

func (s *SASL) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "plain":
		return plain.Mechanism{Username: s.User, Password: s.Password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.User, s.Password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.User, s.Password)
	}
	return nil, nil
}

// following is a mechanism whose password is read again for each connection.
type following struct {
	name     string
	s        *SASL
	password func() string
}

func (f following) Name() string { return f.name }

func (f following) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	s := *f.s
	s.Password = f.password()
	m, err := s.mechanism()
	if err != nil {
		return nil, nil, err
	}
	return m.Start(ctx)
}

// checkTLS makes the configuration that clients use.
func (l *loader) checkTLS(k *Kafka) {
	const setting = "kafka.tls"
	t := &k.TLS
	if l.wantsTLS(setting, t.Enabled, t.CA+t.Cert+t.Key+t.ServerName) {
		k.tls = l.tlsConfig(setting, t.CA, t.Cert, t.Key, t.ServerName)
	}
}

// wantsTLS checks what the sections of TLS have in common; others are the texts of the settings beside enabled.
func (l *loader) wantsTLS(setting string, enabled bool, others string) bool {
	l.together(setting, "cert", "key")
	l.together(setting, "key", "cert")
	if !enabled && others != "" {
		l.fault(setting+".enabled", Missing, "is false, and other settings of TLS are there", "write enabled: true")
	}
	return enabled
}

// tlsConfig reads the files of a section and makes the configuration that its clients use.
func (l *loader) tlsConfig(setting, caFile, certFile, keyFile, serverName string) *tls.Config {
	made := &tls.Config{ServerName: serverName, MinVersion: tls.VersionTLS12}
	if ca := l.readCA(setting+".ca", caFile); ca != nil {
		made.RootCAs = x509.NewCertPool()
		made.RootCAs.AppendCertsFromPEM(ca)
	}
	cert, key := l.readPEM(setting+".cert", certFile), l.readPEM(setting+".key", keyFile)
	if cert != nil && key != nil {
		pair, err := certs.Pair(cert, key)
		if err != nil {
			l.fault(setting+".cert", Unreadable, err.Error(), "name the certificate and its own key, in PEM")
		}
		made.Certificates = []tls.Certificate{pair}
	}
	return made
}

// readCA reads a file of certificates; nil when there is none, or a fault of it was reported.
func (l *loader) readCA(setting, file string) []byte {
	pem := l.readPEM(setting, file)
	if pem == nil {
		return nil
	}
	if _, err := certs.Authorities(pem); err != nil {
		l.fault(setting, Unreadable, file+" "+err.Error(), "name a file of certificates in PEM")
		return nil
	}
	return pem
}

func (l *loader) readPEM(setting, file string) []byte {
	if file == "" {
		return nil
	}
	pem, err := certs.ReadPEM(file)
	if err != nil {
		l.fault(setting, Unreadable, err.Error(), "name a file in PEM")
	}
	return pem
}
