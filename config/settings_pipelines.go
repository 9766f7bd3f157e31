package config

import (
	"crypto/sha256"
	"regexp"
	"time"

	"brine/derive"
	"brine/event"
)

// Pipeline is one of pipelines.
type Pipeline struct {
	Name string `set:",key"`
	// The topic that is read; or else `topics` or `topic_pattern`.
	Topic string `set:"topic" example:"courier.scans"`
	// Several topics that are read as one, each by its name, or with where it begins. While one of them is missing the pipeline waits. See
	// topics.md.
	Topics []ReadTopic `set:"topics" example:"[shop.orders, { name: shop.returns, start: latest }]"`
	// All topics are read whose whole name matches this regular expression (RE2), also those that come while brine runs: they begin at their
	// earliest record. Topics of dead letters, and those whose names begin with `__`, never match.
	TopicPattern string `set:"topic_pattern" example:"\"shop\\\\..*\""`
	// What the records hold. `json`: one JSON object each. `protobuf`: one Protobuf message each, which `schema` and `message` describe;
	// without `schema` each begins with the id of its schema at the registry of the section `registry`. `avro`: one value of Avro's binary
	// encoding each, likewise. `json_array`: an array of JSON objects each, every one an event. `csv`: one row each. `raw`: anything; fields
	// are of the record's key, headers and time, or the whole value. See formats.md.
	Format string `set:"format" default:"json" oneof:"json json_array protobuf avro csv raw"`
	// The columns of records of `format: csv`.
	CSV CSV `set:"csv"`
	// File with the schema of the records: a `.proto` file for `protobuf`, beside or above those that it imports, or an `.avsc` file for
	// `avro`, from the folder of this file. The records then hold nothing before their message or value, unless `framing` says so.
	SchemaFile string `set:"schema" example:"orders.proto"`
	// What becomes of records whose own schema, at the registry, cannot be read into `fields`: a field has another type there that does not
	// fit, or one of a key or the version is gone. `dead_letter`: each is read as far as it can be, and is a dead letter if that does not do.
	// `halt`: the partition halts at the first one, names the subject, the id and the field, and goes on when the pipeline fits again, or
	// says dead_letter. For `format: avro` and `protobuf` without `schema`.
	BreakingSchema string `set:"breaking_schema" default:"dead_letter" oneof:"dead_letter halt"`
	// What stands before records of `format: json`, or of `format: avro` whose `schema` is a file: an id as `registry.framing` describes it,
	// which is passed over since no schema is asked for.
	Framing string `set:"framing" default:"none" oneof:"none confluent apicurio apicurio8 apicurio_global apicurio8_global"`
	// Name of the message that each record is, where the file of `schema` has several.
	Message string `set:"message" example:"shop.Order"`
	// How a publisher of a database's changes wraps rows: see formats.md. Paths of fields are then those within the row, and fields of the
	// envelope are reached with a `$`: `$op`, `$source.ts_ms`, and `$row`, the row's index in its record. Without it: records are rows.
	Envelope Envelope `set:"envelope" example:"debezium"`
	// How records' keys are written, for fields that lie in them (`$key.name`). `text`: no field does, and `$key` is the whole key. `json`:
	// one JSON object each. A record without a key has null fields there.
	KeyFormat string `set:"key_format" default:"text" oneof:"text json"`
	// The fields that are used of a record, by name, with their types. What a record holds besides is passed over.
	Fields []Field `set:"fields,required" example:"{ waybill: text, at: time_ms }"`
	// Fields that are made of others, by name, in this order: each an expression in CEL, which may name the fields of the record and those
	// before it. They can be used wherever fields can; see filters.md.
	Let []Let `set:"let" example:"{ info: \"courier + ' ' + note\" }"`
	// Which events are kept: an expression in CEL that is true or false. An event for which it is false becomes neither row nor document,
	// and no dead letter; what an earlier one has made stays. One for which it has no answer is a dead letter (`bad_expression`).
	When string `set:"when" example:"\"action != 'PING'\""`
	// The field whose value orders the writes of one cell and becomes its timestamp; it must be a time, or a whole number
	// that only grows. `seq(at, n)` is at × 1000 + n, for changes of one millisecond that the source counts as n, 0 to 999. Without it:
	// the time of the Kafka record.
	//
	// `lsn(at)`, of a log sequence number (Postgres), and `binlog(file, pos)` (MySQL) are places in a database's log: they order changes and
	// are no times, so no ttl, lateness, hard delete or range of times goes with them, and no check of the record's time. A version has 8 bits
	// of epoch above 55 of LSN, or 23 of the file's number and 32 of the place in it; what does not fit halts the pipeline.
	Version string `set:"version" example:"at"`
	// Which of several databases a record is from, where positions begin again after a fail-over; see `version`.
	Epochs Epochs `set:"epochs"`
	// How far the version may lie behind the time of the Kafka record; a later event is a dead letter (`late_version`). Without it no
	// event is too late. Required where deletes are purged, by `hard_deletes` or `purge_deletes_after` of an index: it bounds how long
	// after a delete older changes can come.
	AllowedLateness time.Duration `set:"allowed_lateness" min:"1s" max:"24855d" example:"1d"`
	// Where records hold what a row was before the change and is after it, as logs of databases do. A change of a field of a key then moves
	// the row: what it was is deleted at the change's version. Only with `changes: whole`.
	Images Images `set:"images"`
	// `tombstone`: a record without a value, as compacted topics have them, deletes the row that its key names, and its document:
	// `images.deleted` is true for it. The fields of row keys must then lie beside the value (`$key`, `$key.name`, `$header.name`), and so
	// must the version; the record's own time does. A tombstone that lacks one of them is a dead letter. Without this setting every
	// record without a value is one.
	Deletes string `set:"deletes" oneof:"tombstone"`
	// What a record carries. `whole`: every field, so a document is replaced. `partial`: the fields that changed, so they are
	// merged into the document, each by its version.
	Changes string `set:"changes" default:"whole" oneof:"whole partial"`
	// The table in which fields of a key that a change lacks are looked up: where a column of it has a field's name, and its own key's
	// fields are in each change. What is looked up must never change. Example: an order's changes know its id, and a table by id its user.
	KeyFrom KeyFrom `set:"key_from" example:"shop:order_ids"`
	// The rows that an event becomes.
	Rows []Rows `set:"rows" example:"[ { table: logistics:scans, set: { \"e:s\": station } } ]"`
	// Text fields whose most frequent values `brine skew` and `brine top` list, beside those of the first field of each row key.
	HotFields []string `set:"hot_fields" example:"[station, courier]"`
	// A header of the records that names who wrote them. `brine skew` and the console's page of regions list who writes most by it, beside
	// pipeline, partition and the producer's id. Where a masked field is read from it, it is not shown.
	WriterHeader string `set:"writer_header" example:"service"`
	// The documents that an event becomes.
	Documents []Documents `set:"documents" example:"[ { index: scans, set: { waybill: waybill } } ]"`
	// How records are read.
	Read Read `set:"read"`
	// How rows are written.
	Write Write `set:"write"`
	// What people may do to rows of this pipeline over the HTTP API: confirm an order, cancel it. See commands.md.
	Commands Commands `set:"commands"`
	// Fields of which no command, page or message of brine shows what they hold, nor what is made of them; `--unmask` of a command does, and
	// over the HTTP API `shown_to` names the roles of accounts that see them.
	Mask []Masked `set:"mask" example:"[phone]"`
	// Topic for records that can never be written, each whole and with its reason. Without it: `<topic>.dead`, where topic is the record's.
	DeadLetters string `set:"dead_letters" example:"courier.scans.dead"`
	// The rows, or the documents, halt when so many records in a row, over all partitions of a process, were rejected and none was
	// written: then the pipeline is wrong rather than its records, and no more become dead letters. Each of several topics is counted by
	// itself. 0: never.
	HaltAfterRejects int `set:"halt_after_rejects" default:"1000" min:"0" max:"1000000000"`
	// Which half gives way while one of the others is behind and the machine is busy: it is held to what is left, down to 100 records a
	// second, and lags. `documents`: the rows come first, of this pipeline and of all others; `rows`: the documents do; `nobody`: both take
	// what they get. A half that would not be done before half of its time is over until its topic deletes what it has not read has as much
	// as that takes. See pressure.md.
	GivesWay string `set:"gives_way" default:"documents" oneof:"documents rows nobody"`

	config *Config // that it is part of
	one    bool    // it stands for one of several topics; see On
	match  *regexp.Regexp
	rules  *derive.Rules
	asked  []string     // the conditions of rows and documents, by setting
	where  []Place      // of the expressions
	format event.Format // nil: JSON

	schemaAt  string            // path of SchemaFile
	schemaSum [sha256.Size]byte // of what it and its imports hold
}

// ReadTopic is one of a pipeline's topics; the name alone will do.
type ReadTopic struct {
	// The topic.
	Name string `set:"name,required,short" example:"shop.orders"`
	// Where it begins while the group has committed nothing of it, as `kafka.start` says it. Without it: there, if the group has committed
	// nothing in any topic yet, and else at its earliest record.
	Start string `set:"start" example:"latest"`
}

// Field is one of a pipeline's fields.
type Field struct {
	Name string `set:",key"`
	// `time_ms` and `time_s` are whole numbers of milliseconds or seconds since 1970 (UTC); `time` is written as `format` says. `json` takes
	// any value as it stands, an object or an array too; a column of it holds the JSON, and neither key nor version can be made of it.
	// `decimal` keeps up to 38 digits exactly, `bytes` are in base64 in JSON, `date` is a day (`2013-01-31`, or days since 1970), `time_us`
	// and `time_ns` are whole numbers of microseconds or nanoseconds since 1970, or texts as RFC 3339 has them. No key is made of decimals and
	// bytes; see docs/fields.md.
	Type string `set:"type,required,short" oneof:"text int float bool time_ms time_s time json decimal bytes date time_us time_ns"`
	// Where the record holds it: object keys joined by dots, or a list of keys. Without it: the key of the field's name. A key that is a
	// number stands for an element of a JSON array, from 0 on. Beside the value stand `$key`, `$key.name` (see key_format),
	// `$header.name` (of several headers of a name the last), `$topic`, `$timestamp` (the time of the Kafka record), `$value` (all of it, as a
	// text), and `$partition` and `$offset`, which only columns and documents can be filled from: the same record has others in another
	// topic. What is a text there is read as the field's type. A first key that begins with `$` itself is written `$$`.
	Path Path `set:"path" example:"scan.time"`
	// How the record writes a `time`, as a string or a number: `rfc3339` (default), `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`,
	// `epoch_days`, or a pattern as strftime has it, of `%Y %y %m %b %B %d %e %j %H %I %p %M %S %f %z %a %A %F %T %R %D %%`. `%d` takes two
	// digits and `%-d` one too, likewise the other numbers; a fraction may follow `%S`; `%z` is `Z`, `+08:00`, `+0800` or `+08`. What is below
	// a millisecond is cut off.
	Format string `set:"format" example:"\"%Y-%m-%d %H:%M:%S\""`
	// Time zone of a `time` without one, as a name or as `+08:00` (default UTC). A time that came twice, since the clock was set back,
	// means its first occurrence; one that was skipped, since the clock was set forward, is read as if it had not been set yet.
	Zone string `set:"zone" example:"Asia/Shanghai"`
	// `number`: a `text` may also be a number in the record, and is taken as it is written: 1.50 is the text 1.50. `text`: an `int`,
	// `float`, `bool`, `decimal`, `time_ms` or `time_s` may also be a text in the record: "150" is 150. `true` and `1`, `false` and `0` are
	// bools. `decimal`: a `decimal`, `text` or `float` is written as Kafka Connect writes decimals, bytes in base64, where no
	// schema in the record says so; `scale` is its own.
	From string `set:"from" oneof:"number text decimal"`
	// Digits behind the point of a decimal.
	Scale int `set:"scale" default:"0" min:"0" max:"38"`
	// Whether white space around a text is left out.
	Trim bool `set:"trim" default:"false"`
	// Turns a text to upper or lower case.
	Case string `set:"case" oneof:"upper lower"`
	// What a `text` is called instead, by what the record holds: a text, or a number or bool as it is written. What is not listed is a dead
	// letter (`wrong_type`), unless there is `else`. It is looked up behind `trim` and `case`.
	Enum []EnumValue `set:"enum" example:"{ \"1\": created, \"2\": paid }"`
	// What a text that `enum` does not list is called.
	Else string `set:"else" example:"other"`
	// The value where a record lacks the field or has null there, as a column would hold it: no `enum` applies to it. Not for the version,
	// and not with `changes: partial`, where a field that a change lacks did not change.
	Default Scalar `set:"default" example:"unknown"`
	// The value, whatever the record says: nothing is read.
	Value Scalar `set:"value" example:"shop"`

	made bool // by a let
}

// Scalar is a text that may stand for a number or a bool, and is written as one then.
type Scalar string

// EnumValue is one value of a field's table.
type EnumValue struct {
	Name string `set:",key"`
	// What the field is then.
	To Scalar `set:"to,required,short" example:"created"`
}

// Envelope is a pipeline's section envelope; the form alone will do.
type Envelope struct {
	// The publisher: `debezium`, with or without the schema in each record, `canal` (its flat JSON), `canal_protobuf` (its messages in
	// Protobuf) or `maxwell`.
	Form string `set:"form,required,short" oneof:"debezium canal canal_protobuf maxwell"`
	// The row stands alone, as Debezium's ExtractNewRecordState makes it, and the envelope's fields are its members: `$op` is `__op`,
	// `$source.ts_ms` is `__source_ts_ms`. A delete says so by `__deleted` or `__op`.
	Unwrapped bool `set:"unwrapped" default:"false"`
	// What records hold of a row before a change. `full`: all of it, so a change can move its row. `key`: the primary key, as Postgres
	// logs by default; then keys of rows, and their words, may be made of its fields only.
	Before string `set:"before" default:"full" oneof:"full key"`
	// The fields of the database's primary key, where `before` is `key` or rows are unwrapped.
	Key []string `set:"key" example:"[id]"`
	// What becomes of a record that says that a table was emptied, which brine does not do.
	Truncate string `set:"truncate" default:"leave_out" oneof:"leave_out reject"`
	// What becomes of a record that holds a message of a program, which Debezium calls `m`.
	Message string `set:"message" default:"leave_out" oneof:"leave_out reject"`
	// `accept`: changes of one row that have the same version may come, and the one that is written last wins. Required for Canal, whose
	// times are whole seconds, where rows are entities.
	Ties string `set:"ties" default:"refuse" oneof:"refuse accept"`
}

// CSV is a pipeline's section csv.
type CSV struct {
	// Names of all columns, in their order: records have no first row. A field's path is its column.
	Columns []string `set:"columns" example:"[id, at, status]"`
	// What stands between values: one character.
	Separator string `set:"separator" default:"," example:"\";\""`
}

// Epochs is a pipeline's section epochs.
type Epochs struct {
	// The text or int field that names the server or timeline that a record is from.
	From string `set:"from" example:"server"`
	// The epoch of each source, 0 to 255: all changes of a higher one are newer than those of a lower one. A source that is missing here halts
	// the pipeline. To add one later leaves the versions of earlier records as they are.
	Of []Epoch `set:"of" example:"{ \"1\": 0, \"2\": 1 }"`
}

// Epoch is one source and its epoch.
type Epoch struct {
	Name string `set:",key"`
	// A higher number for each source that took over from another.
	Epoch int `set:"epoch,required,short" min:"0" max:"255" example:"1"`
}

// Images is a pipeline's section images.
type Images struct {
	// The object that holds the former values: of the fields that lie below `after`, at the same places. A field that it lacks did not
	// change. Required, but with an envelope, which knows where they are.
	Before Path `set:"before" example:"before"`
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
	// Longest pause before a partition that has halted tries whether the cause is fixed.
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
	// Times that a mutation is sent again before its event is handed back, to be submitted again
	// [hbase.client.retries.number]. Without it: hbase.retries.
	Retries int `set:"retries" min:"1" max:"1000" example:"15"`
	// First pause before it is sent again; it grows with each [hbase.client.pause]. Without it: hbase.pause.
	Pause time.Duration `set:"pause" min:"1ms" max:"10m" example:"100ms"`
	// What a region server does with its log before it acknowledges [Durability]. `table`: what the table says, which unless set is
	// that its log is in the memory of all replicas; `fsync_wal`: on their disks. The unsafe ones lose acknowledged rows when a
	// server dies: `unsafe_async_wal` those of the last moments, `unsafe_skip_wal` all that was not flushed, up to hours of them.
	Durability string `set:"durability" default:"table" oneof:"table fsync_wal unsafe_async_wal unsafe_skip_wal"`
}

// Let is a field of a pipeline that is made of others.
type Let struct {
	Name string `set:",key"`
	// The expression.
	Value string `set:"value,required,short" example:"\"courier + ' ' + note\""`
	// The field's type. Without it: the type that the expression makes; a time is `time_ms`.
	Type string `set:"type" oneof:"text int float bool time_ms"`
}

// Masked is one of mask.
type Masked struct {
	// The field.
	Field string `set:"field,required,short" example:"phone"`
	// Roles of accounts that the field is shown to over the HTTP API: `customer`, `support`, `operator`, `admin`.
	ShownTo []string `set:"shown_to" example:"[customer, support]"`
}

// Commands is a pipeline's section commands.
type Commands struct {
	// The table whose rows commands change. Without it: the first of rows.
	Table string `set:"table" example:"shop:orders"`
	// The text field that holds a row's state.
	State string `set:"state" example:"status"`
	// The states that records of others bring about. Every other state has to be one that a transition leads to from these.
	States []string `set:"states" example:"[created, paid, shipped]"`
	// The field that is the key of the records, by which changes of one row share a partition.
	RecordKey string `set:"record_key" example:"order"`
	// How publishers of the topic find the partition of a key, which commands must do alike: `murmur2` (Kafka's Java clients), `crc32`
	// (librdkafka's `consistent`) or `fnv1a` (Sarama).
	Partitioner string `set:"partitioner" default:"murmur2" oneof:"murmur2 crc32 fnv1a"`
	// The topic that commands are published to. Without it: the one that the pipeline reads. The reader of another one answers
	// with changes of its own in the pipeline's topic.
	Topic string `set:"topic" example:"shop.commands"`
	// The commands, by name.
	Transitions []Transition `set:"transitions" example:"{ confirm: { from: [shipped], to: received, roles: [customer] } }"`
}

// Transition is one of commands.transitions.
type Transition struct {
	Name string `set:",key"`
	// The states in which a row takes the command.
	From []string `set:"from,required" example:"[shipped]"`
	// The state that the row has afterwards.
	To string `set:"to,required" example:"received"`
	// Who may give it: `customer` (of the customer's own rows), `support`, `operator`, `admin`.
	Roles []string `set:"roles,required" example:"[customer, operator]"`
	// Fields that it sets beside the state: `set: { deleted: true }` deletes the row, and `deleted: false` in another one undoes that.
	Set []TransitionValue `set:"set" example:"{ deleted: true }"`
	// Fields that the caller of the command may set.
	Take []string `set:"take" example:"[reason]"`
}

// TransitionValue is one field that a transition sets.
type TransitionValue struct {
	Name string `set:",key"`
	// What it is set to, as the field's type is written.
	Value Scalar `set:"value,required,short" example:"true"`
}
