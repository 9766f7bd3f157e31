package config

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
	// need `changes: whole` and versions that are times, and write delete markers: see rows.md.
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
	// Which events become this row: an expression in CEL that is true or false; see filters.md.
	When string `set:"when" example:"\"action == 'DELIVER'\""`
	// What an event for which `when` is false does to its row, which an earlier one may have made. `skip`: nothing. `delete`: it deletes the
	// row as `deleted` and `hard_deletes` say, at the event's version; only where rows are entities.
	Otherwise string `set:"otherwise" default:"skip" oneof:"skip delete"`
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
	// Which events become this document: an expression in CEL that is true or false; see filters.md.
	When string `set:"when" example:"\"action == 'DELIVER'\""`
	// What an event for which `when` is false does to its document, which an earlier one may have made. `skip`: nothing. `delete`: it marks
	// it as deleted, at the event's version; needs `deleted`, and rows that are entities.
	Otherwise string `set:"otherwise" default:"skip" oneof:"skip delete"`
}

// DocumentField is one field of a document.
type DocumentField struct {
	Name string `set:",key"`
	// The field of the event that fills it.
	Field string `set:"field,required,short" example:"waybill"`
}
