package rowkey

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Scan is a range that is read of one of a table's keys, and the versions of which it is read.
type Scan struct {
	Range
	From, To int64 // as Keys.Versions gives them
}

// Scans returns what is read of each key for the rows whose fields satisfy bounds, as Key.Ranges does for one.
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

// String shows the scan to people, its rows as Binary writes them.
func (s Scan) String() string {
	text := Binary(s.Start) + " → " + cmp.Or(Binary(s.Stop), "end")
	if s.To > 0 {
		text += fmt.Sprintf("  versions from %d to %d", s.From, s.To)
	}
	return text
}

// MarshalJSON writes the scan with its rows as Binary writes them.
func (s Scan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Start string `json:"start"`
		Stop  string `json:"stop,omitempty"` // absent: the end of the table
		From  int64  `json:"from_version,omitempty"`
		To    int64  `json:"to_version,omitempty"` // exclusive
	}{Binary(s.Start), Binary(s.Stop), s.From, s.To})
}
