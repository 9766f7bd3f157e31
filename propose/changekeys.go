package propose

import (
	"fmt"
	"slices"
	"strings"

	"brine/event"
)

// mostKeys is the number of proposals after which there are no more for rows of a database.
const mostKeys = 3

// changeKeys returns the proposals for rows of a database, the one of the primary key first. All but the one by owner hold the primary key
// and nothing else, as they must where only the key is known of the row before a change.
func (s *sample) changeKeys(key []int, whole bool) (out []Key) {
	names := strings.Join(namesOf(s.fields, key), ", ")
	add := func(reads string, lead part, rest ...int) {
		k, parts := Key{Row: "entity", Reads: reads}, []part{lead}
		for _, f := range rest {
			parts = append(parts, s.part(f))
		}
		k.Expr, k.fields = expression(parts)
		if s.measure(&k) == nil {
			out = append(out, k)
		}
	}
	first := key[0]
	add("the latest state of one "+names+": all its changes go into one row"+s.together(key), s.salt(first), key...)
	if owner := s.owner(first); whole && owner >= 0 && !slices.Contains(key, owner) {
		add(fmt.Sprintf("all of one %s's rows by %s; a change of %[1]s moves its row", s.fields[owner].Name, s.fields[first].Name),
			s.salt(owner), append([]int{owner}, key...)...)
	}
	for i, f := range key[1:] {
		if s.counts[f] > 1 && len(out) < mostKeys-1 {
			rest := slices.Delete(slices.Clone(key), i+1, i+2)
			add(fmt.Sprintf("the same row, and all rows of one %s in one scan", s.fields[f].Name), s.salt(f), append([]int{f}, rest...)...)
		}
	}
	if k, ok := s.unhashed(first); ok && len(key) == 1 && len(out) < mostKeys-1 {
		out = append(out, k)
	}
	if len(out) < mostKeys {
		add(fmt.Sprintf("the same row, and all rows in the order of %s, merged from 16 scans", s.fields[first].Name), s.bucket(first), key...)
	}
	return out
}

// unhashed returns the key that is a field alone, if its values spread without a hash; ok is false if they do not.
func (s *sample) unhashed(f int) (k Key, ok bool) {
	const much, even = 64, 0.15 // rows, and the largest share of them in one region
	name := s.fields[f].Name
	k = Key{Row: "entity", fields: []string{name}}
	switch s.fields[f].Type {
	case event.Int:
		k.Expr = "reverse(" + name + ")"
		k.Reads = "the same row, without a hash: its number backwards, which spreads what is counted up and must not be negative"
		return k, s.measure(&k) == nil
	case event.Text:
		k.Expr, k.Splits = name, hexSplits
		k.Reads = fmt.Sprintf("the same row, and all rows in the order of %s in one scan, without a hash: its values spread by themselves", name)
		return k, s.measure(&k) == nil && k.Rows >= much && k.Spread <= even
	}
	return k, false
}

// together returns what else the key of the primary key reads if that has several columns.
func (s *sample) together(key []int) string {
	if len(key) == 1 {
		return ""
	}
	return fmt.Sprintf("; all rows of one %s in one scan", s.fields[key[0]].Name)
}
