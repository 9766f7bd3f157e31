package config

import (
	"crypto/tls"
	"time"
)

// HBase is the section hbase. The names in brackets are HBase's own settings.
type HBase struct {
	// Where the cluster is. `rpc://host:port,host:port` names masters (HBase 2.4 or later) or region servers (2.5 or later).
	// `zk://host:port,host:port/znode` names ZooKeeper servers and the cluster's zookeeper.znode.parent (any HBase 2). HBase 3 writes these as
	// `hbase+rpc://` and `hbase+zk://`, which work too. `embedded:DIR` runs an HBase inside this process that stores its data in DIR.
	Connect string `set:"connect" example:"rpc://master1:16000,master2:16000"`
	// Credentials for ZooKeeper, as user:password of scheme digest, if HBase's znodes are not readable by everybody. Take them from the
	// environment or a file. They are sent in plain text unless tls.zookeeper is on.
	ZooKeeperAuth string `set:"zookeeper_auth,secret" example:"${ZOOKEEPER_AUTH}"`
	// User name to send to the cluster (SIMPLE authentication). Without it: the user of the process.
	User string `set:"user" example:"brine"`
	// Pause before the first retry; it grows with each further one [hbase.client.pause].
	Pause time.Duration `set:"pause" default:"100ms" min:"1ms" max:"10m"`
	// The same if the server reports that it is overloaded [hbase.client.pause.server.overloaded].
	PauseServerOverloaded time.Duration `set:"pause_server_overloaded" default:"500ms" min:"1ms" max:"10m"`
	// Number of times to retry a mutation before its event is handed back and submitted again [hbase.client.retries.number]. A read also gives
	// up after operation_timeout.
	Retries int `set:"retries" default:"15" min:"1" max:"1000"`
	// Longest wait for the response to one call [hbase.rpc.timeout].
	RPCTimeout time.Duration `set:"rpc_timeout" default:"60s" min:"10ms" max:"1d"`
	// Longest time for one mutation or get, with all its retries [hbase.client.operation.timeout].
	OperationTimeout time.Duration `set:"operation_timeout" default:"20m" min:"10ms" max:"7d"`
	// Longest wait for the next rows of a scan [hbase.client.scanner.timeout.period].
	ScannerTimeout time.Duration `set:"scanner_timeout" default:"60s" min:"10ms" max:"1d"`
	// Longest wait for a connection [hbase.ipc.client.socket.timeout.connect].
	DialTimeout time.Duration `set:"dial_timeout" default:"10s" min:"1ms" max:"1h"`
	// Idle time after which the operating system probes the peer. If the peer does not answer for as long again, the connection is dropped
	// [hbase.ipc.client.tcpkeepalive]. A server that is reachable but does not answer a call is given up after rpc_timeout.
	TCPKeepAlive time.Duration `set:"tcp_keepalive" default:"15s" min:"3s" max:"1h"`
	// Whether to send small calls at once, instead of waiting for more to share their packet [hbase.ipc.client.tcpnodelay].
	TCPNoDelay bool `set:"tcp_nodelay" default:"true"`
	// Maximum number of mutations per call [hbase.client.max.perrequest.rows].
	MaxRequestRows int `set:"max_request_rows" default:"2048" min:"1" max:"100000"`
	// Maximum number of bytes per call [hbase.client.max.perrequest.heapsize].
	MaxRequestBytes Bytes `set:"max_request_bytes" default:"4MiB" min:"64KiB" max:"256MiB"`
	// Maximum number of pending calls per server [hbase.client.max.perserver.tasks].
	MaxServerCalls int `set:"max_server_calls" default:"2" min:"1" max:"100"`
	// Maximum size of a cell; a larger one is a dead letter [hbase.client.keyvalue.maxsize].
	MaxCellBytes Bytes `set:"max_cell_bytes" default:"10MiB" min:"1KiB" max:"256MiB"`
	// Compression of cells between brine and the region servers, in both directions [hbase.client.rpc.compressor]. The servers must have the
	// codec's library, which is always the case for `gzip`. It saves network bandwidth and costs CPU time on both sides.
	Compression string `set:"compression" default:"none" oneof:"none gzip snappy lz4 zstd"`
	// Encryption of the connections to the servers.
	TLS HBaseTLS `set:"tls"`
	// Kerberos authentication to the servers. It is on if a keytab or a ticket cache is set.
	Kerberos HBaseKerberos `set:"kerberos"`

	patience time.Duration // see Config.Within
}

// Search is the section search.
type Search struct {
	// Where the search engine is: URLs of Elasticsearch or OpenSearch nodes, separated by commas, or `embedded:DIR` for an index inside this
	// process that stores its data in DIR.
	Connect string `set:"connect" example:"http://localhost:9200"`
	// User name, if the engine requires one.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${SEARCH_PASSWORD}"`
	// API key instead of user and password: base64 of id:key. Take it from the environment.
	APIKey string `set:"api_key,secret" example:"${SEARCH_API_KEY}"`
	// File with the CA certificates (PEM) that verify the engine. Without it: those of the system.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// Analyzer that splits `text` fields of a new index into words. The engine must have it; `smartcn` and `ik_smart` handle Chinese.
	Analyzer string `set:"analyzer" default:"standard"`
	// Primary shards of a new index.
	Shards int `set:"shards" default:"1" min:"1" max:"1024"`
	// Copies of each shard. `brine tables apply` updates existing indexes.
	Replicas int `set:"replicas" default:"1" min:"0" max:"100"`
	// How soon written documents can be found. `brine tables apply` updates existing indexes.
	Refresh time.Duration `set:"refresh" default:"1s" min:"1ms" max:"1d"`
	// Maximum number of pending bulk calls per pipeline.
	Calls int `set:"calls" default:"3" min:"1" max:"64"`
	// Maximum number of documents per bulk call.
	MaxBulkDocuments int `set:"max_bulk_documents" default:"1000" min:"1" max:"100000"`
	// Maximum number of bytes per bulk call.
	MaxBulkBytes Bytes `set:"max_bulk_bytes" default:"4MiB" min:"1KiB" max:"100MiB"`
	// Maximum size of a document; a larger one is a dead letter.
	MaxDocumentBytes Bytes `set:"max_document_bytes" default:"8MiB" min:"1KiB" max:"100MiB"`
	// Longest wait for the response to one call.
	CallTimeout time.Duration `set:"call_timeout" default:"60s" min:"1ms" max:"1h"`
	// How long to retry a document before its event is handed back and submitted again.
	RetryFor time.Duration `set:"retry_for" default:"30s" min:"1ms" max:"1d"`
	// Pause before the first retry; it doubles up to max_pause.
	Pause time.Duration `set:"pause" default:"100ms" min:"1ms" max:"1m"`
	// Longest pause.
	MaxPause time.Duration `set:"max_pause" default:"5s" min:"1ms" max:"1h"`
	// How often to search each index for a document until it is found. These searches feed the metrics of when documents become searchable.
	Probe time.Duration `set:"probe" default:"5s" min:"100ms" max:"1d"`

	tls      func() *tls.Config // nil for the system's certificates
	secrets  func() (password, apiKey string)
	answer   int64         // largest response to read
	patience time.Duration // see Config.Within
}

// Registry is the section registry.
type Registry struct {
	// URLs of the schema registry's servers, separated by commas, up to the part before `/schemas`. Confluent, Karapace and Redpanda serve at
	// `http://host:8081`, Apicurio below `/apis/ccompat/v7`.
	URL string `set:"url" example:"http://localhost:8081"`
	// How records name their schema. `confluent`: by the header __value_schema_id (for keys: __key_schema_id), else by their first five bytes,
	// or 17 with a GUID. `apicurio`: by the header apicurio.value.contentId or globalId (for keys: apicurio.key.…), else by a contentId in
	// their first five bytes. `apicurio8`: by a contentId in their first nine bytes, as older serializers write it. `apicurio_global` and
	// `apicurio8_global`: the same with a globalId, from serializers with `use-id: globalId`.
	Framing string `set:"framing" default:"confluent" oneof:"confluent apicurio apicurio8 apicurio_global apicurio8_global"`
	// User name, if the registry requires one.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password,secret" example:"${REGISTRY_PASSWORD}"`
	// Bearer token instead of user and password. Take it from the environment.
	Token string `set:"token,secret" example:"${REGISTRY_TOKEN}"`
	// Certificates for connections to `https://` URLs.
	TLS RegistryTLS `set:"tls"`
	// Folder that caches schemas, so that a restart needs no registry for schemas seen before. What an id names never changes; if the registry
	// is created again under the same URL, delete the folder. Without it schemas are kept only in memory.
	Cache string `set:"cache" example:"./data/schemas"`
	// Longest wait for one response.
	Timeout time.Duration `set:"timeout" default:"10s" min:"10ms" max:"10m"`
	// How long brine treats an id as possibly valid after it first asked for it and the registry did not know it, because a restarting
	// registry may not have read all of its schemas. Records with the id wait that long, then become dead letters.
	UnknownAfter time.Duration `set:"unknown_after" default:"1m" min:"1ms" max:"1d"`

	tls     func() *tls.Config // nil for the system's certificates
	secrets func() (password, token string)
}

// RegistryTLS is the section registry.tls.
type RegistryTLS struct {
	// File with the CA certificates (PEM) that verify the registry. Without it: those of the system.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with brine's own certificate (PEM), if the registry requires one.
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of brine's certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that the registry's certificate must contain. Without it: the host of `url`.
	ServerName string `set:"server_name" example:"registry.example.com"`
}

// HBaseTLS is the section hbase.tls.
type HBaseTLS struct {
	// Whether to encrypt the connections to masters and region servers. Nothing is then sent to them in plain text. Brine reads the files of
	// this section again for each new connection.
	Enabled bool `set:"enabled" default:"false"`
	// File with the CA certificates (PEM) that verify the servers. Without it: those of the system.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// File with brine's own certificate (PEM), if servers require one [hbase.server.netty.tls.client.auth.mode].
	Cert string `set:"cert" example:"/etc/brine/brine.pem"`
	// File with the key of brine's certificate (PEM).
	Key string `set:"key,secret" example:"/etc/brine/brine.key"`
	// Name that every server's certificate must contain. Without it: the name that brine connects to, which for region servers is the name
	// that HBase knows them by.
	ServerName string `set:"server_name" example:"hbase.example.com"`
	// Oldest TLS version to accept. Servers accept only TLSv1.2 unless configured otherwise [hbase.rpc.tls.enabledProtocols].
	MinVersion string `set:"min_version" default:"TLSv1.2" oneof:"TLSv1.2 TLSv1.3"`
	// Whether to encrypt sessions with ZooKeeper too, with the same files [zookeeper.client.secure]. `connect` must then name its secure port
	// [zookeeper's secureClientPort].
	ZooKeeper bool `set:"zookeeper" default:"false"`
}

// HBaseKerberos is the section hbase.kerberos. Connections to ZooKeeper are not authenticated.
type HBaseKerberos struct {
	// Brine's principal: name@REALM or name/host@REALM. Without a realm: the default_realm of krb5.conf. With a ticket cache it may be left
	// out.
	Principal string `set:"principal" example:"brine@EXAMPLE.COM"`
	// File with the principal's AES keys. Brine reads it again at each login, after 5/6 of a ticket's lifetime.
	Keytab string `set:"keytab" example:"/etc/brine/brine.keytab"`
	// File with a ticket as written by kinit, instead of a keytab. Brine reads it again after 5/6 of the ticket's lifetime. If it holds no
	// newer ticket by then, brine renews the ticket as long as possible.
	TicketCache string `set:"ticket_cache" example:"/run/brine/krb5cc"`
	// File that names the KDCs of the realms. Without it: the file in the environment's KRB5_CONFIG, else /etc/krb5.conf.
	Krb5Conf string `set:"krb5_conf" example:"/etc/brine/krb5.conf"`
	// Principal of masters and region servers [hbase.master.kerberos.principal, hbase.regionserver.kerberos.principal]. _HOST stands for each
	// server's host name, found by looking up its address, or as given if krb5.conf says rdns = false.
	ServerPrincipal string `set:"server_principal" default:"hbase/_HOST" example:"hbase/_HOST@EXAMPLE.COM"`
	// Protection of the connection: `auth` (only authentication of both sides), `auth-int` (integrity too) or `auth-conf` (integrity and
	// encryption too). The servers must offer it [hbase.rpc.protection: authentication, integrity, privacy].
	QOP string `set:"qop" default:"auth" oneof:"auth auth-int auth-conf"`
}
