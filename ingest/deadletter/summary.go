package deadletter

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"brine/event"
)

// Kind is what a summary counts dead letters by.
type Kind struct {
	Group  string
	Reason event.Reason
	Field  string
}

// Sum is the total of one kind.
type Sum struct {
	Kind
	Letters     int
	Replayed    int // of them
	First, Last time.Time
	Example     Place // of the last one's record, in its own topic
}

// Summarize counts dead letters by kind: those of one group together, the most frequent first.
func Summarize(letters iter.Seq2[*Kept, error]) ([]*Sum, error) {
	sums := map[Kind]*Sum{}
	for l, err := range letters {
		if err != nil {
			return nil, err
		}
		kind := Kind{l.Group, l.Reason, l.Field}
		if sums[kind] == nil {
			sums[kind] = &Sum{Kind: kind, First: l.Time.UTC()}
		}
		sums[kind].add(&l.Letter)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *Sum) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(b.Letters, a.Letters), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Field, b.Field))
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
