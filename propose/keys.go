package propose

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// Key is a proposed row key.
type Key struct {
	Expr   string   `json:"key"`
	Row    string   `json:"row"`              // event or entity
	Reads  string   `json:"reads"`            // what one scan or get reads
	Spread float64  `json:"spread"`           // largest share of the sample's rows in one of 16 equal regions; 0.0625 is even
	Rows   int      `json:"rows"`             // number of rows that the sample becomes
	Clash  int      `json:"collisions"`       // records that would overwrite a different one, if each record is to be a row
	Splits []string `json:"splits,omitempty"` // where regions begin, if the key itself does not say it
	fields []string // fields in it
}

// keys returns the proposals, best for the sample first.
func (s *sample) keys(entity, owner, birth int, version string) []Key {
	var out []Key
	add := func(k Key, parts ...part) {
		k.Expr, k.fields = expression(parts)
		if s.measure(&k) == nil {
			out = append(out, k)
		}
	}
	id, repeated := s.part(entity), s.counts[entity] < len(s.events) || s.single() // a key for several changes loses none
	salt := s.salt(entity)
	if at := s.field(version); at >= 0 && repeated {
		parts := []part{salt, id, s.newest(at)}
		parts = append(parts, s.tieBreaker(entity, at)...)
		add(Key{Row: "event", Reads: fmt.Sprintf("all records of one %s, the newest first", s.fields[entity].Name)}, parts...)
	}
	if repeated {
		add(Key{Row: "entity", Reads: fmt.Sprintf("the latest state of one %s: all its changes go into one row", s.fields[entity].Name)},
			salt, id)
	} else {
		add(Key{Row: "event", Reads: fmt.Sprintf("the record of one %s", s.fields[entity].Name)}, salt, id)
	}
	if owner >= 0 {
		parts := []part{s.salt(owner), s.part(owner)}
		reads := fmt.Sprintf("all of one %s's records by %s", s.fields[owner].Name, s.fields[entity].Name)
		if birth >= 0 {
			parts = append(parts, s.newest(birth))
			reads = fmt.Sprintf("all of one %s's records, the newest first", s.fields[owner].Name)
		}
		row := "event"
		if repeated {
			row = "entity"
		}
		add(Key{Row: row, Reads: reads}, append(parts, id)...)
	}
	if s.partial(entity) { // partial changes of an entity should share a row
		slices.SortStableFunc(out, func(a, b Key) int { return rank(a) - rank(b) })
	}
	return out
}

// rank sorts rows that collect partial changes before rows of one change each.
func rank(k Key) int {
	if k.Row == "entity" {
		return 0
	}
	return 1
}

// part is one part of a key. A separator follows its text unless it is the last or has a fixed width.
type part struct {
	text, field string
	open        bool // of any length
	separator   string
}

// expression joins parts.
func expression(parts []part) (text string, fields []string) {
	for i, p := range parts {
		if i > 0 {
			text += " + "
		}
		text += p.text
		if p.open && i < len(parts)-1 {
			text += " + " + p.separator
		}
		if !slices.Contains(fields, p.field) {
			fields = append(fields, p.field)
		}
	}
	return text, fields
}

// salt spreads rows by a field.
func (s *sample) salt(f int) part {
	return part{text: fmt.Sprintf("md5(%s, 4)", s.fields[f].Name), field: s.fields[f].Name}
}

// bucket spreads rows by a field over few scans, in each of which they keep their order.
func (s *sample) bucket(f int) part {
	return part{text: fmt.Sprintf("salt(%d, %s)", regions, s.fields[f].Name), field: s.fields[f].Name}
}

// regions is the number of regions of a proposed table.
const regions = 16

// hexSplits cut texts by their first digit in hexadecimal, as of a UUID, into regions.
var hexSplits = strings.Split("123456789abcdef", "")

// part returns a field as a part of a key.
func (s *sample) part(f int) part {
	p := part{text: s.fields[f].Name, field: s.fields[f].Name, open: true, separator: `"|"`}
	switch t := s.fields[f].Type; {
	case t == event.Int:
		p.text, p.open = "asc("+p.text+")", false
	case t == event.Date:
		p.text, p.open = "asc("+p.text+")", false
	case t.TakesTimes():
		return s.newest(f)
	case t == event.Bool:
		p.open = true
	case s.columns[f].barred:
		p.separator = `"\x00"`
	}
	return p
}

// newest returns a time, or a growing number, as a part that sorts the latest first.
func (s *sample) newest(f int) part {
	p := part{field: s.fields[f].Name, text: fmt.Sprintf("desc(%s, ms)", s.fields[f].Name)}
	if t := s.fields[f].Type; !t.IsTime() { // an integer to keys
		p.text = "desc(" + s.fields[f].Name + ")"
	}
	return p
}

// tieBreaker returns the field that best distinguishes the sample's records with the same entity and time, preferring fields with few
// values. If there are no such records, it takes a short field that varies: later records may tie where the sample does not.
func (s *sample) tieBreaker(entity, at int) []part {
	best, bestSame := -1, s.same([]int{entity, at})
	for f := range s.fields {
		t := s.fields[f].Type
		if f == entity || f == at || !s.complete(f) || t != event.Text && t != event.Int || s.columns[f].longest > 32 || s.decides(entity, f) {
			continue
		}
		same := s.same([]int{entity, at, f})
		if same < bestSame || same == bestSame && (best < 0 || s.counts[f] < s.counts[best]) {
			best, bestSame = f, same
		}
	}
	if best < 0 {
		return nil
	}
	return []part{{text: `"|"`}, s.part(best)}
}

// same returns the number of records that differ from an earlier one with the same values of these fields.
func (s *sample) same(fields []int) (n int) {
	seen := map[string]contents{}
	for i := range s.events {
		place := ""
		for _, f := range fields {
			place += s.cells[f][i] + "\x00\x01"
		}
		if seen[place].differ(s.hashes[i]) {
			n++
		}
		seen[place] = seen[place].and(s.hashes[i])
	}
	return n
}

// measure makes the rows of the sample. It fails if the key is invalid, or if a record has no row.
func (s *sample) measure(k *Key) error {
	schema := s.schema()
	key, err := eventkey.Parse(k.Expr, schema)
	if err != nil {
		return err
	}
	encoder, err := eventkey.New(key, schema)
	if err != nil {
		return err
	}
	points, err := k.points(key)
	if err != nil {
		return err
	}
	rows, in, most := map[string]contents{}, [regions]int{}, 0
	for i := range s.events {
		row, err := encoder.Append(nil, &s.events[i])
		if err != nil || len(row) > rowkey.MaxRow {
			return fmt.Errorf("record %d: %w", i, err)
		}
		there := rows[string(row)]
		rows[string(row)] = there.and(s.hashes[i])
		if there == nil {
			r := sort.Search(len(points), func(n int) bool { return bytes.Compare(row, points[n]) < 0 })
			in[r]++
			most = max(most, in[r])
		}
		if k.Row == "event" && there.differ(s.hashes[i]) {
			k.Clash++
		}
	}
	k.Rows = len(rows)
	k.Spread = float64(most) / float64(max(1, len(rows)))
	return nil
}

// points returns where the regions of a table with this key begin.
func (k *Key) points(key *rowkey.Key) (out [][]byte, err error) {
	if k.Splits == nil {
		return key.Splits(regions)
	}
	for _, text := range k.Splits {
		out = append(out, []byte(text))
	}
	return out, nil
}

// schema declares the fields, with the records' own time as the version.
func (s *sample) schema() event.Schema {
	out := event.Schema{Version: -1}
	for _, f := range s.fields {
		out.Fields = append(out.Fields, f.Field)
	}
	return out
}
