package deadletter

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"brine/event"
)

// Kind is what a summary counts dead letters by. Other marks the one sum of all kinds for which there was no room.
type Kind struct {
	Group  string
	Reason event.Reason
	Field  string
	Schema string
	Other  bool
}

// Sum is the total of one kind.
type Sum struct {
	Kind
	Letters     int
	Replayed    int // of them
	First, Last time.Time
	Example     Place // of the last one's record, in its own topic
}

// MaxKinds is how many kinds a summary tells apart. Paths of fields and ids of schemas come from records, which may hold any number.
const MaxKinds = 1000

// By says what a summary tells apart, beside the groups.
type By struct {
	Reason, Field bool
	// Schema names the schema that a record was written with; empty: none is known. nil: schemas are not told apart.
	Schema func(*Letter) string
	// Most kinds that are told apart, the first to be seen; 0: MaxKinds.
	Most int
}

func (b *By) kind(l *Letter) Kind {
	k := Kind{Group: l.Group}
	if b.Reason {
		k.Reason = l.Reason
	}
	if b.Field {
		k.Field = l.Field
	}
	if b.Schema != nil {
		k.Schema = b.Schema(l)
	}
	return k
}

// Summarize counts dead letters by kind: those of one group together, the most frequent first, and what had no room at the end.
func Summarize(letters iter.Seq2[*Kept, error], by By) ([]*Sum, error) {
	sums, most := map[Kind]*Sum{}, cmp.Or(by.Most, MaxKinds)
	for l, err := range letters {
		if err != nil {
			return nil, err
		}
		kind := by.kind(&l.Letter)
		if sums[kind] == nil && len(sums) >= most {
			kind = Kind{Other: true}
		}
		if sums[kind] == nil {
			sums[kind] = &Sum{Kind: kind, First: l.Time.UTC()}
		}
		sums[kind].add(&l.Letter)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *Sum) int {
		if a.Other || b.Other { // of which there is one
			return map[bool]int{true: 1, false: -1}[a.Other]
		}
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(b.Letters, a.Letters), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Schema, b.Schema))
	}), nil
}

func (s *Sum) add(l *Letter) {
	s.Letters++
	if !l.Replayed.IsZero() {
		s.Replayed++
	}
	if l.Time.Before(s.First) {
		s.First = l.Time.UTC()
	}
	if !l.Time.Before(s.Last) {
		s.Last, s.Example = l.Time.UTC(), l.Origin()
	}
}

// CountByGroup returns how many dead letters each group has.
func CountByGroup(letters iter.Seq2[*Kept, error]) (map[string]int, error) {
	n := map[string]int{}
	for l, err := range letters {
		if err != nil {
			return nil, err
		}
		n[l.Group]++
	}
	return n, nil
}
