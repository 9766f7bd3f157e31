package skew

import (
	"bytes"
	"cmp"
	"slices"
)

// Heavy is a key that was written often: between Rows − Error and Rows times, if every key was looked at. At high rates only one key in
// several is looked at and stands for the others (stride), so that these numbers are estimates.
type Heavy struct {
	Key   Key     `json:"key"`
	Text  string  `json:"text,omitempty"` // fields that are whole in the key
	Rows  int64   `json:"rows"`
	Error int64   `json:"error"`
	Share float64 `json:"share"` // Rows over all rows of the same time
}

// heavy returns the keys that the sketches of two spans of time have most of together, most first, down to a least share.
func heavy(a, b *sketch, least float64) []Heavy {
	sums := make(map[string]*Heavy)
	for _, s := range []*sketch{a, b} {
		for _, c := range s.counters {
			if sums[string(c.key)] == nil {
				sums[string(c.key)] = &Heavy{Key: bytes.Clone(c.key)}
			}
		}
	}
	var out []Heavy
	total := float64(a.total + b.total)
	for key, h := range sums {
		for _, s := range []*sketch{a, b} {
			rows, bound := s.of(key)
			h.Rows += rows
			h.Error += bound
		}
		h.Share = float64(h.Rows) / total
		if float64(h.Rows-h.Error) >= least*total { // certainly
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b Heavy) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), bytes.Compare(a.Key, b.Key)) })
	return out
}
