package config

import (
	"crypto/tls"
	"time"
)

// HBase is the section hbase. The names in brackets are HBase's own settings.
type HBase struct {
	// Where the cluster is: `rpc://host:port,host:port` names masters (HBase 2.4 or later) or region servers (2.5 or later),
	// `zk://host:port,host:port/znode` ZooKeeper servers and the cluster's zookeeper.znode.parent (any HBase 2); HBase 3 writes
	// `hbase+rpc://` and `hbase+zk://`, which are the same;
	// `embedded:DIR` runs an HBase inside this process that keeps its data in DIR.
	Connect string `set:"connect" example:"rpc://master1:16000,master2:16000"`
	// The credentials for ZooKeeper, as user:password of scheme digest, where HBase's znodes may not be read by everybody. Take it from the
	// environment or a file; it travels as it is unless tls.zookeeper is on.
	ZooKeeperAuth string `set:"zookeeper_auth,secret" example:"${ZOOKEEPER_AUTH}"`
	// User that the cluster sees (SIMPLE authentication). Without it: the user of the process.
	User string `set:"user" example:"brine"`
	// First pause before a retry; it grows with each [hbase.client.pause].
	Pause time.Duration `set:"pause" default:"100ms" min:"1ms" max:"10m"`
	// The same when the server says that it is overloaded [hbase.client.pause.server.overloaded].
	PauseServerOverloaded time.Duration `set:"pause_server_overloaded" default:"500ms" min:"1ms" max:"10m"`
	// Times that a mutation is sent again before its event is handed back, to be submitted again
	// [hbase.client.retries.number]. A read is given up when operation_timeout is over as well.
	Retries int `set:"retries" default:"15" min:"1" max:"1000"`
	// Longest wait for the answer to one call [hbase.rpc.timeout].
	RPCTimeout time.Duration `set:"rpc_timeout" default:"60s" min:"10ms" max:"1d"`
	// Longest time for one mutation or get with all its retries [hbase.client.operation.timeout].
	OperationTimeout time.Duration `set:"operation_timeout" default:"20m" min:"10ms" max:"7d"`
	// Longest wait for the next rows of a scan [hbase.client.scanner.timeout.period].
	ScannerTimeout time.Duration `set:"scanner_timeout" default:"60s" min:"10ms" max:"1d"`
	// Longest wait for a connection [hbase.ipc.client.socket.timeout.connect].
	DialTimeout time.Duration `set:"dial_timeout" default:"10s" min:"1ms" max:"1h"`
	// Silence after which the system asks whether the other machine is still there; when it has not answered for as long again, the
	// connection is given up [hbase.ipc.client.tcpkeepalive]. A server that is there and does not answer a call is given up after
	// rpc_timeout.
	TCPKeepAlive time.Duration `set:"tcp_keepalive" default:"15s" min:"3s" max:"1h"`
	// Whether small calls leave at once, instead of waiting for more that might share their packet [hbase.ipc.client.tcpnodelay].
	TCPNoDelay bool `set:"tcp_nodelay" default:"true"`
	// Most mutations in one call [hbase.client.max.perrequest.rows].
	MaxRequestRows int `set:"max_request_rows" default:"2048" min:"1" max:"100000"`
	// Most bytes in one call [hbase.client.max.perrequest.heapsize].
	MaxRequestBytes Bytes `set:"max_request_bytes" default:"4MiB" min:"64KiB" max:"256MiB"`
	// Calls that may be pending at one server at a time [hbase.client.max.perserver.tasks].
	MaxServerCalls int `set:"max_server_calls" default:"2" min:"1" max:"100"`
	// Largest cell; a larger one is a dead letter [hbase.client.keyvalue.maxsize].
	MaxCellBytes Bytes `set:"max_cell_bytes" default:"10MiB" min:"1KiB" max:"256MiB"`
	// How cells are compressed between brine and the region servers, both ways [hbase.client.rpc.compressor]; they must have the
	// codec's library, which for `gzip` they always do. It spares a slow network and costs processor time, ours and the servers'.
	Compression string `set:"compression" default:"none" oneof:"none gzip snappy lz4 zstd"`
	// Encryption of the connections to the servers.
	TLS HBaseTLS `set:"tls"`
	// Who we are to the servers, by Kerberos: there with a keytab or a ticket cache.
	Kerberos HBaseKerberos `set:"kerberos"`

	patience time.Duration // see Config.Within
}

// Search is the section search.
type Search struct {
	// Where the search engine is: URLs of Elasticsearch or OpenSearch nodes, separated by commas, or `embedded:DIR` for an
	// index inside this process that keeps its data in DIR.
	Connect string `set:"connect" example:"http://localhost:9200"`
	// User name, if the engine asks for one.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${SEARCH_PASSWORD}"`
	// Key instead of user and password: base64 of id:key. Take it from the environment.
	APIKey string `set:"api_key,secret" example:"${SEARCH_API_KEY}"`
	// File with the certificates (PEM) that the engine's is signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// How `text` fields of a new index are cut into words; the engine must have it: `smartcn` and `ik_smart` know Chinese.
	Analyzer string `set:"analyzer" default:"standard"`
	// Primary shards of a new index.
	Shards int `set:"shards" default:"1" min:"1" max:"1024"`
	// Copies of each shard. `brine tables apply` changes those of indexes that exist.
	Replicas int `set:"replicas" default:"1" min:"0" max:"100"`
	// How soon what was written can be found. `brine tables apply` changes it of indexes that exist.
	Refresh time.Duration `set:"refresh" default:"1s" min:"1ms" max:"1d"`
	// Bulk calls that may be pending at a time, for each pipeline.
	Calls int `set:"calls" default:"3" min:"1" max:"64"`
	// Most documents in one bulk call.
	MaxBulkDocuments int `set:"max_bulk_documents" default:"1000" min:"1" max:"100000"`
	// Most bytes in one bulk call.
	MaxBulkBytes Bytes `set:"max_bulk_bytes" default:"4MiB" min:"1KiB" max:"100MiB"`
	// Largest document; a larger one is a dead letter.
	MaxDocumentBytes Bytes `set:"max_document_bytes" default:"8MiB" min:"1KiB" max:"100MiB"`
	// Longest wait for the answer to one call.
	CallTimeout time.Duration `set:"call_timeout" default:"60s" min:"1ms" max:"1h"`
	// How long a document is sent again before its event is handed back, to be submitted again.
	RetryFor time.Duration `set:"retry_for" default:"30s" min:"1ms" max:"1d"`
	// First pause before it is sent again; it doubles up to max_pause.
	Pause time.Duration `set:"pause" default:"100ms" min:"1ms" max:"1m"`
	// Longest pause.
	MaxPause time.Duration `set:"max_pause" default:"5s" min:"1ms" max:"1h"`
	// How often a document of each index is searched for until it is found: the metrics of when documents become searchable come from
	// these searches.
	Probe time.Duration `set:"probe" default:"5s" min:"100ms" max:"1d"`

	ca       []byte // what CA names
	secrets  func() (password, apiKey string)
	answer   int64         // the longest that is read
	patience time.Duration // see Config.Within
}

// Registry is the section registry.
type Registry struct {
	// Where the schema registry is: URLs of its servers, separated by commas, up to where `/schemas` begins. Confluent, Karapace and Redpanda
	// have theirs at `http://host:8081`, an Apicurio below `/apis/ccompat/v7`.
	URL string `set:"url" example:"http://localhost:8081"`
	// How records name their schema. `confluent`: by the header __value_schema_id (of keys: __key_schema_id), else by their first five bytes,
	// or 17 with a GUID. `apicurio`: by the header apicurio.value.contentId or globalId (of keys: apicurio.key.…), else by a contentId in
	// their first five bytes; `apicurio8`: by one in their first nine, of older serializers. `apicurio_global` and `apicurio8_global`: the
	// same with a globalId, of serializers with `use-id: globalId`.
	Framing string `set:"framing" default:"confluent" oneof:"confluent apicurio apicurio8 apicurio_global apicurio8_global"`
	// User name, if the registry asks for one.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${REGISTRY_PASSWORD}"`
	// Bearer token instead of user and password. Take it from the environment.
	Token string `set:"token,secret" example:"${REGISTRY_TOKEN}"`
	// Certificates of connections to `https://` URLs.
	TLS RegistryTLS `set:"tls"`
	// Folder in which schemas are kept, so that a restart needs no registry for those that were seen before. What an id names never changes:
	// if the registry is created again, under the same URL, delete the folder. Without it they are kept in memory alone.
	Cache string `set:"cache" example:"./data/schemas"`
	// Longest wait for one answer.
	Timeout time.Duration `set:"timeout" default:"10s" min:"10ms" max:"10m"`
	// How long an id may be one that the registry does not know, from when it was first asked for: a registry that restarts may not have read
	// all of its schemas. Records of the id wait for so long, then they are dead letters.
	UnknownAfter time.Duration `set:"unknown_after" default:"1m" min:"1ms" max:"1d"`

	tls     *tls.Config // nil for the system's certificates
	secrets func() (password, token string)
}

// RegistryTLS is the section registry.tls.
type RegistryTLS struct {
	// File with the certificates (PEM) that the registry's is signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with our own certificate (PEM), where the registry asks for one.
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of our certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that the registry's certificate must hold. Without it: the host's of `url`.
	ServerName string `set:"server_name" example:"registry.example.com"`
}

// HBaseTLS is the section hbase.tls.
type HBaseTLS struct {
	// Whether the connections to masters and region servers are encrypted. Then nothing is sent to them in plain text. The files of this
	// section are read again for each new connection.
	Enabled bool `set:"enabled" default:"false"`
	// File with the certificates (PEM) that the servers' are signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with our own certificate (PEM), where servers ask for one [hbase.server.netty.tls.client.auth.mode].
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of our certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that every server's certificate must hold. Without it: the name by which each is dialled, which for region servers is the one
	// that HBase knows them by.
	ServerName string `set:"server_name" example:"hbase.example.com"`
	// Oldest version of TLS that is spoken; servers take TLSv1.2 alone unless they are set otherwise [hbase.rpc.tls.enabledProtocols].
	MinVersion string `set:"min_version" default:"TLSv1.2" oneof:"TLSv1.2 TLSv1.3"`
	// Whether sessions with ZooKeeper are encrypted too, by the same files [zookeeper.client.secure]. Then `connect` names its secure port
	// [zookeeper's secureClientPort].
	ZooKeeper bool `set:"zookeeper" default:"false"`
}

// HBaseKerberos is the section hbase.kerberos. Connections to ZooKeeper are not authenticated.
type HBaseKerberos struct {
	// Principal that we are: name@REALM or name/host@REALM. Without a realm: the default_realm of krb5.conf; with a ticket cache it may be
	// left out.
	Principal string `set:"principal" example:"brine@EXAMPLE.COM"`
	// File with the principal's keys, of AES. It is read again at each login, which is when 5/6 of a ticket's life are over.
	Keytab string `set:"keytab" example:"/etc/brine/brine.keytab"`
	// Instead of a keytab: file with a ticket, as kinit writes it. It is read again when 5/6 of the ticket's life are over; if it holds no
	// newer one by then, the ticket is renewed as long as it can be.
	TicketCache string `set:"ticket_cache" example:"/run/brine/krb5cc"`
	// File that names the KDCs of the realms. Without it: what the environment's KRB5_CONFIG names, else /etc/krb5.conf.
	Krb5Conf string `set:"krb5_conf" example:"/etc/brine/krb5.conf"`
	// Principal of masters and region servers [hbase.master.kerberos.principal, hbase.regionserver.kerberos.principal]; _HOST stands for the
	// host of each, as its address is looked up, or as it is named if krb5.conf says rdns = false.
	ServerPrincipal string `set:"server_principal" default:"hbase/_HOST" example:"hbase/_HOST@EXAMPLE.COM"`
	// Protection of what is sent: `auth` (none beyond the proof of who both sides are), `auth-int` (it cannot be changed) or `auth-conf` (nor
	// read). The servers must offer it [hbase.rpc.protection: authentication, integrity, privacy].
	QOP string `set:"qop" default:"auth" oneof:"auth auth-int auth-conf"`
}
