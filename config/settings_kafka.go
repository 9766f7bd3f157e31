package config

import (
	"crypto/tls"
	"time"

	"github.com/segmentio/kafka-go/sasl"
)

// ConsumerSession is the brokers' default group.consumer.session.timeout.ms. They may have another; only they know.
const ConsumerSession = 45 * time.Second

// Kafka is the section kafka.
type Kafka struct {
	// Brokers to connect to first, as host:port.
	Brokers []string `set:"brokers,required" example:"[localhost:9092]"`
	// First part of the consumer groups' names.
	Group string `set:"group" default:"brine"`
	// Client ID to send to brokers, which log it.
	ClientID string `set:"client_id" default:"brine"`
	// Where a group without commits starts: `earliest` (the oldest record still in the topic), `latest`, or the first record at or after a
	// time such as 2026-01-31T00:00:00Z.
	Start string `set:"start" default:"earliest"`
	// How often to look for new topics that match a pipeline's `topic_pattern`.
	TopicRefresh time.Duration `set:"topic_refresh" default:"30s" min:"100ms" max:"1h"`
	// Topic of brine's own that stores requests to running pipelines (`brine pause`, `brine limit`) and the versions of their members. Brine
	// creates it when it runs, compacted and with one partition. No pipeline reads it, even if its `topic_pattern` matches. Without it:
	// `<group>.control`.
	ControlTopic string `set:"control_topic" example:"brine.control"`
	// What to do if the next record no longer exists. `stop`: the partition halts and reports the missing offsets. `earliest` and `latest`: it
	// continues there and reports the offsets that it skipped.
	OutOfRange string `set:"out_of_range" default:"stop" oneof:"stop earliest latest"`
	// Makes this process a static member of its groups: while it restarts, for at most session_timeout, it keeps its partitions and the group
	// does not rebalance. Each process needs an id of its own that never changes.
	InstanceID string `set:"instance_id" example:"${HOSTNAME}"`
	// Group protocol [group.protocol]. `classic`: every change is a rebalance of all members, in which all partitions pause. `consumer`
	// (KIP-848): the brokers move partitions one by one while the others go on; it needs Kafka 4.0 or later, preferably 4.3. `auto`:
	// `consumer` if the brokers support it. A group may mix members of both, so change one process at a time.
	GroupProtocol string `set:"group_protocol" default:"classic" oneof:"classic consumer auto"`
	// How long a member may be silent before it loses its partitions. With `group_protocol: consumer` the brokers decide that
	// (group.consumer.session.timeout.ms, 45 s by default), and this is how long a member works on without an answer from them: no longer than
	// theirs.
	SessionTimeout time.Duration `set:"session_timeout" default:"30s" min:"1s" max:"1h"`
	// How long the members of a group may take to rejoin in a rebalance. A revoked partition settles and commits within a third of this and of
	// session_timeout.
	RebalanceTimeout time.Duration `set:"rebalance_timeout" default:"60s" min:"1s" max:"1h"`
	// How often to commit the offsets of settled records.
	CommitInterval time.Duration `set:"commit_interval" default:"1s" min:"10ms" max:"10m"`
	// Longest wait for one response of a broker.
	RequestTimeout time.Duration `set:"request_timeout" default:"10s" min:"100ms" max:"10m"`
	// How long a stop waits for pending writes, and for the brokers to accept their offsets. Records not settled and committed by then are
	// read again after the next start.
	StopTimeout time.Duration `set:"stop_timeout" default:"30s" min:"1s" max:"1h"`
	// Maximum size of one fetch.
	MaxFetchBytes Bytes `set:"max_fetch_bytes" default:"1MiB" min:"64KiB" max:"64MiB"`
	// Encryption of the connections to the brokers.
	TLS TLS `set:"tls"`
	// Authentication to the brokers.
	SASL SASL `set:"sasl"`

	tls    func() *tls.Config // nil unless enabled
	sasl   sasl.Mechanism     // nil for none
	failed func(address string, failures int, err error)
}

// TLS is the section kafka.tls.
type TLS struct {
	// Whether to encrypt connections.
	Enabled bool `set:"enabled" default:"false"`
	// File with the CA certificates (PEM) that verify the brokers. Without it: those of the system.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with brine's own certificate (PEM), if brokers require one.
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of brine's certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that the brokers' certificates must contain. Without it: the host that brine connects to.
	ServerName string `set:"server_name" example:"kafka.example.com"`
}

// SASL is the section kafka.sasl.
type SASL struct {
	// SASL mechanism: `plain` and `scram-…` use `user` and `password`, `oauthbearer` a token (`oauth`), `gssapi` Kerberos (`kerberos`),
	// `aws_msk_iam` AWS keys (`aws`). Use `plain` and `oauthbearer` only over TLS, because they send the password or token itself.
	Mechanism string `set:"mechanism" default:"none" oneof:"none plain scram-sha-256 scram-sha-512 oauthbearer gssapi aws_msk_iam"`
	// User name.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${KAFKA_PASSWORD}"`
	// Source of tokens: an endpoint (`token_url`) or a file (`token_file`).
	OAuth KafkaOAuth `set:"oauth"`
	// Authentication by Kerberos.
	Kerberos KafkaKerberos `set:"kerberos"`
	// Authentication to Amazon MSK by IAM.
	AWS KafkaAWS `set:"aws"`
}

// KafkaOAuth is the section kafka.sasl.oauth.
type KafkaOAuth struct {
	// OAuth 2.0 endpoint that issues tokens for client_id and client_secret (client credentials grant). Brine requests a new token when it
	// connects to a broker and a sixth of the token's lifetime or less is left.
	TokenURL string `set:"token_url" example:"https://login.example.com/oauth2/token"`
	// Client ID of brine at the endpoint.
	ClientID string `set:"client_id" example:"brine"`
	// Client secret. Take it from the environment or from a file.
	ClientSecret string `set:"client_secret,secret" example:"${KAFKA_CLIENT_SECRET}"`
	// Scopes to request, separated by spaces.
	Scope string `set:"scope" example:"kafka"`
	// Audience of the token, if the endpoint requires one.
	Audience string `set:"audience" example:"kafka.example.com"`
	// File with the CA certificates (PEM) that verify the endpoint. Without it: those of the system.
	CA string `set:"ca" example:"/etc/brine/login-ca.pem"`
	// File with a token that another program renews, instead of an endpoint. Brine reads it for each connection to a broker.
	TokenFile string `set:"token_file" example:"/var/run/secrets/tokens/kafka"`
	// Extensions to send to brokers with the token, as NAME=VALUE (KIP-342).
	Extensions []string `set:"extensions" example:"[logicalCluster=lkc-1]"`
}

// KafkaKerberos is the section kafka.sasl.kerberos.
type KafkaKerberos struct {
	// Brine's principal: name@REALM or name/host@REALM. Without a realm: the default_realm of krb5.conf. With a ticket cache it may be left
	// out.
	Principal string `set:"principal" example:"brine@EXAMPLE.COM"`
	// File with the principal's AES keys. Brine reads it again at each login, after 5/6 of a ticket's lifetime.
	Keytab string `set:"keytab" example:"/etc/brine/brine.keytab"`
	// File with a ticket as written by kinit, instead of a keytab. Brine reads it again after 5/6 of the ticket's lifetime.
	TicketCache string `set:"ticket_cache" example:"/run/brine/krb5cc"`
	// File that names the KDCs of the realms. Without it: the file in the environment's KRB5_CONFIG, else /etc/krb5.conf.
	Krb5Conf string `set:"krb5_conf" example:"/etc/brine/krb5.conf"`
	// Principal of the brokers [sasl.kerberos.service.name]. _HOST stands for each broker's host name, found by looking up its address, or as
	// given if krb5.conf says rdns = false.
	ServerPrincipal string `set:"server_principal" default:"kafka/_HOST" example:"kafka/_HOST@EXAMPLE.COM"`
}

// KafkaAWS is the section kafka.sasl.aws.
type KafkaAWS struct {
	// ID of the key that signs the login to brokers.
	AccessKeyID string `set:"access_key_id" example:"${AWS_ACCESS_KEY_ID}"`
	// The key itself, which is never sent. Take it from the environment or from a file.
	SecretAccessKey string `set:"secret_access_key,secret" example:"${AWS_SECRET_ACCESS_KEY}"`
	// Session token of a role's temporary key, which expires after some hours. Take all three from files that another program renews.
	SessionToken string `set:"session_token,secret" example:"${file:/run/secrets/aws-session}"`
}
