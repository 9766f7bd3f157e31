package verify

import (
	"fmt"
	"strconv"

	"brine/internal/term"
	"brine/rowkey"
)

// String returns the finding as a sentence for people.
func (f *Finding) String() string {
	text := string(f.Kind) + ": "
	switch {
	case f.Kind == Lost:
		text += "topic " + f.Table
	case f.Document:
		text += fmt.Sprintf("index %s, document %s", f.Table, f.Key)
	default:
		text += fmt.Sprintf("table %s, row %s", f.Table, rowkey.Binary(f.Key))
	}
	if f.Column != "" {
		text += ", " + f.Column
	}
	text += ": " + f.Reason
	if f.Expected >= 0 {
		text += fmt.Sprintf("; expected version %d", f.Expected)
	}
	if f.Found >= 0 {
		text += fmt.Sprintf("; found version %d", f.Found)
	}
	for i, rec := range f.Records {
		if i == 3 {
			return text + fmt.Sprintf("; and %d more records", len(f.Records)-3)
		}
		text += fmt.Sprintf("; record %d:%d of %s", rec.Partition, rec.Offset, rec.Topic)
	}
	return text
}

// Tied describes how much of the table depends on the order in which changes were applied, with an example. It requires that Ties is not 0.
func (t *TableReport) Tied() string {
	what, key, have := "row", fmt.Sprint(rowkey.Binary(t.Tie.Key)), "have"
	if t.Documents {
		what, key = "document", strconv.Quote(string(t.Tie.Key))
	}
	if t.Ties == 1 {
		have = "has"
	}
	at := func(r Record) string { return fmt.Sprintf("%d:%d", r.Partition, r.Offset) }
	return fmt.Sprintf("%s %s changes that tie, so the order of application decides which wins; %s; such as %s %s: "+
		"records %s and %s of %s",
		term.Count(int(t.Ties), what), have, t.Tie.Fix, what, key, at(t.Tie.Records[0]), at(t.Tie.Records[1]), t.Tie.Records[1].Topic)
}
