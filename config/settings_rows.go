package config

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
