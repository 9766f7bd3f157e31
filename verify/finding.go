package verify

import "brine/mask"

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

// Hide masks what a report shows of keys.
func (r *Report) Hide(rules *mask.Rules) {
	for i := range r.Findings {
		if f := &r.Findings[i]; rules.MasksKey(f.Table) {
			f.Key = []byte(mask.Text)
		}
	}
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Tie != nil && rules.MasksKey(t.Name) {
			tie := *t.Tie
			tie.Key, t.Tie = []byte(mask.Text), &tie
		}
	}
}
