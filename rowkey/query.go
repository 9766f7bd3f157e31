package rowkey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Query is a kind of question that a table has to answer with one scan.
type Query struct {
	Equal []string // fields bound to one value each
	Range string   // the field that ranges from one value to another; empty if none does
}

// ParseQuery parses a query as people write it: the names of its fields, with ".." after the one that is ranged over, as in "waybill at..".
func ParseQuery(s string) (Query, error) {
	var q Query
	for _, name := range strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == ',' }) {
		ranged, ok := strings.CutSuffix(name, "..")
		switch {
		case !ok && slices.Contains(q.Equal, name) || q.Range == name || slices.Contains(q.Equal, ranged):
			return q, fmt.Errorf("the query %q names %s twice; name each field once", s, strings.TrimSuffix(name, ".."))
		case !ok:
			q.Equal = append(q.Equal, name)
		case q.Range != "":
			return q, fmt.Errorf("the query %q ranges over %s and %s; a scan ranges over one field", s, q.Range, ranged)
		default:
			q.Range = ranged
		}
	}
	if len(q.Equal) == 0 && q.Range == "" {
		return q, errors.New(`a query names no field; write those that it binds, as in "waybill at.."`)
	}
	return q, nil
}

func (q Query) String() string {
	names := slices.Clone(q.Equal)
	if q.Range != "" {
		names = append(names, q.Range+"..")
	}
	return strings.Join(names, " ")
}

// Serves returns the number of scans that answer a query: 1, or one per bucket of a salt that the query does not determine. The error
// (*UsageError) explains why no scan does.
func (k *Key) Serves(q Query) (scans int, err error) {
	ranges, err := k.Ranges(k.sampleOf(q))
	if err != nil {
		return 0, err
	}
	return max(1, min(len(ranges), k.Salt().Buckets())), nil
}

// TailOf is Tail for bounds that fit the query.
func (k *Key) TailOf(q Query) (Tail, error) { return k.Tail(k.sampleOf(q)) }

// sampleOf returns bounds that fit the query.
func (k *Key) sampleOf(q Query) map[string]Bound {
	bounds := map[string]Bound{}
	for _, name := range q.Equal {
		bounds[name] = Bound{Equal: k.sample(name)}
	}
	if q.Range != "" {
		bounds[q.Range] = Bound{From: k.sample(q.Range)}
	}
	return bounds
}

// sample returns a value that the key can hold, of a field or of its geohash.
func (k *Key) sample(name string) Value {
	i := slices.IndexFunc(k.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return TextValue("0") // of a geohash, or of a field that Ranges will miss
	}
	if k.fields[i].typ == Text {
		return TextValue(k.freeCharacter())
	}
	return Value{Type: k.fields[i].typ, Int: 1}
}

// freeCharacter returns a character that is not part of any separator or pad of the key.
func (k *Key) freeCharacter() string {
	taken := []byte{}
	for _, s := range k.slots {
		switch p := s.part.(type) {
		case literal:
			taken = append(append(taken, p...), appendComplement(nil, p)...)
		case *fixed:
			taken = append(taken, p.pad)
		}
	}
	for c := byte('0'); c < 0x7f; c++ {
		if !slices.Contains(taken, c) {
			return string(rune(c))
		}
	}
	return "0"
}
