package propose

import (
	"cmp"
	"math"
	"slices"

	"brine/event"
)

// Version is a field that can order the changes of one entity.
type Version struct {
	Field string `json:"field"` // empty: the time of the Kafka record
	Ties  int    `json:"ties"`  // records that differ from another one of their entity with the same version
	Of    int    `json:"of"`    // records
}

const dayMS = 24 * 60 * 60 * 1000

// versions returns the candidates, best first: fewest ties, then most distinct values.
func (s *sample) versions(entity int) []Version {
	var out []Version
	for f := range s.fields {
		if s.orders(f) {
			// A time that never changes shows when the entity began, not in which order its changes came.
			if !s.single() && s.counts[entity] < len(s.events) && s.decides(entity, f) {
				continue
			}
			out = append(out, Version{Field: s.fields[f].Name, Of: len(s.events),
				Ties: s.ties(entity, func(i int) int64 { return s.events[i].Values[f].Milliseconds() })})
		}
	}
	slices.SortStableFunc(out, func(a, b Version) int {
		f, g := s.field(a.Field), s.field(b.Field)
		return cmp.Or(cmp.Compare(a.Ties, b.Ties), cmp.Compare(s.counts[g], s.counts[f]))
	})
	return append(out, s.byRecords(entity))
}

// byRecords returns the time of the Kafka record as a version.
func (s *sample) byRecords(entity int) Version {
	return Version{Of: len(s.events), Ties: s.ties(entity, func(i int) int64 { return s.events[i].Record.Timestamp })}
}

// orders reports whether a field may be a version.
func (s *sample) orders(f int) bool {
	t := s.fields[f].Type
	if !s.complete(f) || !t.Orders() || t == event.Int && !s.named(f, []string{"version", "seq", "sequence", "revision", "lsn"}) {
		return false
	}
	for i := range s.events {
		v := s.events[i].Values[f].Milliseconds()
		if v < 0 || v == math.MaxInt64 || v-dayMS > s.events[i].Record.Timestamp {
			return false
		}
	}
	return true
}

// ties returns the number of records that differ from an earlier one of their entity with the same version.
func (s *sample) ties(entity int, version func(i int) int64) (n int) {
	type place struct {
		entity  string
		version int64
	}
	seen := map[place]contents{}
	for i := range s.events {
		at := place{s.cells[entity][i], version(i)}
		if seen[at].differ(s.hashes[i]) {
			n++
		}
		seen[at] = seen[at].and(s.hashes[i])
	}
	return n
}

// field returns the position of a field, or -1 if there is none of that name.
func (s *sample) field(name string) int {
	return slices.IndexFunc(s.fields, func(f Field) bool { return f.Name == name })
}

// contents are the hashes of the distinct records at one place; most places have one.
type contents []uint64

// differ reports whether a record differs from all that are there: one that came twice does not.
func (c contents) differ(hash uint64) bool { return len(c) > 0 && !slices.Contains(c, hash) }

func (c contents) and(hash uint64) contents {
	if slices.Contains(c, hash) || len(c) == maxContents {
		return c
	}
	return append(c, hash)
}

// maxContents bounds the comparisons if all records are at one place.
const maxContents = 16
