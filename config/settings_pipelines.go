package config

import (
	"regexp"
	"time"

	"brine/derive"
)

// Pipeline is one of pipelines.
type Pipeline struct {
	Name string `set:",key"`
	// Topic to read. Give one of `topic`, `topics` and `topic_pattern`.
	Topic string `set:"topic" example:"courier.scans"`
	// Several topics that are read as one, each given by name alone or with its starting point. The pipeline waits while one of them is
	// missing. See topics.md.
	Topics []ReadTopic `set:"topics" example:"[shop.orders, { name: shop.returns, start: latest }]"`
	// Regular expression (RE2) for the topics to read, which must match the whole name. Topics created while brine runs are included and read
	// from their earliest record. Dead letter topics and names that begin with `__` never match.
	TopicPattern string `set:"topic_pattern" example:"\"shop\\\\..*\""`
	// Format of the records. `json`: one JSON object per record. `protobuf`: one Protobuf message per record, described by `schema` and
	// `message`; without `schema`, each record begins with the id of its schema in the registry of the section `registry`. `avro`: one value
	// in Avro's binary encoding per record, with the same two ways to find its schema. `json_array`: an array of JSON objects per record, each
	// an event. `csv`: one row per record. `raw`: anything; fields come from the record's key, headers and time, or from the whole value. See
	// formats.md.
	Format string `set:"format" default:"json" oneof:"json json_array protobuf avro csv raw"`
	// Columns of records with `format: csv`.
	CSV CSV `set:"csv"`
	// File with the schema of the records, relative to the folder of this file: a `.proto` file for `protobuf`, beside or above the files it
	// imports, or an `.avsc` file for `avro`. Records then hold nothing before their message or value, unless `framing` is set.
	SchemaFile string `set:"schema" example:"orders.proto"`
	// What to do with records whose registry schema cannot be read into `fields`: a field has a type there that does not fit, or a field of a
	// key or the version is missing. `dead_letter`: brine reads each record as far as it can, and makes it a dead letter if that is not
	// enough. `halt`: the partition halts at the first such record and names the subject, the id and the field. It continues when the pipeline
	// fits again or is set to dead_letter. For `format: avro` and `protobuf` without `schema`.
	BreakingSchema string `set:"breaking_schema" default:"dead_letter" oneof:"dead_letter halt"`
	// What precedes each record with `format: json`, or with `format: avro` and a `schema` file: an id as described in `registry.framing`.
	// Brine skips it, because no registry schema is needed.
	Framing string `set:"framing" default:"none" oneof:"none confluent apicurio apicurio8 apicurio_global apicurio8_global"`
	// Name of the records' message, if the file of `schema` declares several.
	Message string `set:"message" example:"shop.Order"`
	// How a change data publisher wraps rows; see formats.md. Field paths are then paths within the row, and fields of the envelope begin with
	// `$`: `$op`, `$source.ts_ms`, and `$row`, the row's index in its record. Without it, records are rows.
	Envelope Envelope `set:"envelope" example:"debezium"`
	// Format of the records' keys, for fields taken from them (`$key.name`). `text`: no field is taken from within a key, and `$key` is the
	// whole key. `json`: one JSON object per key. `avro` and `protobuf`: as values of these formats, described by `key_schema` or, without it,
	// by the schema in the registry that each key names; `$key` is then an Avro key that is a single value, such as a string. Fields of a
	// missing key are null.
	KeyFormat string `set:"key_format" default:"text" oneof:"text json avro protobuf"`
	// File with the schema of the keys, like `schema`.
	KeySchema string `set:"key_schema" example:"order_key.avsc"`
	// What precedes each key with `key_format: json`, or with `key_format: avro` and a `key_schema` file, like `framing`.
	KeyFraming string `set:"key_framing" default:"none" oneof:"none confluent apicurio apicurio8 apicurio_global apicurio8_global"`
	// Name of the keys' message, if the file of `key_schema` declares several.
	KeyMessage string `set:"key_message" example:"shop.OrderKey"`
	// Fields to take from a record, by name, with their types. Brine ignores everything else in the record.
	Fields []Field `set:"fields,required" example:"{ waybill: text, at: time_ms }"`
	// Fields computed from others, by name, in this order. Each is a CEL expression over the fields of the record and the computed fields
	// before it. They can be used like any other field; see filters.md.
	Let []Let `set:"let" example:"{ info: \"courier + ' ' + note\" }"`
	// Which events to keep: a CEL expression that is true or false. An event for which it is false becomes neither a row, a document nor a
	// dead letter; rows and documents of earlier events stay. An event for which it cannot be evaluated is a dead letter (`bad_expression`).
	When string `set:"when" example:"\"action != 'PING'\""`
	// Field that orders the writes of a cell and becomes its timestamp. It must be a time, or a whole number that only grows. `seq(at, n)` is
	// at × 1000 + n, for changes within one millisecond that the source numbers as n, 0 to 999. Without it: the time of the Kafka record.
	//
	// `lsn(at)` (a log sequence number of Postgres), `binlog(file, pos)` (MySQL) and `binlog(position)` (a text with both, such as
	// binlog.000123:4711) are positions in a database's log. They order changes but are not times, so they exclude ttl, lateness, hard
	// deletes, ranges of times and the check of the record's time. A version has 8 bits of epoch above 55 bits of LSN, or above 23 bits of
	// file number and 32 bits of position. A value that does not fit halts the pipeline.
	Version string `set:"version" example:"at"`
	// Which database server a record comes from, if positions start over after a failover; see `version`.
	Epochs Epochs `set:"epochs"`
	// How far the version may lie behind the time of the Kafka record. A later event is a dead letter (`late_version`). Without it no event is
	// too late. Required if deletes are purged, by `hard_deletes` or by `purge_deletes_after` of an index, because it bounds how long after a
	// delete older changes can arrive.
	AllowedLateness time.Duration `set:"allowed_lateness" min:"1s" max:"24855d" example:"1d"`
	// Where records hold a row before and after the change, as database logs do. A change to a field of a key then moves the row: the old row
	// is deleted at the change's version. Only with `changes: whole`.
	Images Images `set:"images"`
	// `tombstone`: a record without a value, as in compacted topics, deletes the row that its key names, and the document. `images.deleted` is
	// true for it. The fields of row keys and the version must then come from outside the value (`$key`, `$key.name`, `$header.name`), or, for
	// the version, be the record's own time. A tombstone that lacks one of them is a dead letter. `marked`, for `unwrapped` rows: `__deleted`
	// or `__op` marks each delete, and a record without a value after it says nothing new and is left out. Without this setting every record
	// without a value is a dead letter, or left out if an envelope other than `unwrapped` shows deletes.
	Deletes string `set:"deletes" oneof:"tombstone marked"`
	// What a record carries. `whole`: every field, so that it replaces the document. `partial`: the changed fields, which are merged into the
	// document, each by its version.
	Changes string `set:"changes" default:"whole" oneof:"whole partial"`
	// Table in which to look up key fields that a change lacks. The table must have a column named after each such field, and its own key
	// fields must be in every change. The values looked up must never change. Example: changes of an order hold its id, and a table maps the
	// id to the user.
	KeyFrom KeyFrom `set:"key_from" example:"shop:order_ids"`
	// The rows that an event becomes.
	Rows []Rows `set:"rows" example:"[ { table: logistics:scans, set: { \"e:s\": station } } ]"`
	// Text fields whose most frequent values `brine skew` and `brine top` list, besides those of the first field of each row key.
	HotFields []string `set:"hot_fields" example:"[station, courier]"`
	// Record header that names the writer. `brine skew` and the console's regions page then list the most active writers by it, besides those
	// by pipeline, partition and producer id. It is not shown if a masked field is read from it.
	WriterHeader string `set:"writer_header" example:"service"`
	// The documents that an event becomes.
	Documents []Documents `set:"documents" example:"[ { index: scans, set: { waybill: waybill } } ]"`
	// How to read records.
	Read Read `set:"read"`
	// How to write rows.
	Write Write `set:"write"`
	// What people may do to rows of this pipeline over the HTTP API, such as confirm or cancel an order. See commands.md.
	Commands Commands `set:"commands"`
	// Fields whose values no command, page or message of brine shows, nor values computed from them. The flag `--unmask` of a command shows
	// them; over the HTTP API, `shown_to` gives the roles that see them.
	Mask []Masked `set:"mask" example:"[phone]"`
	// Topic for records that can never be written, each stored whole and with the reason. Without it: `<topic>.dead`, with the record's topic.
	DeadLetters string `set:"dead_letters" example:"courier.scans.dead"`
	// Halts the rows, or the documents, after this many rejected records in a row, over all partitions of a process, with none written in
	// between. By then the pipeline is wrong rather than its records, and no more of them become dead letters. Several topics are counted
	// separately. 0 means never.
	HaltAfterRejects int `set:"halt_after_rejects" default:"1000" min:"0" max:"1000000000"`
	// Which half gives way while another half is behind and the machine is busy. That half is limited to the capacity left over, down to 100
	// records per second, and lags. `documents`: rows have priority, those of this pipeline and of all others. `rows`: documents have
	// priority. `nobody`: both take what they get. A half always gets enough to catch up within half of the time left until its topic deletes
	// unread records. See pressure.md.
	GivesWay string `set:"gives_way" default:"documents" oneof:"documents rows nobody"`

	config *Config // the configuration that holds it
	one    bool    // stands for one of several topics; see On
	match  *regexp.Regexp
	rules  *derive.Rules
	asked  []string // the conditions of rows and documents, by setting
	where  []Place  // of the expressions
	values encoding
	keys   encoding
}

// ReadTopic is one of a pipeline's topics. It may be written as the name alone.
type ReadTopic struct {
	// The topic.
	Name string `set:"name,required,short" example:"shop.orders"`
	// Where the topic starts while the group has committed nothing in it, as in `kafka.start`. Without it: as `kafka.start` says if the group
	// has no commits in any topic yet, else at the earliest record.
	Start string `set:"start" example:"latest"`
}

// Field is one of a pipeline's fields.
type Field struct {
	Name string `set:",key"`
	// `time_ms` and `time_s` are whole milliseconds or seconds since 1970 (UTC); `time` is written as `format` says. `json` takes any value as
	// it is, including objects and arrays: columns store the JSON, and keys and versions cannot use it. `decimal` keeps up to 38 digits
	// exactly, `bytes` are base64 in JSON, `date` is a day (`2013-01-31`, or days since 1970), `time_us` and `time_ns` are whole microseconds
	// or nanoseconds since 1970, or RFC 3339 texts. Keys cannot use decimals or bytes. See docs/fields.md.
	Type string `set:"type,required,short" oneof:"text int float bool time_ms time_s time json decimal bytes date time_us time_ns"`
	// Where to find the field in the record: object keys joined by dots, or a list of keys. Without it: the key with the field's name. A key
	// that is a number selects an element of a JSON array, counting from 0. Outside the value there are `$key`, `$key.name` (see key_format),
	// `$header.name` (the last of several headers with the name), `$topic`, `$timestamp` (the time of the Kafka record), `$value` (all of it,
	// as a text), and `$partition` and `$offset`, which only columns and documents may use, because they differ if the same record is in
	// another topic. Texts found there are parsed as the field's type. A first key that itself begins with `$` is written `$$`.
	Path Path `set:"path" example:"scan.time"`
	// How the record writes a `time`, as a string or a number: `rfc3339` (default), `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
	// `epoch_days`, or a strftime pattern of `%Y %y %m %b %B %d %e %j %H %I %p %M %S %f %z %a %A %F %T %R %D %%`. `%d` takes two digits and
	// `%-d` one or two; the other numbers work the same. A fraction may follow `%S`. `%z` is `Z`, `+08:00`, `+0800` or `+08`. Anything below a
	// millisecond is cut off.
	Format string `set:"format" example:"\"%Y-%m-%d %H:%M:%S\""`
	// Time zone of a `time` that has none, as a name or as `+08:00` (default UTC). A time that occurs twice because the clock was set back
	// means its first occurrence. A time skipped because the clock was set forward is read as if the clock had not been set forward yet.
	Zone string `set:"zone" example:"Asia/Shanghai"`
	// `number`: a `text` may also be a number in the record, and is kept as written: 1.50 is the text 1.50. `text`: an `int`, `float`, `bool`,
	// `decimal`, `time_ms` or `time_s` may also be a text in the record: "150" is 150. `true` and `1`, `false` and `0` are bools. `decimal`: a
	// `decimal`, `text` or `float` is written as Kafka Connect writes decimals, bytes in base64, without a schema in the record that says so;
	// `scale` gives its scale.
	From string `set:"from" oneof:"number text decimal"`
	// Digits after the point of a decimal.
	Scale int `set:"scale" default:"0" min:"0" max:"38"`
	// Whether to remove white space around a text.
	Trim bool `set:"trim" default:"false"`
	// Converts a text to upper or lower case.
	Case string `set:"case" oneof:"upper lower"`
	// New values for a `text`, by the value in the record: a text, or a number or bool as written. A value not listed is a dead letter
	// (`wrong_type`), unless there is `else`. The lookup comes after `trim` and `case`.
	Enum []EnumValue `set:"enum" example:"{ \"1\": created, \"2\": paid }"`
	// Value of a text that `enum` does not list.
	Else string `set:"else" example:"other"`
	// Value if the field is missing or null in the record, as a column would hold it; `enum` does not apply to it. Not for the version, and
	// not with `changes: partial`, where a missing field means that it did not change.
	Default Scalar `set:"default" example:"unknown"`
	// Fixed value of the field. Nothing is read from the record.
	Value Scalar `set:"value" example:"shop"`

	made bool // by a let
}

// Scalar is a text. It may stand for a number or a bool, and is then written as one.
type Scalar string

// EnumValue is one entry of a field's enum.
type EnumValue struct {
	Name string `set:",key"`
	// Value of the field in that case.
	To Scalar `set:"to,required,short" example:"created"`
}

// Envelope is a pipeline's section envelope. It may be written as the form alone.
type Envelope struct {
	// The publisher: `debezium`, with or without the schema in each record, `canal` (flat JSON), `canal_protobuf` (Protobuf messages) or
	// `maxwell`.
	Form string `set:"form,required,short" oneof:"debezium canal canal_protobuf maxwell"`
	// Records hold only the row, as Debezium's ExtractNewRecordState writes them, and the envelope's fields are members of the row: `$op` is
	// `__op`, `$source.ts_ms` is `__source_ts_ms`. `deletes` says whether `__deleted` or `__op` marks a delete, or a record without a value is
	// one.
	Unwrapped bool `set:"unwrapped" default:"false"`
	// What records hold of a row before a change. `full`: all of it, so that a change can move its row. `key`: the primary key, which is what
	// Postgres logs by default; keys of rows, and their words, may then use only its fields.
	Before string `set:"before" default:"full" oneof:"full key"`
	// Fields of the database's primary key, if `before` is `key` or rows are unwrapped.
	Key []string `set:"key" example:"[id]"`
	// What to do with a record that reports a truncated table. Brine never truncates.
	Truncate string `set:"truncate" default:"leave_out" oneof:"leave_out reject"`
	// What to do with a logical message from a program, op `m` in Debezium.
	Message string `set:"message" default:"leave_out" oneof:"leave_out reject"`
	// `accept`: changes of one row may have the same version, and the one written last wins. Required if rows are entities
	// for Canal, whose times are whole seconds, and for Maxwell's `$ts` and Debezium's `$source.ts_ms`, with which a row of a snapshot
	// also wins over changes that were made before it was read and are published later.
	Ties string `set:"ties" default:"refuse" oneof:"refuse accept"`
	// The database whose log Canal reads. `version: binlog(…)` with Canal's `$file` requires `mysql`, because Canal names wrong files of a
	// MariaDB's log.
	Database string `set:"database" oneof:"mysql mariadb"`
}

// CSV is a pipeline's section csv.
type CSV struct {
	// Names of all columns, in order; records have no header row. A field's path is its column.
	Columns []string `set:"columns" example:"[id, at, status]"`
	// Separator between values: one character.
	Separator string `set:"separator" default:"," example:"\";\""`
}

// Epochs is a pipeline's section epochs.
type Epochs struct {
	// Text or int field that names the server or timeline of a record.
	From string `set:"from" example:"server"`
	// Epoch of each source, 0 to 255. All changes of a higher epoch are newer than those of a lower one. A source that is missing here halts
	// the pipeline. Adding a source later does not alter the versions of earlier records.
	Of []Epoch `set:"of" example:"{ \"1\": 0, \"2\": 1 }"`
}

// Epoch is one source and its epoch.
type Epoch struct {
	Name string `set:",key"`
	// The source's epoch, a higher number for each source that took over from another.
	Epoch int `set:"epoch,required,short" min:"0" max:"255" example:"1"`
}

// Images is a pipeline's section images.
type Images struct {
	// Object with the old values of the fields below `after`, at the same paths. A field missing in it did not change. Required, except with
	// an envelope, which implies the place.
	Before Path `set:"before" example:"before"`
	// Object with the new values. A record without it deletes the row that `before` shows. Without this setting: the record itself.
	After Path `set:"after" example:"after"`
	// Name of a computed bool field that is true in a delete and false in any other change. Rows and documents use it as the default of their
	// own `deleted`.
	Deleted string `set:"deleted" example:"gone"`
}

// KeyFrom is a pipeline's section key_from. It may be written as the table's name alone.
type KeyFrom struct {
	// One of tables.
	Table string `set:"table,required,short" example:"shop:order_ids"`
	// How long a change waits for a missing row before it becomes a dead letter.
	Wait time.Duration `set:"wait" default:"1m" min:"1s" max:"1h"`

	table *Table
}

// Path is a list of object keys from the record's root. It is written a.b, or [a, b] if a key contains a dot.
type Path []string

// Read is a pipeline's section read.
type Read struct {
	// Maximum number of records per batch.
	MaxBatchRecords int `set:"max_batch_records" default:"1000" min:"1" max:"100000"`
	// Maximum size of a batch. A larger record forms a batch of its own.
	MaxBatchBytes Bytes `set:"max_batch_bytes" default:"1MiB" min:"1KiB" max:"64MiB"`
	// Batches of one partition that may wait for their acknowledgement. At most these are written again after a kill.
	Window int `set:"window" default:"8" min:"1" max:"1000"`
	// Maximum number of records per second, over all partitions; 0 means no limit.
	Rate int `set:"rate" default:"0" min:"0" max:"1000000000"`
	// Longest pause before resubmitting what the store did not take. It bounds the delay after an outage.
	MaxPause time.Duration `set:"max_pause" default:"15s" min:"100ms" max:"10m"`
	// Longest pause before a halted partition tries again.
	HaltPause time.Duration `set:"halt_pause" default:"30s" min:"100ms" max:"1h"`
}

// Write is a pipeline's section write, with the same meanings as in HBase: see writing.md. The names in brackets are HBase's own settings.
type Write struct {
	// Whether to send a mutation as soon as no earlier one of its region is in flight. If false, a mutation may wait until write_buffer bytes
	// have gathered or the first of them has waited for linger. In both cases offsets are committed only after the acknowledgement.
	Autoflush bool `set:"autoflush" default:"true"`
	// Bytes to gather before sending if autoflush is false [hbase.client.write.buffer].
	WriteBuffer Bytes `set:"write_buffer" default:"2MiB" min:"1KiB" max:"256MiB"`
	// Longest time to gather if autoflush is false [hbase.client.write.buffer.periodicflush.timeout.ms].
	Linger time.Duration `set:"linger" default:"5ms" min:"1ms" max:"30s"`
	// Number of times to retry a mutation before its event is handed back and submitted again [hbase.client.retries.number]. Without it:
	// hbase.retries.
	Retries int `set:"retries" min:"1" max:"1000" example:"15"`
	// Pause before the first retry; it grows with each further one [hbase.client.pause]. Without it: hbase.pause.
	Pause time.Duration `set:"pause" min:"1ms" max:"10m" example:"100ms"`
	// What a region server does with its log before it acknowledges [Durability]. `table`: as the table says, by default the log is in the
	// memory of all replicas. `fsync_wal`: the log is on their disks. The unsafe ones lose acknowledged rows when a server dies:
	// `unsafe_async_wal` those of the last moments, `unsafe_skip_wal` everything not flushed, up to hours of writes.
	Durability string `set:"durability" default:"table" oneof:"table fsync_wal unsafe_async_wal unsafe_skip_wal"`
}

// Let is a field of a pipeline that is computed from others.
type Let struct {
	Name string `set:",key"`
	// The expression.
	Value string `set:"value,required,short" example:"\"courier + ' ' + note\""`
	// The field's type. Without it: the type of the expression; a time is `time_ms`.
	Type string `set:"type" oneof:"text int float bool time_ms"`
}

// Masked is one of mask.
type Masked struct {
	// The field.
	Field string `set:"field,required,short" example:"phone"`
	// Account roles that see the field over the HTTP API: `customer`, `support`, `operator`, `admin`.
	ShownTo []string `set:"shown_to" example:"[customer, support]"`
}

// Commands is a pipeline's section commands.
type Commands struct {
	// Table whose rows commands change. Without it: that of the first of rows.
	Table string `set:"table" example:"shop:orders"`
	// Text field that holds a row's state.
	State string `set:"state" example:"status"`
	// States set by records of other publishers. Every other state must be reachable from these by transitions.
	States []string `set:"states" example:"[created, paid, shipped]"`
	// Field that is the key of the records, so that changes of one row share a partition.
	RecordKey string `set:"record_key" example:"order"`
	// How the topic's publishers map keys to partitions, which commands must do in the same way: `murmur2` (Kafka's Java clients), `crc32`
	// (librdkafka's `consistent`) or `fnv1a` (Sarama).
	Partitioner string `set:"partitioner" default:"murmur2" oneof:"murmur2 crc32 fnv1a"`
	// Topic to publish commands to. Without it: the topic that the pipeline reads. If it is another topic, its reader answers with changes of
	// its own in the pipeline's topic.
	Topic string `set:"topic" example:"shop.commands"`
	// With another topic: how long a row that its reader does not change is locked for other commands. After that, the command is
	// `unanswered`.
	AnswerWithin time.Duration `set:"answer_within" default:"1h" min:"1s" max:"30d"`
	// The commands, by name.
	Transitions []Transition `set:"transitions" example:"{ confirm: { from: [shipped], to: received, roles: [customer] } }"`
}

// Transition is one of commands.transitions.
type Transition struct {
	Name string `set:",key"`
	// States in which a row accepts the command.
	From []string `set:"from,required" example:"[shipped]"`
	// State of the row afterwards.
	To string `set:"to,required" example:"received"`
	// Who may give the command: `customer` (for the customer's own rows), `support`, `operator`, `admin`.
	Roles []string `set:"roles,required" example:"[customer, operator]"`
	// Fields to set besides the state: `set: { deleted: true }` deletes the row, and `deleted: false` in another transition undoes that.
	Set []TransitionValue `set:"set" example:"{ deleted: true }"`
	// Fields that the caller of the command may set.
	Take []string `set:"take" example:"[reason]"`
}

// TransitionValue is one field that a transition sets.
type TransitionValue struct {
	Name string `set:",key"`
	// Value to set, written as the field's type.
	Value Scalar `set:"value,required,short" example:"true"`
}

// Rows is one of a pipeline's rows.
type Rows struct {
	// Table to write the row to: one of tables.
	Table string `set:"table,required" example:"logistics:scans"`
	// Columns of the row: `family:qualifier` and the field that fills it. A null or absent field writes nothing. `"family:*": field` makes a
	// column of each member of a `json` field, `"family:*": "*"` of each member of the record that is not declared.
	Set []Column `set:"set" example:"{ \"e:s\": station, \"e:a\": action }"`
	// Columns that store many fields in one cell, because each cell has overhead: `family:qualifier` and the format, or the format and the
	// fields. Only with `changes: whole`. `brine query` shows the fields as if they were columns.
	Pack []PackedColumn `set:"pack" example:"{ \"e:p\": msgpack }"`
	// What a null or absent field does to its column. `merge`: nothing; an older value stays. `store`: the column says that it is null, in a
	// cell without a value. `delete`: the column's older values disappear. `replace`: all older cells in the families of these columns
	// disappear, as if the row were new. The last two write delete markers and need versions that are times. All but `merge` need records
	// that carry every field: `changes: whole`, or `store` with Debezium's. See rows.md.
	Nulls string `set:"nulls" default:"merge" oneof:"merge store replace delete"`
	// Key fields with names of their own in the table's key: that name and the field that fills it. Two entries for one table make two rows
	// per event: the sender's, `as: { owner: from, peer: to }`, and the receiver's, `as: { owner: to, peer: from }`.
	As []KeyField `set:"as" example:"{ owner: from, peer: to }"`
	// Makes one row per word of the event: the name of the word in the table's key, and where the words come from. An event without words
	// makes no row here.
	Each []Each `set:"each" example:"{ token: { words: [items, brand] } }"`
	// Family for the empty cell that a row needs if its key says everything. Instead of set and pack.
	Empty string `set:"empty" example:"e"`
	// How long to keep the row's cells, if not as long as their families: a duration from the event's version, such as `30d`, or a field that
	// holds the time of expiry. Cells are never kept longer than the family's own ttl.
	TTL string `set:"ttl" example:"30d"`
	// Bool field that is true if an event is a delete. The column it fills marks the row, and `brine query` skips the row. Without it:
	// `images.deleted`.
	Deleted string `set:"deleted" example:"cancelled"`
	// Which events become this row: a CEL expression that is true or false; see filters.md.
	When string `set:"when" example:"\"action == 'DELIVER'\""`
	// What an event for which `when` is false does to its row from an earlier event. `skip`: nothing. `delete`: it deletes the row as
	// `deleted` and `hard_deletes` say, at the event's version; only if rows are entities.
	Otherwise string `set:"otherwise" default:"skip" oneof:"skip delete"`
	// Deletes rows instead of marking them: everything in the families of these columns, up to the event's version. HBase drops its delete
	// markers after the families' `purge_deletes_after`; an older change that arrives later would make the row visible again.
	HardDeletes bool `set:"hard_deletes" default:"false"`

	pipeline *Pipeline // that holds it
	setting  string
}

// KeyField is a key field with a name of its own.
type KeyField struct {
	Name string `set:",key"`
	// Field of the event that fills it.
	Field string `set:"field,required,short" example:"from"`
}

// Each is the key field that holds a word of the event.
type Each struct {
	Name string `set:",key"`
	// Fields to take words from. A word is a run of letters and digits, in lower case. A `json` field gives every text in it or, written as
	// `items.name`, the texts at a path, also through lists.
	Words []string `set:"words" example:"[items, brand]"`
	// The same for Chinese, Japanese and Korean: each of their characters and each pair of adjacent ones, and words of everything else.
	CJK []string `set:"cjk" example:"[items, brand]"`
	// Maximum number of different words per event.
	Limit int `set:"limit" default:"64" min:"1" max:"1000"`
	// What to do with an event that has more. `reject`: it is a dead letter, and none of its rows is written. `cut`: the first `limit` words
	// are used.
	Beyond string `set:"beyond" default:"reject" oneof:"reject cut"`
}

// Column is one of a row's columns.
type Column struct {
	Name string `set:",key"`
	// Field that fills it, or whose members fill `family:*`.
	Field string `set:"field,required,short" example:"station"`
	// Members that become no column of `family:*`.
	Except []string `set:"except" example:"[debug, trace]"`
	// Maximum number of columns that `family:*` makes of one event. An event with more is a dead letter.
	Limit int `set:"limit" default:"256" min:"1" max:"10000"`
}

// PackedColumn is one of a row's columns that store many fields.
type PackedColumn struct {
	Name string `set:",key"`
	// How the cell stores a map from names to values: `msgpack` (MessagePack) is small and fast, `json` is readable. Times are whole
	// milliseconds. Null and absent fields are left out.
	Format string `set:"format,short" default:"msgpack" oneof:"msgpack json"`
	// Names to store in each cell, and the fields that fill them. Without it: all fields of the pipeline under their own names.
	Fields []PackedField `set:"fields" example:"{ s: station, a: action }"`
}

// PackedField is one field of a packed column.
type PackedField struct {
	Name string `set:",key"`
	// Field of the event that fills it.
	Field string `set:"field,required,short" example:"station"`
}

// Documents is one of a pipeline's documents.
type Documents struct {
	// Index to write the document to: one of indexes.
	Index string `set:"index,required" example:"scans"`
	// Table of the row that the document belongs to; the document's id is made of that row's key. Without it: that of the first of rows.
	Table string `set:"table" example:"logistics:scans"`
	// Fields of the document, by the index's names, and the fields of the event that fill them.
	Set []DocumentField `set:"set,required" example:"{ waybill: waybill, at: at }"`
	// Bool field of the event that is true if the document is deleted; searches then skip it. Without it: `images.deleted`.
	Deleted string `set:"deleted" example:"cancelled"`
	// Which events become this document: a CEL expression that is true or false; see filters.md.
	When string `set:"when" example:"\"action == 'DELIVER'\""`
	// What an event for which `when` is false does to its document from an earlier event. `skip`: nothing. `delete`: it marks the document as
	// deleted, at the event's version; needs `deleted`, and rows that are entities.
	Otherwise string `set:"otherwise" default:"skip" oneof:"skip delete"`
}

// DocumentField is one field of a document.
type DocumentField struct {
	Name string `set:",key"`
	// Field of the event that fills it.
	Field string `set:"field,required,short" example:"waybill"`
}
