package verify

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
