package verify

// Kind is what is wrong.
type Kind string

// The kinds of finding.
const (
	Missing   Kind = "missing"   // an event is not there, as a whole or a cell of it
	Stale     Kind = "stale"     // an older cell is there, or one that a change has deleted
	Different Kind = "different" // the version is right and the value is not
	Newer     Kind = "newer"     // full mode: a cell of a version that no record of the topic has
	Extra     Kind = "extra"     // full mode: a row, or a cell, that no record accounts for
	Collided  Kind = "collided"  // two different events share a row, in a table whose rows are events
	Lost      Kind = "lost"      // a record that cannot be written is not in the dead letters
)

// Kinds are all kinds, in the order in which they are told.
var Kinds = []Kind{Missing, Stale, Different, Newer, Extra, Collided, Lost}

// Finding is one thing that is wrong.
type Finding struct {
	Table    string // or index; of Lost the topic
	Document bool
	Key      []byte // of the row; of a document the id; of Lost nothing
	Column   string // family:qualifier, or the document's field; empty when the whole row is meant
	Kind     Kind
	Expected int64 // version; −1: none
	Found    int64 // version; −1: none
	Reason   string
	Records  []Record // that expect it

	from  []origin
	cells []Cell // of an Extra: what is there, for its removal
}

// Record is where a record lies.
type Record struct {
	Pipeline  string `json:"pipeline"` // Source.Name
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`
}
