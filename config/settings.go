package config

import (
	"crypto/tls"
	"time"

	"go.yaml.in/yaml/v3"

	"brine/internal/certs"
)

// The structs in this file and in settings_*.go are the settings. The comment above a field is its documentation, here, in
// docs/configuration.md and in the JSON Schema. Tags:
//
// set:"name,required"  name of the setting, and whether it is required
// set:",key"           the field holds the element's name in a mapping: tables: { NAME: {…} }
// set:"type,short"     an element may be written as this setting alone: at: time_ms
// set:"key,secret"     neither the value nor the text around it is ever printed
// default:"10s"        as a user would write it
// oneof:"a b"          the only texts allowed
// min:"1" max:"10"     bounds of numbers, durations and sizes
// example:"…"          YAML for the documentation

// Config is the whole of brine.yaml.
type Config struct {
	// Where to read records from.
	Kafka Kafka `set:"kafka,required"`
	// Where to write rows. Required by pipelines with rows.
	Cluster HBase `set:"hbase"`
	// Where to write documents. Required by pipelines with documents.
	Search Search `set:"search"`
	// Where to find the schemas that records name. Required by pipelines whose records are framed by a schema registry's serializers.
	Schemas Registry `set:"registry"`
	// The admin port.
	HTTP HTTP `set:"http"`
	// The HTTP API of `brine serve`.
	Serve Serve `set:"serve"`
	// Who may use the HTTP API.
	Accounts Accounts `set:"accounts"`
	// Traces of a sample of the records.
	Tracing Tracing `set:"tracing"`
	// Maps that show where and when rows are written.
	Map Map `set:"map"`
	// Memory for everything held between fetching a record and settling it: the records, mutations and documents of all pipelines together.
	// When it is used up, fetching waits. Half of it is for records. The loops of all pipelines, for rows and for documents, are each
	// guaranteed an equal share of five eighths of that half; a loop that needs more takes what the others do not use of the rest, and returns
	// it as its records settle. The other half is for mutations and documents, in equal shares that do not move.
	Memory Bytes `set:"memory" default:"64MiB" min:"16MiB" max:"1TiB"`
	// Memory limit of the process, not counting the pages of its executable. It covers what `memory` bounds, and also tables, stacks, servers
	// inside this process and the garbage collector's headroom. It becomes the collector's limit (GOMEMLIMIT); a GOMEMLIMIT in the environment
	// takes precedence. Without it, the process takes what `memory` needs, and more for more partitions or tables.
	ProcessMemory Bytes `set:"process_memory" min:"46MiB" max:"1TiB" example:"256MiB"`
	// The HBase tables to write rows to, by name: `namespace:name`, or `name` in the default namespace.
	Tables []*Table `set:"tables" example:"{ logistics:scans: {…} }"`
	// The search indexes to write documents to, by name.
	Indexes []*Index `set:"indexes" example:"{ scans: {…} }"`
	// What to read and what to make of it, by name. The name is part of the consumer groups, `<group>.<pipeline>.rows` and
	// `<group>.<pipeline>.documents`: a renamed pipeline starts from the beginning.
	Pipelines []*Pipeline `set:"pipelines,required" example:"{ scans: {…} }"`
	// Questions that tables and indexes answer, by name. `brine query NAME field=value …` asks one; `brine query --views` lists them.
	Views []*View `set:"views" example:"{ waybill: {…} }"`

	shared  *sharedRegistry
	renewed *renewed

	source  source            // where it was loaded from
	written *yaml.Node        // without secrets
	shown   map[string]string // by setting: what to show for values that come from a variable or a file
	files   map[string]string // by setting: see Renewals
}

// HTTP is the section http.
type HTTP struct {
	// Address of the admin port. It serves /metrics, /healthz and /readyz to everybody. To requests that present `token`, or, if there is
	// none, to those on the same machine, it also serves the state of tables and pipelines, and lets them pause and reload pipelines. Port 0
	// picks a free port. `unix:/run/brine/admin.sock` is a Unix socket instead, which only brine's user may connect to, and which needs no
	// token.
	Listen string `set:"listen" default:"127.0.0.1:8765"`
	// How long a partition with records to read may stand still before /healthz answers 503 and names it.
	Stall time.Duration `set:"stall" default:"1m" min:"100ms" max:"1d"`
	// Host names that requests to the admin port may use, besides localhost, the host of `listen` and IP addresses, which are always allowed.
	// `*.NAME` is every name below NAME. Requests with other names are refused, because a web page could make a browser send them and read the
	// answer.
	Hosts []string `set:"hosts" example:"[brine.example.com]"`
	// Token that requests must present (`Authorization: Bearer TOKEN`), on this machine too, to get more than metrics and health. At least 16
	// visible characters. Take it from the environment, as the commands that call the admin port do: BRINE_HTTP_TOKEN.
	Token string `set:"token,secret" example:"${ADMIN_TOKEN}"`
	// Whether to serve profiles of the process below /debug/pprof/.
	Pprof bool `set:"pprof" default:"false"`
	// Encryption of the admin port.
	TLS PortTLS `set:"tls"`

	token func() string
}

// Followed returns a function that reads the token again if it comes from a file, else nil.
func (h *HTTP) Followed() func() string { return h.token }

// PortTLS is the section http.tls.
type PortTLS struct {
	// File with the port's certificate (PEM), followed by the intermediate certificates. With it, the port speaks only TLS. Brine reads the
	// files of this section again for each new connection.
	Cert string `set:"cert" example:"/etc/brine/port.pem"`
	// File with the certificate's key (PEM).
	Key string `set:"key,secret" example:"/etc/brine/port.key"`
	// File with CA certificates (PEM). Clients must then present a certificate signed by one of these CAs. Without it, clients need no
	// certificate.
	ClientCA string `set:"client_ca" example:"/etc/brine/clients.pem"`
	// Oldest TLS version to accept.
	MinVersion string `set:"min_version" default:"TLSv1.2" oneof:"TLSv1.2 TLSv1.3"`
}

// Port returns the port's encryption, if it has any.
func (t *PortTLS) Port() certs.Port {
	return certs.Port{Files: certs.Files{CA: t.ClientCA, Cert: t.Cert, Key: t.Key}, MinVersion: tlsVersions[t.MinVersion]}
}

// Serve is the section serve.
type Serve struct {
	// Address of the API. On loopback it needs no accounts, and everybody who reaches it can read all views and tables. On other addresses it
	// needs `accounts`, and either `tls` or `trusted_proxies`. Port 0 picks a free port.
	Listen string `set:"listen" default:"127.0.0.1:8090"`
	// Host names that requests to the API may use, besides localhost and the loopback addresses. `*.NAME` is every name below NAME. Requests
	// with other names are refused, because a web page could make a browser send them and read the answer.
	Hosts []string `set:"hosts" example:"[orders.localdomain]"`
	// Longest time until a request is answered completely. If a store is down or slow, the answer is 503 by then.
	Timeout time.Duration `set:"timeout" default:"5s" min:"10ms" max:"5m"`
	// Requests served at a time. Further ones get 503 at once, unless a client has left its answer unread for 2 s: then that answer is cut
	// off.
	InFlight int `set:"in_flight" default:"256" min:"1" max:"100000"`
	// Event streams (`/views/NAME/events`) open at a time. Further ones get 503. Streams with the same question share one query per second, so
	// this also bounds the queries per second that streams send to the stores.
	Streams int `set:"streams" default:"512" min:"1" max:"100000"`
	// Encryption of the API and of the operators' port.
	TLS PortTLS `set:"tls"`
	// Networks of proxies that terminate TLS and forward requests. Only they may send `X-Forwarded-For`. Without `tls`, only they and loopback
	// are answered.
	TrustedProxies []string `set:"trusted_proxies" example:"[10.0.0.0/24]"`
	// Requests per second that one address, or one account, may send for rows of `public` tables.
	PublicRate int `set:"public_rate" default:"10" min:"1" max:"100000"`
	// Cache of answers.
	Cache ServeCache `set:"cache"`
	// SQL statements over the API.
	SQL ServeSQL `set:"sql"`
	// The operators' port. Without `accounts` it shows the state of pipelines but changes nothing.
	Ops ServeOps `set:"ops"`
}

// ServeCache is the section serve.cache.
type ServeCache struct {
	// How old a cached answer to a GET of rows may be; the `Age` header gives its age. 0 caches no answers. An answer is dropped when this
	// process writes one of its rows. Each account has its own answers. Requests with `Brine-After` or `If-None-Match` always ask the stores.
	MaxAge time.Duration `set:"max_age" default:"0s" min:"0s" max:"1h"`
	// The same, if longer, for answers found by key in tables whose pipelines all run in this process (`brine run --serve`) with all
	// partitions of their topics. Use it only for tables that no other program writes.
	OwnMaxAge time.Duration `set:"own_max_age" default:"0s" min:"0s" max:"1h"`
	// Memory for all cached answers. One answer may take an eighth of it.
	Bytes Bytes `set:"bytes" default:"64MiB" min:"1MiB" max:"16GiB"`
}

// ServeSQL is the section serve.sql.
type ServeSQL struct {
	// Longest time for a statement. After it, the answer holds the rows read so far and says that it is incomplete, or is 503 if HBase has not
	// answered at all.
	Timeout time.Duration `set:"timeout" default:"30s" min:"10ms" max:"10m"`
	// Statements that read HBase at a time. Further ones get 503 at once. Each may hold up to 32 MiB. Answers that clients read slowly may
	// hold as much again; beyond that, brine cuts off the oldest of them.
	InFlight int `set:"in_flight" default:"4" min:"1" max:"1000"`
}

// ServeOps is the section serve.ops.
type ServeOps struct {
	// Address of the operators' routes, such as those for pipelines, accounts and the audit. The other port does not serve them. Port 0 picks
	// a free port.
	Listen string `set:"listen" default:"127.0.0.1:8091"`
}

// Accounts is the section accounts.
type Accounts struct {
	// Where to store accounts, sessions and the audit: `embedded:DIR` is a SQLite database in a local folder, `mysql://host:port/database` a
	// MySQL or MariaDB database. Without it there are no accounts.
	Connect string `set:"connect" example:"embedded:./data/accounts"`
	// User of the MySQL or MariaDB server.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${ACCOUNTS_PASSWORD}"`
	// File with the CA certificates (PEM) that verify the server, or `system` for those of the system. Without it the connection is not
	// encrypted.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// How long a session may go unused before it ends.
	SessionIdle time.Duration `set:"session_idle" default:"30m" min:"1m" max:"30d"`
	// How long any session may last.
	SessionMax time.Duration `set:"session_max" default:"12h" min:"1m" max:"90d"`
	// Browser sign-in through a company's OpenID provider.
	OIDC AccountsOIDC `set:"oidc"`

	password func() string
	tls      func() *tls.Config // nil: none
}

// AccountsOIDC is the section accounts.oidc.
type AccountsOIDC struct {
	// Issuer URL of the provider, which serves its configuration below it at `/.well-known/openid-configuration`. Without it there is no such
	// sign-in.
	Issuer string `set:"issuer" example:"https://login.example.com"`
	// Client ID of brine at the provider.
	ClientID string `set:"client_id" example:"brine"`
	// Client secret. Take it from the environment.
	ClientSecret string `set:"client_secret,secret" example:"${OIDC_SECRET}"`
	// URL at which browsers reach the API. The provider sends them back to `/api/v1/session/oidc/return` below it.
	URL string `set:"url" example:"https://orders.example.com"`
	// Name of the provider to show to people. Without it: the provider's host.
	Name string `set:"name" example:"Example Ltd"`
	// Scopes to request besides `openid`.
	Scopes []string `set:"scopes" example:"[profile, groups]"`
	// Claim of the ID token that holds a person's roles, as a text or a list of texts. Dots lead into objects.
	RoleClaim string `set:"role_claim" default:"groups" example:"realm_access.roles"`
	// Roles by value of the claim. If several match, the highest role applies. Without a match, sign-in is refused.
	Roles []ClaimRole `set:"roles" example:"{ order-desk: support, it: admin }"`
	// Claim that names the account. `email` counts only if the provider has verified it.
	NameClaim string `set:"name_claim" default:"preferred_username"`
	// Claim that names the owner whose rows a customer may read. People must not be able to change it at the provider.
	OwnerClaim string `set:"owner_claim" example:"customer_number"`
	// File with the CA certificates (PEM) that verify the provider, or `system` for those of the system.
	CA string `set:"ca" default:"system" example:"/etc/brine/ca.pem"`

	clientSecret func() string
	tls          func() *tls.Config // nil for the system's certificates
}

// ClaimRole is one of accounts.oidc.roles.
type ClaimRole struct {
	Value string `set:",key"`
	// Role of accounts with this value.
	Role string `set:"role,required,short" oneof:"customer support operator admin"`
}

// Tracing is the section tracing.
type Tracing struct {
	// Where to send the spans of traced records: `http://host:4318` is an OpenTelemetry collector (OTLP over HTTP), `file:PATH` appends them
	// to a file as JSON, `stdout` prints them. Without it no record is traced.
	To string `set:"to" example:"http://localhost:4318"`
	// Trace one in so many of the records that carry no trace; 0 traces none of them. Records that their producer sampled, according to their
	// `traceparent` header, are always traced.
	OneIn int `set:"one_in" default:"10000" min:"0" max:"1000000000"`
}

// Map is the section map.
type Map struct {
	// HBase table of brine's own that stores the maps of all tables and members across restarts: by minutes for a day, by quarters of an hour
	// for a week, by hours for a month. Brine creates it, with its namespace, when there is something to store, so brine's user needs the
	// right to do so. It is written once a minute, apart from the records' path. Without it, a map shows what one process has written since it
	// started, for eight hours at most.
	History string `set:"history" example:"brine:maps"`
}

// View is one of views: a kind of question that people ask. `brine check` rejects a view that neither the key nor the index can answer.
type View struct {
	Name string `set:",key"`
	// Table whose rows answer the question.
	Table string `set:"table,required" example:"logistics:scans"`
	// Fields that every question must bind to one value, or to a range if followed by two dots.
	Where []string `set:"where" example:"[waybill]"`
	// Further fields that a question may bind, in any combination. With two dots, to a value or a range.
	Optional []string `set:"optional" example:"[at.., station]"`
	// Order of the rows, by the first time in the key, which must hold it as exactly as the field unless nothing follows it. Without it: the
	// order of the key.
	Order string `set:"order" oneof:"newest oldest" example:"newest"`
	// Rows per page, unless the question gives a number. With 1, the answer is only the newest or the oldest row.
	Limit int `set:"limit" default:"100" min:"1" max:"10000"`
	// Families that a page reads. The others are read when a row is shown whole (`--whole`). Without it: all.
	Families []string `set:"families" example:"[brief]"`
	// Another table whose rows to show instead. They are found by the fields of this view's rows, with one batched get.
	Get string `set:"get" example:"shop:orders"`
	// Index fields by whose values `--count` counts, besides the total number of rows.
	Counts []string `set:"counts" example:"[status]"`
}
