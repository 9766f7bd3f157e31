package propose

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"brine/event"
)

// sample is the decoded records, column by column.
type sample struct {
	fields  []Field
	columns []*column // of the fields
	events  []event.Event
	cells   [][]string // by field, then by event: the bytes of the value; empty is null
	hashes  []uint64   // of the records
	counts  []int      // number of distinct non-null values of each field
	whole   bool       // records have all fields of their schema, so that a null does not make a change partial
}

func newSample(fields []Field, columns []*column, events []event.Event) *sample {
	s := &sample{fields: fields, columns: columns, events: events}
	for i := range events {
		s.hashes = append(s.hashes, xxhash.Sum64(events[i].Record.Value))
	}
	for f := range fields {
		cells := make([]string, len(events))
		distinct := map[string]bool{}
		for i := range events {
			if v := events[i].Values[f]; !v.Null() {
				cells[i] = string(event.AppendValue([]byte{byte(v.Type)}, v))
				distinct[cells[i]] = true
			}
		}
		s.cells = append(s.cells, cells)
		s.counts = append(s.counts, len(distinct))
	}
	return s
}

// complete reports whether every event has the field.
func (s *sample) complete(f int) bool { return !slices.Contains(s.cells[f], "") }

// decides reports whether each value of field a occurs with only one value of b.
func (s *sample) decides(a, b int) bool {
	with := map[string]string{}
	for i, cell := range s.cells[a] {
		other := s.cells[b][i]
		if cell == "" || other == "" {
			continue
		}
		if before, ok := with[cell]; ok && before != other {
			return false
		}
		with[cell] = other
	}
	return true
}

// keyed reports whether the records' keys are the field's values.
func (s *sample) keyed(f int) bool {
	for i := range s.events {
		ev := &s.events[i]
		if s.fields[f].Type != event.Text || string(ev.Record.Key) != string(ev.Values[f].Text()) || len(ev.Record.Key) == 0 {
			return false
		}
	}
	return len(s.events) > 0
}

// Names that show what a field identifies.
var (
	idNames = []string{"id", "no", "number", "num", "key", "uuid", "guid", "code", "waybill", "order", "sku",
		"parcel", "tracking", "shipment", "ref"}
	ownerNames = []string{"user", "customer", "buyer", "account", "owner", "member", "client", "shop",
		"store", "seller", "courier", "driver", "tenant", "device"}
)

// named reports whether a word of the field's name is one of these.
func (s *sample) named(f int, words []string) bool {
	name := strings.ToLower(s.fields[f].Name)
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '_' }), func(part string) bool {
		return slices.Contains(words, part) || slices.ContainsFunc(words, func(w string) bool { return len(w) > 1 && strings.HasSuffix(part, w) })
	})
}

// identifies reports whether a field can be the part of a key that identifies something.
func (s *sample) identifies(f int) bool {
	t := s.fields[f].Type
	return (t == event.Text && s.columns[f].longest <= 64 || t == event.Int) && s.complete(f) &&
		(s.counts[f] > 1 || s.counts[f] == 1 && s.single())
}

// single reports whether no two events differ, as in a sample of one: then nothing shows which field varies.
func (s *sample) single() bool {
	return !slices.ContainsFunc(s.counts, func(n int) bool { return n > 1 })
}

// best returns the field with the highest score, or -1 if all are 0.
func (s *sample) best(score func(f int) float64) int {
	best, most := -1, 0.0
	for f := range s.fields {
		if n := score(f); n > most {
			best, most = f, n
		}
	}
	return best
}

// entity returns the field that identifies what a record is about, or -1 if none does.
func (s *sample) entity() int {
	n := float64(len(s.events))
	return s.best(func(f int) float64 {
		if !s.identifies(f) || s.named(f, ownerNames) && !s.keyed(f) {
			return 0
		}
		score := float64(s.counts[f]) / n
		if s.keyed(f) {
			score += 3
		}
		if s.named(f, idNames) {
			score++
		} else if score < 0.05 && !s.keyed(f) {
			return 0
		}
		return score
	})
}

// owner returns the field that identifies to whom an entity belongs, with several entities per owner, or -1 if there is none.
func (s *sample) owner(entity int) int {
	return s.best(func(f int) float64 {
		if f == entity || !s.identifies(f) || s.counts[f] >= s.counts[entity] || !s.decides(entity, f) || !s.named(f, ownerNames) {
			return 0
		}
		return float64(s.counts[f])
	})
}

// birth returns a time of which each entity has only one, or -1 if there is none.
func (s *sample) birth(entity, version int) int {
	return s.best(func(f int) float64 {
		if f == version || !s.fields[f].Type.TakesTimes() || !s.complete(f) || !s.decides(entity, f) {
			return 0
		}
		return float64(s.counts[f])
	})
}

// partial reports whether some changes of an entity lack fields that others of it have.
func (s *sample) partial(entity int) bool {
	return !s.whole && slices.ContainsFunc(s.columns, func(c *column) bool { return c.seen < len(s.events) }) &&
		s.counts[entity] < len(s.events)
}
