package verify

import (
	"fmt"

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
