package explain

import (
	"encoding/json"

	"brine/event"
	"brine/rowkey"
	"brine/sink"
)

// Report is what became of a record, as JSON.
type Report struct {
	Topic     string     `json:"topic"`
	Partition int        `json:"partition"`
	Offset    int64      `json:"offset"`
	Absent    string     `json:"absent,omitempty"`    // the reason that there is no record at the offset, which is within the log
	Timestamp *int64     `json:"timestamp,omitempty"` // ms since 1970
	Bytes     int        `json:"bytes"`               // of key, value and headers
	NoValue   bool       `json:"no_value,omitempty"`
	Key       *string    `json:"key,omitempty"`
	KeyBytes  []byte     `json:"key_base64,omitempty"` // instead of Key, if the key is not text
	Pipelines []Pipeline `json:"pipelines"`            // that read the topic
}

// Pipeline is what a pipeline makes of the record.
type Pipeline struct {
	Pipeline   string       `json:"pipeline"`
	Configured Configured   `json:"configured,omitempty"` // empty: the current configuration
	schema     event.Schema // of that configuration

	Rejected *Reject  `json:"rejected,omitempty"` // the record cannot be decoded
	Awaits   *Reject  `json:"awaits,omitempty"`   // what must exist before the record can be decoded
	Events   []Event  `json:"events"`
	Letters  []Letter `json:"dead_letters"` // of the record
	Unread   string   `json:"dead_letters_unread,omitempty"`
	Halves   []Half   `json:"halves"`
}

// Reject is the reason that a record, or an event of it, is not written.
type Reject struct {
	Half   string       `json:"half,omitempty"` // the half that rejects it; empty: both
	Reason event.Reason `json:"reason"`
	Field  string       `json:"field,omitempty"`
	Detail string       `json:"detail,omitempty"`
	Fix    string       `json:"fix,omitempty"`
	Where  *Place       `json:"where,omitempty"` // the place of the expression that has no result
}

// Place is the place of a setting in the configuration.
type Place struct {
	Setting string `json:"setting"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Env     string `json:"env,omitempty"` // the environment variable that the value came from, instead
}

// Event is one event of the record.
type Event struct {
	Version    int64         `json:"version"`
	LeftOut    event.LeftOut `json:"left_out,omitempty"` // the reason that it writes nothing
	By         *Place        `json:"left_out_by,omitempty"`
	Fields     []Field       `json:"fields"`
	Before     []Field       `json:"before,omitempty"` // the values before the change, if the record has them
	Conditions []Condition   `json:"conditions,omitempty"`
	Awaits     *Reject       `json:"awaits,omitempty"` // what must exist before its key is known
	Rejected   []Reject      `json:"rejected,omitempty"`
	Rows       []Row         `json:"rows"`
	Documents  []Document    `json:"documents"`
}

// Field is a field of an event.
type Field struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value any    `json:"value"`          // a text, a number, true, false or null; for a time ms since 1970; for json its contents
	Made  bool   `json:"made,omitempty"` // by let

	text string // for people
}

// Condition is the result of the when of a row or document.
type Condition struct {
	Place
	Half      string `json:"half"`
	Of        string `json:"of"` // the table or index
	Holds     bool   `json:"holds"`
	Otherwise string `json:"otherwise,omitempty"` // skip or delete, if it does not hold
	Fault     string `json:"fault,omitempty"`     // the reason that it has no result
}

// State compares something that the record writes with the stored data.
type State string

// The states.
const (
	Same    State = "same"
	Newer   State = "newer"   // a later change has overwritten it
	Tied    State = "tied"    // another change of the same version was applied after it
	Older   State = "older"   // the stored data is older: this was not written
	Missing State = "missing" // nothing is stored
	Hidden  State = "deleted" // a later delete hides it
	Expired State = "expired" // it is older than the TTL of its family
	Gone    State = "gone"    // a delete: what it deletes does not exist
	There   State = "there"   // a delete: what it deletes still exists
)

// Row is what the event writes into one row, and what is stored there.
type Row struct {
	Table   string        `json:"table"`
	Row     string        `json:"row"` // as HBase's shell shows it
	Key     string        `json:"key"`
	Parts   []rowkey.Part `json:"parts"`
	Bucket  *int          `json:"salt_bucket,omitempty"`
	Region  string        `json:"region,omitempty"`
	Server  string        `json:"server,omitempty"`
	TTL     int64         `json:"ttl_ms,omitempty"`
	Problem string        `json:"problem,omitempty"` // the reason that nothing is known of the stored data
	Cells   []Cell        `json:"cells"`
}

// Cell is one cell that the event writes, or a delete.
type Cell struct {
	Column  string      `json:"column"`          // family:qualifier; for a delete of a family the family
	Write   string      `json:"write"`           // put, delete_column or delete_family
	Value   *sink.Shown `json:"value,omitempty"` // absent for a delete
	Version int64       `json:"version"`
	State   State       `json:"state,omitempty"`
	Now     *sink.Shown `json:"now,omitempty"` // the stored value, unless it is the same or absent
	At      *int64      `json:"now_version,omitempty"`
}

// Document is what the event writes into one document, and what is stored there.
type Document struct {
	Index   string          `json:"index"`
	Part    string          `json:"part,omitempty"` // of the index, if it has parts
	ID      string          `json:"id"`
	Whole   bool            `json:"whole"` // it is replaced, not changed field by field
	Found   bool            `json:"found"`
	Problem string          `json:"problem,omitempty"`
	Fields  []DocumentField `json:"fields"`
}

// DocumentField is one field that the event writes.
type DocumentField struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Version int64           `json:"version"`
	State   State           `json:"state,omitempty"`
	Now     json.RawMessage `json:"now,omitempty"`
	At      *int64          `json:"now_version,omitempty"`
}

// Letter is a dead letter of the record.
type Letter struct {
	Half     string       `json:"half"`
	Reason   event.Reason `json:"reason"`
	Field    string       `json:"field,omitempty"`
	Detail   string       `json:"detail,omitempty"`
	Written  int64        `json:"written"`            // ms since 1970
	Replayed *int64       `json:"replayed,omitempty"` // absent: it is open
	Let      string       `json:"let,omitempty"`      // what its record was fixed by, one expression per line
	Place    string       `json:"place"`              // in the dead-letter topic
	Fixed    *Fixed       `json:"fixed,omitempty"`    // what the record has become by Let, if its half rejects it otherwise
}

// Fixed is what a replay with a fix makes of the record, in the half of its dead letter.
type Fixed struct {
	Problem  string  `json:"problem,omitempty"`  // the reason that the current configuration cannot repeat the fix
	Rejected *Reject `json:"rejected,omitempty"` // the record cannot be decoded even so
	Awaits   *Reject `json:"awaits,omitempty"`
	Events   []Event `json:"events"`
}

// Half is what became of the record in one half of the pipeline.
type Half struct {
	Half      string  `json:"half"`
	Group     string  `json:"group"`
	Committed *int64  `json:"committed"` // the next offset of the group; null: it has committed none
	Settled   bool    `json:"settled"`   // the record's offset is committed
	Outcome   Outcome `json:"outcome,omitempty"`
	Why       string  `json:"why,omitempty"`
}
