package verify

import "brine/mask"

// Finding is one thing that is wrong.
type Finding struct {
	Table    string // or index; for Lost the topic
	Document bool
	Key      []byte // of the row; for a document its id; empty for Lost
	Column   string // family:qualifier, or the document's field; empty for the whole row
	Kind     Kind
	Expected int64 // version; −1: none
	Found    int64 // version; −1: none
	Reason   string
	Records  []Record // the records that expect it

	from  []origin
	cells []Cell // for Extra: what is there, so that it can be removed
}

// Record is the position of a record.
type Record struct {
	Pipeline  string `json:"pipeline"` // Source.Name
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`
}

// Hide masks the keys that a report shows.
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
