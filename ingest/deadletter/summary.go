package deadletter

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"brine/event"
)

// Kind is what a summary counts dead letters by. Other marks the sum of all kinds for which there was no room.
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
	Replayed    int // of these
	First, Last time.Time
	Example     Place // place of the last one's record, in its own topic
}

// MaxKinds is how many kinds a summary distinguishes. Field paths and schema ids come from records, which may contain any number of them.
const MaxKinds = 1000

// By says what a summary distinguishes, besides the groups.
type By struct {
	Reason, Field bool
	// Schema returns the name of the schema that a record was written with; empty if not known. nil: schemas are not distinguished.
	Schema func(*Letter) string
	// Most is the number of kinds to distinguish, in the order seen; 0: MaxKinds.
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

// Summarize counts dead letters by kind, grouped by group, the most frequent first, with the kinds that had no room last.
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
		if a.Other || b.Other { // there is only one
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

// CountByGroup returns the number of dead letters per group.
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
