package config

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"brine/ingest"
	"brine/internal/certs"
	"brine/internal/gssapi"
	"brine/internal/kafkaauth"
)

func (l *loader) checkKafka(k *Kafka) {
	for i, broker := range k.Brokers {
		if fix := hostPort(broker, true); fix != "" {
			l.fault("kafka.brokers["+strconv.Itoa(i)+"]", Address, "is not a valid broker address", fix)
		}
	}
	if k.Group != "" && !kafkaName(k.Group) {
		l.fault("kafka.group", Name, "contains characters other than letters, digits, \".\", \"_\" and \"-\"", "write group: brine")
	}
	if k.ControlTopic != "" && !kafkaName(k.ControlTopic) {
		l.fault("kafka.control_topic", Name, "is not a valid topic name", topicNames)
	}
	if k.InstanceID != "" && !kafkaName(k.InstanceID) {
		l.fault("kafka.instance_id", Name, "contains characters other than letters, digits, \".\", \"_\" and \"-\"",
			"use the name of the host or the pod: ${HOSTNAME}")
	}
	if k.GroupProtocol != string(ingest.Classic) && k.SessionTimeout > ConsumerSession {
		l.warn("kafka.session_timeout", Range, fmt.Sprintf("is longer than the %v after which brokers, by default, give the partitions of a "+
			"silent member to others, with group_protocol: %s; until it ends, both write them", ConsumerSession, k.GroupProtocol),
			"write at most group.consumer.session.timeout.ms of the brokers or the group")
	}
	l.checkStart("kafka.start", k.Start)
	l.checkSASL(k)
	l.checkTLS(k)
}

func (l *loader) checkStart(setting, start string) {
	if _, err := startTime(start); err != nil && start != "earliest" && start != "latest" && start != "" {
		l.fault(setting, Choice, "is not earliest, latest or a time", "write a time such as 2026-01-31T00:00:00Z")
	}
}

// checkSASL creates the mechanism that clients use.
func (l *loader) checkSASL(k *Kafka) {
	const setting = "kafka.sasl"
	s := &k.SASL
	mechanisms := map[string]string{"oauth": "oauthbearer", "kerberos": "gssapi", "aws": "aws_msk_iam"}
	for _, section := range []string{"oauth", "kerberos", "aws"} {
		if wants := mechanisms[section]; l.has(setting+"."+section) && s.Mechanism != wants {
			l.fault(setting+"."+section, Missing, "does nothing with mechanism: "+s.Mechanism, "write mechanism: "+wants)
			return
		}
	}
	switch {
	case s.Mechanism == "none" && (s.User != "" || s.Password != ""):
		l.fault(setting+".mechanism", Missing, "is none, but a user or password is set",
			"write mechanism: scram-sha-512, or the one that the brokers require")
	case s.Mechanism == "oauthbearer":
		l.checkOAuth(k)
	case s.Mechanism == "gssapi":
		l.checkKafkaKerberos(k)
	case s.Mechanism == "aws_msk_iam":
		l.checkAWS(k)
	case s.Mechanism != "none" && s.Mechanism != "":
		l.checkPassword(k)
	}
}

// checkPassword creates one of the mechanisms that prove a password.
func (l *loader) checkPassword(k *Kafka) {
	const setting = "kafka.sasl"
	s := &k.SASL
	switch {
	case s.User == "" || s.Password == "":
		l.fault(setting, Missing, "needs a user and a password", "write user and password: ${KAFKA_PASSWORD}")
		return
	case s.Mechanism == "plain" && !k.TLS.Enabled:
		l.warn(setting+".mechanism", OpenPassword, "the password is sent in plain text over connections that are not encrypted",
			"write kafka.tls: { enabled: true }, or use scram-sha-512")
	}
	var err error
	if k.sasl, err = s.mechanism(); err == nil && k.sasl != nil {
		if now := l.followed(setting+".password", notEmpty); now != nil {
			k.sasl = following{k.sasl.Name(), s, now}
		}
	}
	if err != nil {
		l.fault(setting, Name, "the user or password contains characters that SCRAM does not allow",
			"change them on the brokers to printable characters")
	}
}

// noPassword reports a user or password beside a mechanism that takes none.
func (l *loader) noPassword(s *SASL, instead string) {
	if s.User != "" || s.Password != "" {
		l.fault("kafka.sasl.mechanism", Missing, "is "+s.Mechanism+", which takes no user or password",
			"remove them; "+instead+" identifies the client")
	}
}

// checkOAuth creates the mechanism that presents tokens.
func (l *loader) checkOAuth(k *Kafka) {
	const setting = "kafka.sasl.oauth"
	o := &k.SASL.OAuth
	l.noPassword(&k.SASL, "kafka.sasl.oauth")
	made := kafkaauth.OAuth{TokenURL: o.TokenURL, ClientID: o.ClientID, Audience: o.Audience, Scopes: strings.Fields(o.Scope),
		TokenFile: o.TokenFile}
	switch {
	case o.TokenURL == "" && o.TokenFile == "":
		l.fault(setting, Missing, "does not say where tokens come from",
			"write token_url, client_id and client_secret: ${KAFKA_CLIENT_SECRET}, or token_file")
	case o.TokenFile != "":
		for _, name := range []string{"token_url", "client_id", "client_secret", "scope", "audience", "ca"} {
			if l.has(setting + "." + name) {
				l.fault(setting+"."+name, Missing, "does nothing together with token_file", "remove one of the two")
				break
			}
		}
	default:
		l.checkEndpoint(o)
		if o.CA != "" {
			made.TLS = l.following(setting, certs.Files{CA: o.CA}, "")
		}
		made.Secret = l.secret(setting+".client_secret", o.ClientSecret)
	}
	made.Extensions = l.extensions(o)
	if !k.TLS.Enabled {
		l.warn("kafka.sasl.mechanism", OpenPassword, "the token is sent in plain text over connections that are not encrypted",
			"write kafka.tls: { enabled: true }")
	}
	k.sasl = made.Mechanism()
}

// checkEndpoint checks what is sent to the token endpoint.
func (l *loader) checkEndpoint(o *KafkaOAuth) {
	const setting = "kafka.sasl.oauth"
	u, err := url.Parse(o.TokenURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		l.fault(setting+".token_url", Address, "is not a valid URL", "write https://HOST/PATH of the endpoint that issues tokens")
	case u.User != nil:
		l.fault(setting+".token_url", Address, "contains a user name or password",
			"give them as client_id and client_secret: ${KAFKA_CLIENT_SECRET}")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		l.warn(setting+".token_url", OpenPassword, "client_secret and the token are sent in plain text over connections that are not encrypted",
			"write https://")
	}
	if o.ClientID == "" || o.ClientSecret == "" {
		l.fault(setting, Missing, "needs client_id and client_secret beside token_url",
			"write client_id and client_secret: ${KAFKA_CLIENT_SECRET}")
	}
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// extensions parses the extensions to send with a token.
func (l *loader) extensions(o *KafkaOAuth) map[string]string {
	made := map[string]string{}
	for i, text := range o.Extensions {
		name, value, ok := strings.Cut(text, "=")
		if !ok || !extensionName.MatchString(name) || name == "auth" || !extensionValue.MatchString(value) {
			l.fault("kafka.sasl.oauth.extensions["+strconv.Itoa(i)+"]", Name,
				"is not NAME=VALUE, a name of letters and a value of printable characters",
				"write it as logicalCluster=lkc-1")
			continue
		}
		made[name] = value
	}
	return made
}

var extensionName, extensionValue = regexp.MustCompile(`^[A-Za-z]+$`), regexp.MustCompile(`^[\x20-\x7e\t]+$`)

// checkKafkaKerberos creates the mechanism that presents tickets.
func (l *loader) checkKafkaKerberos(k *Kafka) {
	const setting = "kafka.sasl.kerberos"
	s := &k.SASL.Kerberos
	l.noPassword(&k.SASL, setting)
	if s.Keytab+s.TicketCache == "" {
		l.fault(setting, Missing, "has neither keytab nor ticket_cache", "write principal: brine@EXAMPLE.COM and keytab: /etc/brine/brine.keytab")
		return
	}
	l.checkKerberosFiles(setting, s.Principal, s.Keytab, s.TicketCache, s.Krb5Conf)
	k.sasl = kafkaauth.Kerberos{Server: s.ServerPrincipal,
		Options: gssapi.Options{Principal: s.Principal, Keytab: s.Keytab, TicketCache: s.TicketCache, Krb5Conf: s.Krb5Conf}}.Mechanism()
}

// checkAWS creates the mechanism that presents signatures made with AWS keys.
func (l *loader) checkAWS(k *Kafka) {
	const setting = "kafka.sasl.aws"
	a := &k.SASL.AWS
	l.noPassword(&k.SASL, setting)
	if a.AccessKeyID == "" || a.SecretAccessKey == "" {
		l.fault(setting, Missing, "needs access_key_id and secret_access_key",
			"write access_key_id: ${AWS_ACCESS_KEY_ID} and secret_access_key: ${AWS_SECRET_ACCESS_KEY}")
	}
	if !k.TLS.Enabled {
		l.warn("kafka.sasl.mechanism", OpenPassword, "the signature for the brokers is sent over connections that are not encrypted, and "+
			"anyone who reads it can use it for five minutes", "write kafka.tls: { enabled: true }")
	}
	id, key := l.secret(setting+".access_key_id", a.AccessKeyID), l.secret(setting+".secret_access_key", a.SecretAccessKey)
	session := l.secret(setting+".session_token", a.SessionToken)
	k.sasl = kafkaauth.AWS(func() kafkaauth.AWSKeys { return kafkaauth.AWSKeys{ID: id(), Secret: key(), Session: session()} })
}

func notEmpty(text string) bool { return text != "" }

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

// following is a mechanism that reads its password again for each connection.
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

// checkTLS creates the TLS configuration that clients use.
func (l *loader) checkTLS(k *Kafka) {
	const setting = "kafka.tls"
	t := &k.TLS
	if l.wantsTLS(setting, t.Enabled, t.CA+t.Cert+t.Key+t.ServerName) {
		k.tls = l.following(setting, certs.Files{CA: t.CA, Cert: t.Cert, Key: t.Key}, t.ServerName)
	}
}

// wantsTLS checks what all TLS sections have in common. others holds the concatenated values of the settings beside enabled.
func (l *loader) wantsTLS(setting string, enabled bool, others string) bool {
	l.together(setting, "cert", "key")
	l.together(setting, "key", "cert")
	if !enabled && others != "" {
		l.fault(setting+".enabled", Missing, "is false, but other TLS settings are there", "write enabled: true")
	}
	return enabled
}

// following returns the TLS configuration for a section's clients, whose files are read again for each connection. See Config.Renewed.
func (l *loader) following(setting string, files certs.Files, serverName string) func() *tls.Config {
	l.checkFiles(setting, files)
	store, err := certs.Open(files, func(err error) {
		if f := l.renewed.Load(); f != nil {
			(*f)(setting, err)
		}
	})
	if err != nil {
		return nil // checkFiles has reported it, or together
	}
	return func() *tls.Config { return store.Dialling(serverName) }
}

// checkFiles reports what is wrong with the files of a TLS section.
func (l *loader) checkFiles(setting string, files certs.Files) {
	l.checkCA(setting+".ca", files.CA)
	cert, key := l.readPEM(setting+".cert", files.Cert), l.readPEM(setting+".key", files.Key)
	if cert == nil || key == nil {
		return
	}
	if _, err := certs.Pair(cert, key); err != nil {
		l.fault(setting+".cert", Unreadable, err.Error(), "name the certificate and its own key, in PEM")
	}
}

// checkCA reports what is wrong with a file of certificates, if one is named.
func (l *loader) checkCA(setting, file string) {
	pem := l.readPEM(setting, file)
	if pem == nil {
		return
	}
	if _, err := certs.Authorities(pem); err != nil {
		l.fault(setting, Unreadable, file+" "+err.Error(), "name a file of certificates in PEM")
	}
}

// readPEM reads a file. It returns nil if none is named, or if it has reported a fault.
func (l *loader) readPEM(setting, file string) []byte {
	if file == "" {
		return nil
	}
	pem, err := certs.ReadPEM(file)
	if err != nil {
		l.fault(setting, Unreadable, err.Error(), "name a file in PEM")
	}
	l.held(setting, pem)
	return pem
}
