package config

import (
	"crypto/tls"
	"time"

	"github.com/segmentio/kafka-go/sasl"
)

// Kafka is the section kafka.
type Kafka struct {
	// Brokers to ask first, as host:port.
	Brokers []string `set:"brokers,required" example:"[localhost:9092]"`
	// First part of the names of the consumer groups.
	Group string `set:"group" default:"brine"`
	// What the brokers log us as.
	ClientID string `set:"client_id" default:"brine"`
	// Where a group that has committed nothing begins: `earliest` (the oldest record that the topic still holds), `latest`, or
	// with the first record of a time or later, as 2026-01-31T00:00:00Z.
	Start string `set:"start" default:"earliest"`
	// How often topics are looked for that a pipeline's `topic_pattern` matches.
	TopicRefresh time.Duration `set:"topic_refresh" default:"30s" min:"100ms" max:"1h"`
	// Topic of brine's own, which keeps what people ask of pipelines that run (`brine pause`, `brine limit`); it is made with the first that
	// is asked, with one partition and compacted. No pipeline reads it, whatever its `topic_pattern` matches. Without it:
	// `<group>.control`.
	ControlTopic string `set:"control_topic" example:"brine.control"`
	// What to do when the next record is not there any more. `stop`: the partition halts and says which offsets are gone.
	// `earliest` and `latest`: it goes on there and says what was skipped.
	OutOfRange string `set:"out_of_range" default:"stop" oneof:"stop earliest latest"`
	// Makes this process a static member of its groups: while it restarts, for at most session_timeout, the group keeps its
	// partitions and does not rebalance. Each process needs its own, always the same one.
	InstanceID string `set:"instance_id" example:"${HOSTNAME}"`
	// How processes are members of their groups [group.protocol]. `classic`: all members meet at each change, and all partitions pause.
	// `consumer` (KIP-848): the brokers move partitions one by one and no other pauses; needs Kafka 4.0, better 4.3, and later. `auto`: that
	// where the brokers have it. Members of both may be in one group: change it process by process.
	GroupProtocol string `set:"group_protocol" default:"classic" oneof:"classic consumer auto"`
	// A member that is silent for so long loses its partitions. By `group_protocol: consumer` the brokers decide that
	// (group.consumer.session.timeout.ms).
	SessionTimeout time.Duration `set:"session_timeout" default:"30s" min:"1s" max:"1h"`
	// How long the members of a group may take to meet again when one comes or goes. A partition that is taken away settles
	// and commits within a third of this and of session_timeout.
	RebalanceTimeout time.Duration `set:"rebalance_timeout" default:"60s" min:"1s" max:"1h"`
	// How often the offsets of settled records are committed.
	CommitInterval time.Duration `set:"commit_interval" default:"1s" min:"10ms" max:"10m"`
	// Longest wait for one answer of a broker.
	RequestTimeout time.Duration `set:"request_timeout" default:"10s" min:"100ms" max:"10m"`
	// How long a stop waits for what is still being written. What is not settled by then is read again after the next start.
	StopTimeout time.Duration `set:"stop_timeout" default:"30s" min:"1s" max:"1h"`
	// Most bytes of one fetch.
	MaxFetchBytes Bytes `set:"max_fetch_bytes" default:"1MiB" min:"64KiB" max:"64MiB"`
	// Encryption of the connections to the brokers.
	TLS TLS `set:"tls"`
	// Who we are to the brokers.
	SASL SASL `set:"sasl"`

	tls    *tls.Config    // nil unless enabled
	sasl   sasl.Mechanism // nil for none
	failed func(address string, failures int, err error)
}

// TLS is the section kafka.tls.
type TLS struct {
	// Whether connections are encrypted.
	Enabled bool `set:"enabled" default:"false"`
	// File with the certificates (PEM) that the brokers' are signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with our own certificate (PEM), where brokers ask for one.
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of our certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that the brokers' certificates must hold. Without it: the host's that is dialled.
	ServerName string `set:"server_name" example:"kafka.example.com"`
}

// SASL is the section kafka.sasl.
type SASL struct {
	// How we prove who we are: `plain` and `scram-…` by `user` and `password`, `oauthbearer` by a token (`oauth`), `gssapi` by Kerberos
	// (`kerberos`), `aws_msk_iam` by keys of AWS (`aws`). Use `plain` and `oauthbearer` over TLS only: they send the password or token itself.
	Mechanism string `set:"mechanism" default:"none" oneof:"none plain scram-sha-256 scram-sha-512 oauthbearer gssapi aws_msk_iam"`
	// User name.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${KAFKA_PASSWORD}"`
	// Where tokens come from: an endpoint (`token_url`), or a file (`token_file`).
	OAuth KafkaOAuth `set:"oauth"`
	// Who we are by Kerberos.
	Kerberos KafkaKerberos `set:"kerberos"`
	// Who we are to Amazon MSK, by IAM.
	AWS KafkaAWS `set:"aws"`
}

// KafkaOAuth is the section kafka.sasl.oauth.
type KafkaOAuth struct {
	// OAuth 2.0 endpoint that is asked for tokens with client_id and client_secret (client credentials), when a sixth of a token's life is
	// left and a broker is connected to.
	TokenURL string `set:"token_url" example:"https://login.example.com/oauth2/token"`
	// Name under which the endpoint knows us.
	ClientID string `set:"client_id" example:"brine"`
	// Secret of the client. Take it from the environment or from a file.
	ClientSecret string `set:"client_secret,secret" example:"${KAFKA_CLIENT_SECRET}"`
	// What the token is to allow: words with spaces between, as the endpoint has them.
	Scope string `set:"scope" example:"kafka"`
	// Whom the token is for, where the endpoint wants that said.
	Audience string `set:"audience" example:"kafka.example.com"`
	// File with the certificates (PEM) that the endpoint's is signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/login-ca.pem"`
	// Instead of an endpoint: file with a token, which somebody else renews. It is read for each connection to a broker.
	TokenFile string `set:"token_file" example:"/var/run/secrets/tokens/kafka"`
	// What brokers are sent beside the token, as NAME=VALUE (KIP-342).
	Extensions []string `set:"extensions" example:"[logicalCluster=lkc-1]"`
}

// KafkaKerberos is the section kafka.sasl.kerberos.
type KafkaKerberos struct {
	// Principal that we are: name@REALM or name/host@REALM. Without a realm: the default_realm of krb5.conf; with a ticket cache it may be
	// left out.
	Principal string `set:"principal" example:"brine@EXAMPLE.COM"`
	// File with the principal's keys, of AES. It is read again at each login, which is when 5/6 of a ticket's life are over.
	Keytab string `set:"keytab" example:"/etc/brine/brine.keytab"`
	// Instead of a keytab: file with a ticket, as kinit writes it. It is read again when 5/6 of the ticket's life are over.
	TicketCache string `set:"ticket_cache" example:"/run/brine/krb5cc"`
	// File that names the KDCs of the realms. Without it: what the environment's KRB5_CONFIG names, else /etc/krb5.conf.
	Krb5Conf string `set:"krb5_conf" example:"/etc/brine/krb5.conf"`
	// Principal of the brokers [sasl.kerberos.service.name]; _HOST stands for the host of each, as its address is looked up, or as it is
	// named if krb5.conf says rdns = false.
	ServerPrincipal string `set:"server_principal" default:"kafka/_HOST" example:"kafka/_HOST@EXAMPLE.COM"`
}

// KafkaAWS is the section kafka.sasl.aws.
type KafkaAWS struct {
	// Id of the key that signs what brokers are shown when they are connected to.
	AccessKeyID string `set:"access_key_id" example:"${AWS_ACCESS_KEY_ID}"`
	// The key itself, which stays here. Take it from the environment or from a file.
	SecretAccessKey string `set:"secret_access_key,secret" example:"${AWS_SECRET_ACCESS_KEY}"`
	// What stands beside a role's key, which ends after some hours: take all three from files that somebody else renews.
	SessionToken string `set:"session_token,secret" example:"${file:/run/secrets/aws-session}"`
}
