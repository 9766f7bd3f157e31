package config

import (
	"crypto/tls"
	"time"

	"go.yaml.in/yaml/v3"

	"brine/internal/certs"
)

// The structs of this file and of those beside it, settings_*.go, are the settings. A comment above a field is its documentation, here
// and in docs/configuration.md and the JSON Schema. Tags:
//
//	set:"name,required"  name of the setting; required if so
//	set:",key"           the field takes the name that its element has in a mapping: tables: { NAME: {…} }
//	set:"type,short"     an element may be written as this setting alone: at: time_ms
//	set:"key,secret"     the value is never printed, nor what stands around it
//	default:"10s"        as a user would write it
//	oneof:"a b"          the only texts allowed
//	min:"1" max:"10"     bounds of numbers, durations and sizes
//	example:"…"          YAML for the documentation

// Config is the whole of brine.yaml.
type Config struct {
	// Where records come from.
	Kafka Kafka `set:"kafka,required"`
	// Where rows go. Needed by pipelines that have rows.
	Cluster HBase `set:"hbase"`
	// Where documents go. Needed by pipelines that have documents.
	Search Search `set:"search"`
	// Where the schemas of records are that name theirs. Needed by pipelines whose records are framed by a schema registry's serializers.
	Schemas Registry `set:"registry"`
	// The admin port.
	HTTP HTTP `set:"http"`
	// The HTTP API of `brine serve`.
	Serve Serve `set:"serve"`
	// Who may ask the HTTP API.
	Accounts Accounts `set:"accounts"`
	// Traces of some records.
	Tracing Tracing `set:"tracing"`
	// The maps of what is written where and when.
	Map Map `set:"map"`
	// Everything that is held between fetching a record and settling it: records, mutations and documents of all
	// pipelines together. When it is spent, fetching waits. The loops of all pipelines, for rows and for documents, have
	// equal shares, so that none that waits takes another's room.
	Memory Bytes `set:"memory" default:"64MiB" min:"16MiB" max:"1TiB"`
	// What the process may take of the machine, its executable's pages aside: everything that `memory` bounds, and tables, stacks and the
	// garbage collector's room. The collector is held to it (GOMEMLIMIT); a GOMEMLIMIT in the environment counts instead. Without it the
	// process takes what `memory` needs, and more where more partitions or tables do. Servers inside this process count too.
	ProcessMemory Bytes `set:"process_memory" min:"46MiB" max:"1TiB" example:"256MiB"`
	// The HBase tables that rows are written to, by name: `namespace:name`, or `name` in the default namespace.
	Tables []*Table `set:"tables" example:"{ logistics:scans: {…} }"`
	// The search indexes that documents are written to, by name.
	Indexes []*Index `set:"indexes" example:"{ scans: {…} }"`
	// What is read and what becomes of it, by name. The name is part of the consumer groups: `<group>.<pipeline>.rows` and
	// `<group>.<pipeline>.documents`. Renaming a pipeline makes it start again.
	Pipelines []*Pipeline `set:"pipelines,required" example:"{ scans: {…} }"`
	// What is asked of the tables and indexes, by name: `brine query NAME field=value …` answers, and `brine query --views` lists them.
	Views []*View `set:"views" example:"{ waybill: {…} }"`

	shared *sharedRegistry

	source  source            // that it was loaded from
	written *yaml.Node        // without secrets
	shown   map[string]string // by setting: what is shown of values that stand for a variable or a file
}

// HTTP is the section http.
type HTTP struct {
	// Address of the admin port, which serves /metrics, /healthz and /readyz, and, on the same machine or to requests that present `token`,
	// what is known of tables and pipelines. Port 0 takes a free one. `unix:/run/brine/admin.sock` is a socket in the file system instead,
	// which nobody but brine's user may connect to.
	Listen string `set:"listen" default:"127.0.0.1:8765"`
	// How long a partition may stand still, with records before it, until /healthz answers 503 and names it.
	Stall time.Duration `set:"stall" default:"1m" min:"100ms" max:"1d"`
	// Names that the admin port may be called by, beside localhost, the host of `listen` and any IP address, which may always. `*.NAME`
	// is every name below NAME. A request by another name is refused, since a page of the web can have a browser send it and read the
	// answer.
	Hosts []string `set:"hosts" example:"[brine.example.com]"`
	// Requests from other machines get only metrics and health unless they present this token: `Authorization: Bearer TOKEN`. At
	// least 16 visible characters. Take it from the environment, as `brine skew` and `brine top` do: BRINE_HTTP_TOKEN.
	Token string `set:"token,secret" example:"${ADMIN_TOKEN}"`
	// Whether profiles of the process are served, below /debug/pprof/.
	Pprof bool `set:"pprof" default:"false"`
	// Encryption of the admin port.
	TLS PortTLS `set:"tls"`

	token func() string
}

// Followed returns what reads the token again where it stands in a file; else nil.
func (h *HTTP) Followed() func() string { return h.token }

// PortTLS is the section http.tls.
type PortTLS struct {
	// File with the port's certificate (PEM), behind it those between it and its authority. With it the port speaks TLS and nothing else. The
	// files of this section are read again for each new connection.
	Cert string `set:"cert" example:"/etc/brine/port.pem"`
	// File with the key of the certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/port.key"`
	// File with the certificates (PEM) of authorities: who connects must show a certificate that one of them has signed. Without it nobody
	// is asked for one.
	ClientCA string `set:"client_ca" example:"/etc/brine/clients.pem"`
	// Oldest version of TLS that is spoken.
	MinVersion string `set:"min_version" default:"TLSv1.2" oneof:"TLSv1.2 TLSv1.3"`
}

// Port returns how the port is encrypted, if it is.
func (t *PortTLS) Port() certs.Port {
	return certs.Port{Files: certs.Files{CA: t.ClientCA, Cert: t.Cert, Key: t.Key}, MinVersion: tlsVersions[t.MinVersion]}
}

// Serve is the section serve.
type Serve struct {
	// Address of the API. On loopback it needs no accounts: then everybody who reaches it can read all views and tables. Elsewhere it needs
	// `accounts` and either `tls` or `trusted_proxies`. Port 0 takes a free one.
	Listen string `set:"listen" default:"127.0.0.1:8090"`
	// Names that the API may be called by, beside localhost and the addresses of loopback. `*.NAME` is every name below NAME. A request by
	// another name is refused, since a page of the web can have a browser send it and read the answer.
	Hosts []string `set:"hosts" example:"[orders.localdomain]"`
	// How long a request may take until its answer is whole; a store that is away or slow is answered with 503 by then.
	Timeout time.Duration `set:"timeout" default:"5s" min:"10ms" max:"5m"`
	// Requests that are worked on at a time; one more is answered with 503 at once.
	InFlight int `set:"in_flight" default:"256" min:"1" max:"100000"`
	// Event streams (`/views/NAME/events`) at a time; one more is answered with 503. All that ask the same are served by one question a
	// second, so this is also how many questions a second watching may cost the stores.
	Streams int `set:"streams" default:"512" min:"1" max:"100000"`
	// Encryption of the API and of its operators' port.
	TLS PortTLS `set:"tls"`
	// Networks of proxies that speak TLS and forward requests of others. Only they may send `X-Forwarded-For`, and without `tls` nobody else
	// is answered beyond loopback.
	TrustedProxies []string `set:"trusted_proxies" example:"[10.0.0.0/24]"`
	// Requests a second that one address, or one account, may send for rows of tables that are `public`.
	PublicRate int `set:"public_rate" default:"10" min:"1" max:"100000"`
	// Answers that are given again without asking the stores.
	Cache ServeCache `set:"cache"`
	// Statements of SQL over the API.
	SQL ServeSQL `set:"sql"`
	// The operators' port. Without `accounts` it shows how pipelines are, and changes nothing.
	Ops ServeOps `set:"ops"`
}

// ServeCache is the section serve.cache.
type ServeCache struct {
	// How old an answer to a GET of rows may be, as its header `Age` says; 0: none is given again, nor is one of which this process has
	// written a row since. Each account has its own, and requests with `Brine-After` or `If-None-Match` are answered from the stores.
	MaxAge time.Duration `set:"max_age" default:"0s" min:"0s" max:"1h"`
	// The same, if it is longer, of what was found by keys in tables whose pipelines all run in this process (`brine run --serve`), with all
	// partitions of their topics. Only for tables that no other program writes.
	OwnMaxAge time.Duration `set:"own_max_age" default:"0s" min:"0s" max:"1h"`
	// What all kept answers take together. One may take an eighth.
	Bytes Bytes `set:"bytes" default:"64MiB" min:"1MiB" max:"16GiB"`
}

// ServeSQL is the section serve.sql.
type ServeSQL struct {
	// How long a statement may take. One that takes longer is answered with what it has read, and says so; with 503 if HBase has answered
	// nothing at all.
	Timeout time.Duration `set:"timeout" default:"30s" min:"10ms" max:"10m"`
	// Statements that are answered at a time; one more is answered with 503 at once. Each may hold up to 32 MiB.
	InFlight int `set:"in_flight" default:"4" min:"1" max:"1000"`
}

// ServeOps is the section serve.ops.
type ServeOps struct {
	// Address of the routes that only operators need, such as those of pipelines, accounts and the audit; on the other port they are not
	// there. Port 0 takes a free one.
	Listen string `set:"listen" default:"127.0.0.1:8091"`
}

// Accounts is the section accounts.
type Accounts struct {
	// Where accounts, sessions and the audit are kept: `embedded:DIR` is a SQLite database in a folder of this machine,
	// `mysql://host:port/database` one of MySQL or MariaDB. Without it there are no accounts.
	Connect string `set:"connect" example:"embedded:./data/accounts"`
	// User of MySQL or MariaDB.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${ACCOUNTS_PASSWORD}"`
	// File with the certificates (PEM) that the server's is signed by, or `system` for the system's. Without it the connection is not
	// encrypted.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// A session that was not used for so long is over.
	SessionIdle time.Duration `set:"session_idle" default:"30m" min:"1m" max:"30d"`
	// And any session is after so long.
	SessionMax time.Duration `set:"session_max" default:"12h" min:"1m" max:"90d"`
	// Sign-in in browsers by a company's OpenID provider.
	OIDC AccountsOIDC `set:"oidc"`

	tls *tls.Config // nil: none
}

// AccountsOIDC is the section accounts.oidc.
type AccountsOIDC struct {
	// The provider, as it names itself: its configuration is read below `/.well-known/openid-configuration`. Without it nobody signs in so.
	Issuer string `set:"issuer" example:"https://login.example.com"`
	// The client that brine is at the provider.
	ClientID string `set:"client_id" example:"brine"`
	// Its secret. Take it from the environment.
	ClientSecret string `set:"client_secret,secret" example:"${OIDC_SECRET}"`
	// Where browsers reach the API. The provider is to send them back to it with `/api/v1/session/oidc/return` behind it.
	URL string `set:"url" example:"https://orders.example.com"`
	// What people call the provider; without it, its host.
	Name string `set:"name" example:"Example Ltd"`
	// What is asked of the provider beside `openid`.
	Scopes []string `set:"scopes" example:"[profile, groups]"`
	// The claim of the ID token that says which role somebody has: a text or a list of them; inside an object with dots.
	RoleClaim string `set:"role_claim" default:"groups" example:"realm_access.roles"`
	// The roles of the claim's values. Of several the greatest counts; who has none is refused.
	Roles []ClaimRole `set:"roles" example:"{ order-desk: support, it: admin }"`
	// The claim that names the account. `email` counts if the provider has verified it.
	NameClaim string `set:"name_claim" default:"preferred_username"`
	// The claim that says whose rows a customer reads. It has to be one that people cannot change at the provider.
	OwnerClaim string `set:"owner_claim" example:"customer_number"`
	// File with the certificates (PEM) that the provider's is signed by, or `system` for the system's.
	CA string `set:"ca" default:"system" example:"/etc/brine/ca.pem"`

	tls *tls.Config
}

// ClaimRole is one of accounts.oidc.roles.
type ClaimRole struct {
	Value string `set:",key"`
	// The role of accounts with the value.
	Role string `set:"role,required,short" oneof:"customer support operator admin"`
}

// Tracing is the section tracing.
type Tracing struct {
	// Where the spans of the records that are followed go: `http://host:4318` is an OpenTelemetry collector (OTLP over HTTP), `file:PATH`
	// a file to which they are appended as JSON, `stdout` the standard output. Without it no record is followed.
	To string `set:"to" example:"http://localhost:4318"`
	// Of so many records without a trace one is followed; 0: none. A record whose producer has sampled it, as its header `traceparent`
	// says, is followed in any case.
	OneIn int `set:"one_in" default:"10000" min:"0" max:"1000000000"`
}

// Map is the section map.
type Map struct {
	// A table of HBase that is brine's own, in which it keeps what the maps of all tables show, of all members and across restarts: minutes
	// for a day, quarters of an hour for a week, hours for a month. It is made when there is something to keep, with its namespace, so brine's
	// user has to be allowed to; and written once a minute, beside the records' path. Without it a map has what one process has written since
	// it started, eight hours at most.
	History string `set:"history" example:"brine:maps"`
}

// View is one of views: a kind of question that people ask. `brine check` refuses one that neither the key nor the index answers.
type View struct {
	Name string `set:",key"`
	// The table whose rows answer.
	Table string `set:"table,required" example:"logistics:scans"`
	// The fields that every question must give, each with one value; with two dots, a range instead.
	Where []string `set:"where" example:"[waybill]"`
	// The fields that a question may give besides, in any combination; with two dots, a value or a range.
	Optional []string `set:"optional" example:"[at.., station]"`
	// The order of the answer, by the first time in the key; without it, that of the key.
	Order string `set:"order" oneof:"newest oldest" example:"newest"`
	// Rows of a page, unless the question says how many: with 1 it is the newest, or the oldest, alone.
	Limit int `set:"limit" default:"100" min:"1" max:"10000"`
	// The families that a page reads; the others are read when a row is shown whole (`--whole`). Without it: all.
	Families []string `set:"families" example:"[brief]"`
	// Another table, whose rows are shown instead: found by the fields of these, with one batched get.
	Get string `set:"get" example:"shop:orders"`
	// Fields of the index by whose values `--count` counts, beside how many rows there are.
	Counts []string `set:"counts" example:"[status]"`
}
