package config

import (
	"crypto/tls"
	"time"

	"github.com/segmentio/kafka-go/sasl"

	"brine/rowkey"
)

// The structs of this file are the settings. A comment above a field is its documentation, here and in
// docs/configuration.md and the JSON Schema. Tags:
//
//	set:"name,required"  name of the setting; required if so
//	set:",key"           the field takes the name that its element has in a mapping: tables: { NAME: {…} }
//	set:"type,short"     an element may be written as this setting alone: at: time_ms
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
	// The admin port.
	HTTP HTTP `set:"http"`
	// Traces of some records.
	Tracing Tracing `set:"tracing"`
	// Everything that is held between fetching a record and settling it: records, mutations and documents of all
	// pipelines together. When it is spent, fetching waits. The loops of all pipelines, for rows and for documents, have
	// equal shares, so that none that waits takes another's room.
	Memory Bytes `set:"memory" default:"64MiB" min:"16MiB" max:"1TiB"`
	// The HBase tables that rows are written to, by name: `namespace:name`, or `name` in the default namespace.
	Tables []*Table `set:"tables" example:"{ logistics:scans: {…} }"`
	// The search indexes that documents are written to, by name.
	Indexes []*Index `set:"indexes" example:"{ scans: {…} }"`
	// What is read and what becomes of it, by name. The name is part of the consumer groups: `<group>.<pipeline>.rows` and
	// `<group>.<pipeline>.documents`. Renaming a pipeline makes it start anew.
	Pipelines []*Pipeline `set:"pipelines,required" example:"{ scans: {…} }"`
	// What is asked of the tables and indexes, by name: `brine query NAME field=value …` answers, and `brine query --views` lists them.
	Views []*View `set:"views" example:"{ waybill: {…} }"`
}

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
	// What to do when the next record is not there any more. `stop`: the partition halts and says which offsets are gone.
	// `earliest` and `latest`: it goes on there and says what was skipped.
	OutOfRange string `set:"out_of_range" default:"stop" oneof:"stop earliest latest"`
	// Makes this process a static member of its groups: while it restarts, for at most session_timeout, the group keeps its
	// partitions and does not rebalance. Each process needs its own, always the same one.
	InstanceID string `set:"instance_id" example:"${HOSTNAME}"`
	// A member that is silent for so long loses its partitions.
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

	tls  *tls.Config    // nil unless enabled
	sasl sasl.Mechanism // nil for none
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
	Key string `set:"key" example:"/etc/brine/brine.key"`
	// Name that the brokers' certificates must hold. Without it: the host's that is dialled.
	ServerName string `set:"server_name" example:"kafka.example.com"`
}

// SASL is the section kafka.sasl.
type SASL struct {
	// How the password is proven. Use `plain` over TLS only: it sends the password itself.
	Mechanism string `set:"mechanism" default:"none" oneof:"none plain scram-sha-256 scram-sha-512"`
	// User name.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password" example:"${KAFKA_PASSWORD}"`
}

// HBase is the section hbase. The names in brackets are HBase's own settings.
type HBase struct {
	// Where the cluster is: `rpc://host:port,host:port` names masters (HBase 2.5 or later), `zk://host:port,host:port/znode`
	// ZooKeeper servers and the cluster's zookeeper.znode.parent (any HBase 2), `embedded:DIR` runs an HBase inside this
	// process that keeps its data in DIR.
	Connect string `set:"connect" example:"rpc://master1:16000,master2:16000"`
	// User that the cluster sees (SIMPLE authentication). Without it: the user of the process.
	User string `set:"user" example:"brine"`
	// First pause before a retry; it grows with each [hbase.client.pause].
	Pause time.Duration `set:"pause" default:"100ms" min:"1ms" max:"10m"`
	// The same when the server says that it is overloaded [hbase.client.pause.server.overloaded].
	PauseServerOverloaded time.Duration `set:"pause_server_overloaded" default:"500ms" min:"1ms" max:"10m"`
	// Times that a mutation is sent again before its event is handed back, to be submitted anew
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
	// Calls that may be out to one server at a time [hbase.client.max.perserver.tasks].
	MaxServerCalls int `set:"max_server_calls" default:"2" min:"1" max:"100"`
	// Largest cell; a larger one is a dead letter [hbase.client.keyvalue.maxsize].
	MaxCellBytes Bytes `set:"max_cell_bytes" default:"10MiB" min:"1KiB" max:"256MiB"`
	// How cells are compressed between brine and the region servers, both ways [hbase.client.rpc.compressor]; they must have the
	// codec's library, which for `gzip` they always do. It spares a slow network and costs processor time, ours and the servers'.
	Compression string `set:"compression" default:"none" oneof:"none gzip snappy lz4 zstd"`
}

// Search is the section search.
type Search struct {
	// Where the search engine is: URLs of Elasticsearch or OpenSearch nodes, separated by commas, or `embedded:DIR` for an
	// index inside this process that keeps its data in DIR.
	Connect string `set:"connect" example:"http://localhost:9200"`
	// User name, if the engine asks for one.
	User string `set:"user" example:"brine"`
	// Password of the user. Take it from the environment.
	Password string `set:"password" example:"${SEARCH_PASSWORD}"`
	// Key instead of user and password: base64 of id:key. Take it from the environment.
	APIKey string `set:"api_key" example:"${SEARCH_API_KEY}"`
	// File with the certificates (PEM) that the engine's is signed by. Without it: the system's.
	CA string `set:"ca" example:"/etc/brine/ca.pem"`
	// How `text` fields of a new index are cut into words; the engine must have it: `smartcn` and `ik_smart` know Chinese.
	Analyzer string `set:"analyzer" default:"standard"`
	// Primary shards of a new index.
	Shards int `set:"shards" default:"1" min:"1" max:"1024"`
	// Copies of each shard of a new index.
	Replicas int `set:"replicas" default:"1" min:"0" max:"100"`
	// How soon what was written can be found, in a new index.
	Refresh time.Duration `set:"refresh" default:"1s" min:"1ms" max:"1d"`
	// Bulk calls that may be out at a time, for each pipeline.
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

	ca []byte // what CA names
}

// HTTP is the section http.
type HTTP struct {
	// Address of the admin port, which serves /metrics, /healthz and /readyz. Port 0 takes a free one.
	Listen string `set:"listen" default:"127.0.0.1:8765"`
	// How long a partition may stand still, with records before it, until /healthz answers 503 and names it.
	Stall time.Duration `set:"stall" default:"1m" min:"100ms" max:"1d"`
}

// Tracing is the section tracing.
type Tracing struct {
	// Where the spans of the records that are followed go: `http://host:4318` is an OpenTelemetry collector (OTLP over HTTP), `file:PATH` a file to
	// which they are appended as JSON, `stdout` the standard output. Without it no record is followed.
	To string `set:"to" example:"http://localhost:4318"`
	// Of so many records without a trace one is followed; 0: none. A record whose producer has sampled it, as its header `traceparent` says, is
	// followed in any case.
	OneIn int `set:"one_in" default:"10000" min:"0" max:"1000000000"`
}

// Table is one of tables.
type Table struct {
	Name string `set:",key"`
	// What a row is. `event`: each event is its own row, and two different events on one key are a collision. `entity`: the
	// changes of one thing meet in one row, column by column, the newest version winning.
	Row string `set:"row,required" oneof:"event entity"`
	// The row key, in the row-key language, over the fields of the pipelines that write the table.
	Key string `set:"key" example:"md5(waybill, 4) + waybill + \"|\" + desc(at, ms)"`
	// The row keys, instead of key: each for the rows of versions from `from` on. Only one is supported yet.
	Keys []TableKey `set:"keys" example:"[ { from: 0, key: \"md5(waybill, 4) + waybill\" } ]"`
	// What the table is asked, so that `brine check` says which of it no scan answers: each the names of the fields that
	// are bound to one value, and the one that is ranged over with two dots.
	Queries []string `set:"queries" example:"[\"waybill\", \"waybill at..\"]"`
	// The column families, by name. Names are part of every cell: one letter is best.
	Families []Family `set:"families,required" example:"{ e: { ttl: 92d } }"`
	// Into how many regions the table is split when it is made. Split points follow from the key.
	Regions int `set:"regions" default:"1" min:"1" max:"10000"`
	// The split points themselves, instead of regions, in ascending order; `\x00` writes a byte in hex.
	Splits []string `set:"splits" example:"[\"4\", \"8\", \"c\"]"`
	// Size of a region from which on it is split; without it: the cluster's [MAX_FILESIZE].
	MaxFileSize Bytes `set:"max_filesize" min:"2MiB" max:"100TiB" example:"20GiB"`
	// Size of a region's memstores from which on they are flushed; without it: the cluster's [MEMSTORE_FLUSHSIZE].
	MemstoreFlushSize Bytes `set:"memstore_flushsize" min:"1MiB" max:"16GiB" example:"128MiB"`
	// When a write is acknowledged; without it the table's own stays: `sync_wal` once its log is in the memory of all replicas,
	// `fsync_wal` once it is on their disks [DURABILITY]. What would acknowledge earlier can lose rows, so it cannot be set.
	Durability string `set:"durability" oneof:"sync_wal fsync_wal"`

	rowKey *rowkey.Key // nil while no pipeline writes the table
}

// TableKey is one of keys.
type TableKey struct {
	// The version from which on rows have this key.
	From int `set:"from" default:"0" min:"0"`
	// The row key, as the table's own key.
	Key string `set:"key,required" example:"md5(waybill, 4) + waybill"`
}

// Family is one of families. The names in brackets are HBase's own attributes.
type Family struct {
	Name string `set:",key"`
	// Cells older than this vanish; without it they stay [TTL]. Whole seconds, measured from the event's version.
	TTL time.Duration `set:"ttl" min:"1s" max:"24855d" example:"92d"`
	// Versions kept of a cell [VERSIONS].
	Versions int `set:"versions" default:"1" min:"1" max:"2147483647"`
	// Versions kept of a cell though its TTL is over [MIN_VERSIONS].
	MinVersions int `set:"min_versions" default:"0" min:"0" max:"2147483647"`
	// How long major compactions keep delete markers; without it the table's or servers' own stays, which is 0
	// [hbase.hstore.time.to.purge.deletes]. `hard_deletes` needs at least as long as the topic keeps its records.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1s" max:"24855d" example:"7d"`
	// How blocks are compressed; the servers must have the codec [COMPRESSION].
	Compression string `set:"compression" default:"none" oneof:"none gz snappy lz4 lzo zstd"`
	// Bloom filter, which spares reads of files that do not hold a row, or not its column [BLOOMFILTER].
	Bloom string `set:"bloom" default:"row" oneof:"none row rowcol"`
	// Size of a block before compression [BLOCKSIZE].
	BlockSize Bytes `set:"block_size" default:"64KiB" min:"1KiB" max:"16MiB"`
	// Whether blocks that were read are cached [BLOCKCACHE].
	BlockCache bool `set:"block_cache" default:"true"`
	// How keys are packed within a block [DATA_BLOCK_ENCODING].
	Encoding string `set:"encoding" default:"none" oneof:"none prefix diff fast_diff row_index_v1"`
	// Whether its blocks stay longest in the cache [IN_MEMORY].
	InMemory bool `set:"in_memory" default:"false"`
	// On which disks HDFS keeps its files; without it the family's own stays [STORAGE_POLICY].
	StoragePolicy string `set:"storage_policy" oneof:"hot warm cold one_ssd all_ssd"`
	// Whether its writes go to the clusters that are set up as peers; without it the family's own stays [REPLICATION_SCOPE].
	Replication string `set:"replication" oneof:"local global"`
	// Cells larger than this lie in files of their own, which compactions leave alone; without it the family's own stays
	// [IS_MOB, MOB_THRESHOLD].
	MOB Bytes `set:"mob" min:"1KiB" max:"10MiB" example:"100KiB"`
}

// Index is one of indexes.
type Index struct {
	Name string `set:",key"`
	// The fields of its documents, by name, with their types.
	Fields []IndexField `set:"fields,required" example:"{ waybill: keyword, items: text, at: date }"`
	// Keeps the index in parts, each an index of its own with the documents of one day, month or year (UTC), named as
	// scans-2026.11 and all read as one. A part is made when the first document for it comes, and dropped when the rows that its
	// documents stand beside are over by the TTL of their table. Without it the index is one, and documents stay for good.
	Every string `set:"every" oneof:"day month year"`
	// The field, a date, that says to which part a document belongs. It is filled with a time of the row key, since it must
	// never change.
	Time string `set:"time" example:"at"`
	// Removes documents that were deleted so long ago, by their version; without it they stay, marked, and are passed over by searches. It must be
	// at least as long as the topic keeps its records: an older change that came after that would make the document anew.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1h" max:"24855d" example:"7d"`
}

// IndexField is one field of an index.
type IndexField struct {
	Name string `set:",key"`
	// `keyword` is found as a whole, `text` by its words; `long`, `double`, `boolean` and `date` by value and range.
	Type string `set:"type,required,short" oneof:"keyword text long double boolean date"`
}

// Pipeline is one of pipelines.
type Pipeline struct {
	Name string `set:",key"`
	// The topic that is read.
	Topic string `set:"topic,required" example:"courier.scans"`
	// What the records hold. `json`: one JSON object each.
	Format string `set:"format" default:"json" oneof:"json"`
	// The fields that are used of a record, by name, with their types. What a record holds besides is passed over.
	Fields []Field `set:"fields,required" example:"{ waybill: text, at: time_ms }"`
	// The field whose value orders the writes of one cell and becomes its timestamp; it must be a time, or a whole number
	// that only grows. `seq(at, n)` is at × 1000 + n, for changes of one millisecond that the source counts as n, 0 to 999. Without it:
	// the time of the Kafka record.
	Version string `set:"version" example:"at"`
	// Where records hold what a row was before the change and is after it, as logs of databases do. A change of a field of a key then moves
	// the row: what it was is deleted at the change's version. Only with `changes: whole`.
	Images Images `set:"images"`
	// What a record carries. `whole`: every field, so a document is replaced. `partial`: the fields that changed, so they are
	// merged into the document, each by its version.
	Changes string `set:"changes" default:"whole" oneof:"whole partial"`
	// The table in which fields of a key that a change lacks are looked up: where a column of it has a field's name, and its own key's
	// fields are in each change. What is looked up must never change. Example: an order's changes know its id, and a table by id its user.
	KeyFrom KeyFrom `set:"key_from" example:"shop:order_ids"`
	// The rows that an event becomes.
	Rows []Rows `set:"rows" example:"[ { table: logistics:scans, set: { \"e:s\": station } } ]"`
	// Text fields of which `brine skew` and `brine top` name the values that most events have, beside the first field of each row key.
	HotFields []string `set:"hot_fields" example:"[station, courier]"`
	// The documents that an event becomes.
	Documents []Documents `set:"documents" example:"[ { index: scans, set: { waybill: waybill } } ]"`
	// How records are read.
	Read Read `set:"read"`
	// How rows are written.
	Write Write `set:"write"`
	// Topic for records that can never be written, each whole and with its reason. Without it: `<topic>.dead`.
	DeadLetters string `set:"dead_letters" example:"courier.scans.dead"`

	config *Config // that it is part of
}

// Field is one of a pipeline's fields.
type Field struct {
	Name string `set:",key"`
	// `time_ms` and `time_s` are whole numbers of milliseconds or seconds since 1970 (UTC). `json` takes any value as it stands,
	// an object or an array too; a column of it holds the JSON, and neither key nor version can be made of it.
	Type string `set:"type,required,short" oneof:"text int float bool time_ms time_s json"`
	// Where the record holds it: object keys joined by dots, or a list of keys. Without it: the key of the field's name.
	Path Path `set:"path" example:"scan.time"`
}

// Images is a pipeline's section images.
type Images struct {
	// The object that holds the former values: of the fields that lie below `after`, at the same places. A field that it lacks did not
	// change.
	Before Path `set:"before,required" example:"before"`
	// The object that holds the values. A record without it is a delete, of the row that `before` shows. Without this setting: the record
	// itself.
	After Path `set:"after" example:"after"`
	// A bool field, made rather than read, that is true in a delete and false in any other change. Rows and documents take it for
	// their own `deleted`.
	Deleted string `set:"deleted" example:"gone"`
}

// KeyFrom is a pipeline's section key_from; the table's name alone will do.
type KeyFrom struct {
	// One of tables.
	Table string `set:"table,required,short" example:"shop:order_ids"`
	// How long a change whose row is not there waits for it, before it is a dead letter.
	Wait time.Duration `set:"wait" default:"1m" min:"1s" max:"1h"`

	table *Table
}

// Path is object keys from the record's root. It is written a.b, or [a, b] where a key holds a dot.
type Path []string

// Rows is one of a pipeline's rows.
type Rows struct {
	// The table that the row goes to: one of tables.
	Table string `set:"table,required" example:"logistics:scans"`
	// The columns of the row: `family:qualifier` and the field that fills it. A field that is null or absent writes nothing.
	// `"family:*": field` makes a column of each member of a `json` field, `"family:*": "*"` of each member of the record that is not
	// declared.
	Set []Column `set:"set" example:"{ \"e:s\": station, \"e:a\": action }"`
	// Columns that hold many fields in one cell, since a cell costs more than its bytes: `family:qualifier` and the format, or
	// the format and the fields. Only with `changes: whole`. `brine query` shows the fields as if they were columns.
	Pack []PackedColumn `set:"pack" example:"{ \"e:p\": msgpack }"`
	// What a field that is null or absent does to its column. `merge`: nothing, an older value stays. `delete`: the column's older
	// values vanish. `replace`: all older cells in the families of these columns vanish, as if the row was new. The last two
	// need `changes: whole` and versions that are times, and write delete markers: see writing.md.
	Nulls string `set:"nulls" default:"merge" oneof:"merge replace delete"`
	// Fields that the table's key has by names of its own: the key's name and the field that fills it. Two entries with one table
	// make two rows of an event: the sender's, `as: { owner: from, peer: to }`, and the receiver's, `as: { owner: to, peer: from }`.
	As []KeyField `set:"as" example:"{ owner: from, peer: to }"`
	// Makes a row for each word of the event instead of one: the name that the word has in the table's key, and where words are
	// taken from. An event without words becomes no row here.
	Each []Each `set:"each" example:"{ token: { words: [items, brand] } }"`
	// Instead of set and pack, for rows that say all by their keys: the family that gets the empty cell which a row needs.
	Empty string `set:"empty" example:"e"`
	// How long the row's cells are kept if not as long as their families say: `30d` from the event's version on, or a field that is
	// a time, until then. It never keeps cells longer than the family's own ttl.
	TTL string `set:"ttl" example:"30d"`
	// The field, of type bool, that says that an event is a delete. The column that it fills marks the row, and `brine query` passes
	// the row over. Without it: `images.deleted`.
	Deleted string `set:"deleted" example:"cancelled"`
	// Deletes rows instead of marking them: everything in the families of these columns, up to the event's version. HBase drops its delete
	// markers after the families' `purge_deletes_after`, and an older change that came then would show the row again.
	HardDeletes bool `set:"hard_deletes" default:"false"`

	pipeline *Pipeline // that it is part of
	setting  string
}

// KeyField is one field of a key by its own name.
type KeyField struct {
	Name string `set:",key"`
	// The field of the event that fills it.
	Field string `set:"field,required,short" example:"from"`
}

// Each is the field of a key that is a word of the event.
type Each struct {
	Name string `set:",key"`
	// The fields whose words are taken: letters and digits that stand together, in lower case. Of a `json` field every text in it,
	// or, as `items.name`, those at a path, through lists too.
	Words []string `set:"words" example:"[items, brand]"`
	// The same for Chinese, Japanese and Korean: of their characters each one and each two that stand together, of all else words.
	CJK []string `set:"cjk" example:"[items, brand]"`
	// Most different words of one event.
	Limit int `set:"limit" default:"64" min:"1" max:"1000"`
	// What becomes of an event with more. `reject`: it is a dead letter, none of its rows is written. `cut`: the first `limit` words
	// are taken.
	Beyond string `set:"beyond" default:"reject" oneof:"reject cut"`
}

// Column is one of a row's columns.
type Column struct {
	Name string `set:",key"`
	// The field that fills it, or whose members fill `family:*`.
	Field string `set:"field,required,short" example:"station"`
	// Members that become no column of `family:*`.
	Except []string `set:"except" example:"[debug, trace]"`
	// Most columns that `family:*` makes of one event; an event with more is a dead letter.
	Limit int `set:"limit" default:"256" min:"1" max:"10000"`
}

// PackedColumn is one of a row's columns that hold many fields.
type PackedColumn struct {
	Name string `set:",key"`
	// How the cell holds a map from names to values: `msgpack` (MessagePack) is small and fast, `json` can be read by eye.
	// Times are whole numbers of milliseconds; a field that is null or absent is not in it.
	Format string `set:"format,short" default:"msgpack" oneof:"msgpack json"`
	// The names in the cell, which are stored in each, and the fields that fill them. Without it: all fields of the pipeline by
	// their own names.
	Fields []PackedField `set:"fields" example:"{ s: station, a: action }"`
}

// PackedField is one field of a packed column.
type PackedField struct {
	Name string `set:",key"`
	// The field of the event that fills it.
	Field string `set:"field,required,short" example:"station"`
}

// Documents is one of a pipeline's documents.
type Documents struct {
	// The index that the document goes to: one of indexes.
	Index string `set:"index,required" example:"scans"`
	// The table whose row the document stands beside: its id comes from that row's key. Without it: the first of rows.
	Table string `set:"table" example:"logistics:scans"`
	// The fields of the document, by the index's names, and the fields of the event that fill them.
	Set []DocumentField `set:"set,required" example:"{ waybill: waybill, at: at }"`
	// The field of the event, of type bool, that says that the document is deleted; searches then pass it over.
	// Without it: `images.deleted`.
	Deleted string `set:"deleted" example:"cancelled"`
}

// DocumentField is one field of a document.
type DocumentField struct {
	Name string `set:",key"`
	// The field of the event that fills it.
	Field string `set:"field,required,short" example:"waybill"`
}

// Read is a pipeline's section read.
type Read struct {
	// Most records that are handed on at a time.
	MaxBatchRecords int `set:"max_batch_records" default:"1000" min:"1" max:"100000"`
	// Most bytes that are handed on at a time; a larger record goes alone.
	MaxBatchBytes Bytes `set:"max_batch_bytes" default:"1MiB" min:"1KiB" max:"64MiB"`
	// Batches of one partition that may wait for their acknowledgement. No more than these are written again after a kill.
	Window int `set:"window" default:"8" min:"1" max:"1000"`
	// Most records in a second, over all partitions; 0 sets no limit.
	Rate int `set:"rate" default:"0" min:"0" max:"1000000000"`
	// Longest pause before what the store did not take is submitted to it again: how long it takes at most to go on after an outage.
	MaxPause time.Duration `set:"max_pause" default:"15s" min:"100ms" max:"10m"`
	// Longest pause before a partition that has halted tries whether the cause is mended.
	HaltPause time.Duration `set:"halt_pause" default:"30s" min:"100ms" max:"1h"`
}

// Write is a pipeline's section write, with HBase's meanings: see writing.md. The names in brackets are HBase's own settings.
type Write struct {
	// A mutation leaves as soon as no earlier one of its region is on its way. If false, it may wait until write_buffer bytes
	// have gathered or the first of them has waited for linger. Offsets are committed only after the acknowledgement, either way.
	Autoflush bool `set:"autoflush" default:"true"`
	// Bytes that gather before they are sent when autoflush is false [hbase.client.write.buffer].
	WriteBuffer Bytes `set:"write_buffer" default:"2MiB" min:"1KiB" max:"256MiB"`
	// Longest time that they gather when autoflush is false [hbase.client.write.buffer.periodicflush.timeout.ms].
	Linger time.Duration `set:"linger" default:"5ms" min:"1ms" max:"30s"`
	// Times that a mutation is sent again before its event is handed back, to be submitted anew
	// [hbase.client.retries.number]. Without it: hbase.retries.
	Retries int `set:"retries" min:"1" max:"1000" example:"15"`
	// First pause before it is sent again; it grows with each [hbase.client.pause]. Without it: hbase.pause.
	Pause time.Duration `set:"pause" min:"1ms" max:"10m" example:"100ms"`
	// What a region server does with its log before it acknowledges [Durability]. `table`: what the table says, which unless set is
	// that its log is in the memory of all replicas; `fsync_wal`: on their disks. The unsafe ones lose acknowledged rows when a
	// server dies: `unsafe_async_wal` those of the last moments, `unsafe_skip_wal` all that was not flushed, up to hours of them.
	Durability string `set:"durability" default:"table" oneof:"table fsync_wal unsafe_async_wal unsafe_skip_wal"`
}

// View is one of views: a kind of question that people ask. `brine check` refuses one that neither the key nor the index answers.
type View struct {
	Name string `set:",key"`
	// The table whose rows answer.
	Table string `set:"table,required" example:"logistics:scans"`
	// The fields that every question gives, each with one value; with two dots, a range instead.
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
