package rowkey

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Scan is a range to read of one of a table's keys, and the versions to read in it.
type Scan struct {
	Range
	From, To int64 // as Keys.Versions returns them
}

// Scans returns the scans of each key that read the rows whose fields satisfy bounds; see Key.Ranges.
func (ks Keys) Scans(bounds map[string]Bound) ([]Scan, error) {
	scans := []Scan{}
	for i, k := range ks {
		ranges, err := k.Key.Ranges(bounds)
		if err != nil {
			return nil, err
		}
		from, to := ks.Versions(i)
		for _, r := range ranges {
			scans = append(scans, Scan{r, from, to})
		}
	}
	return scans, nil
}

// String formats the scan for people, with its rows as Binary formats them.
func (s Scan) String() string {
	text := Binary(s.Start) + " → " + cmp.Or(Binary(s.Stop), "end")
	if s.To > 0 {
		text += fmt.Sprintf("  versions from %d to %d", s.From, s.To)
	}
	return text
}

// MarshalJSON writes the scan with its rows as Binary formats them.
func (s Scan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Start string `json:"start"`
		Stop  string `json:"stop,omitempty"` // absent: the end of the table
		From  int64  `json:"from_version,omitempty"`
		To    int64  `json:"to_version,omitempty"` // exclusive
	}{Binary(s.Start), Binary(s.Stop), s.From, s.To})
}
