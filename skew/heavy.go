package skew

import (
	"bytes"
	"cmp"
	"slices"
)

// Heavy is a key that was written often: between Rows − Error and Rows times, as far as every key was looked at. At high rates one key
// in so many is, and stands for as many (stride): then these are estimates.
type Heavy struct {
	Key   Key     `json:"key"`
	Text  string  `json:"text,omitempty"` // the fields that it holds
	Rows  int64   `json:"rows"`
	Error int64   `json:"error"`
	Share float64 `json:"share"` // Rows of all rows of the same time
}

// heavy is what the sketches of two spans of time have most of together, in that order, down to a share.
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
		if float64(h.Rows-h.Error) >= least*total { // for certain
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b Heavy) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), bytes.Compare(a.Key, b.Key)) })
	return out
}
