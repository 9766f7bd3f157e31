package propose

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
)

// The limits of a profile: of larger records, it reads only this many fields and levels.
const (
	maxFields   = 500 // distinct paths
	maxDepth    = 4   // object keys per path
	maxDistinct = 1 << 20
	wideObject  = 40 // members from which an object is data (a map) rather than a record with fields
)

// profile is the contents of a sample's records.
type profile struct {
	records int
	bad     int // records that are not JSON objects
	paths   map[string]*column
	order   []*column
}

// column is one path of the records.
type column struct {
	path    []string
	seen    int // records with a non-null value here
	kinds   map[jsontext.Kind]int
	texts   evidence // of strings
	numbers evidence // of numbers
	hashes  map[uint64]struct{}
	longest int  // bytes of a string
	barred  bool // a string holds "|"
	inner   int  // most members of an object here
}

func newProfile() *profile {
	return &profile{paths: map[string]*column{}}
}

// add reads one record.
func (p *profile) add(value []byte) {
	p.records++
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		p.bad++
		return
	}
	if err := p.object(d, nil); err != nil {
		p.bad++
	}
}

// object reads the members of an object.
func (p *profile) object(d *jsontext.Decoder, path []string) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for n := 1; d.PeekKind() != '}'; n++ {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if c := p.paths[joined(path)]; c != nil {
			c.inner = max(c.inner, n)
		}
		if err := p.member(d, append(path[:len(path):len(path)], name.String())); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (p *profile) member(d *jsontext.Decoder, path []string) error {
	c, kind := p.column(path), d.PeekKind()
	if c != nil && kind != 'n' {
		c.seen++
		c.kinds[kind]++
	}
	if kind == '{' && c != nil && len(path) < maxDepth {
		return p.object(d, path)
	}
	raw, err := d.ReadValue()
	if err != nil || c == nil || kind == 'n' {
		return err
	}
	c.value(kind, raw, xxhash.Sum64(raw))
	return nil
}

// column returns the column of a path, and adds it if necessary; nil: there are too many.
func (p *profile) column(path []string) *column {
	key := joined(path)
	c := p.paths[key]
	if c == nil && len(p.order) < maxFields {
		c = &column{path: slices.Clone(path), kinds: map[jsontext.Kind]int{}, hashes: map[uint64]struct{}{}}
		c.texts, c.numbers = newEvidence(), newEvidence()
		p.paths[key] = c
		p.order = append(p.order, c)
	}
	return c
}

func joined(path []string) string { return strings.Join(path, "\x00") }

// value records a value that is not an object.
func (c *column) value(kind jsontext.Kind, raw jsontext.Value, hash uint64) {
	if len(c.hashes) < maxDistinct {
		c.hashes[hash] = struct{}{}
	}
	switch kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return // ReadValue has checked it
		}
		c.longest = max(c.longest, len(text))
		c.barred = c.barred || bytes.IndexByte(text, '|') >= 0
		c.texts.add(text)
	case '0':
		c.numbers.add(raw)
	}
}

// fields returns the leaves, which become fields: the columns in the order of the records, without those whose values are objects with
// fields.
func (p *profile) fields() []*column {
	var out []*column
	for _, c := range p.order {
		if !p.within(c) && !c.branch() && c.seen > 0 {
			out = append(out, c)
		}
	}
	return out
}

// branch reports whether the column is an object with fields of its own.
func (c *column) branch() bool {
	return c.kinds['{'] == c.seen && len(c.path) < maxDepth && c.inner < wideObject
}

// within reports whether a column is within one that is taken as a whole.
func (p *profile) within(c *column) bool {
	for n := 1; n < len(c.path); n++ {
		if above := p.paths[joined(c.path[:n])]; above != nil && !above.branch() {
			return true
		}
	}
	return false
}

// evidence is what values that were written as texts may be.
type evidence struct {
	n        int
	integers int // decimal integers that fit 64 bits, without leading zeros
	floats   int // numbers
	truths   int // true or false
	low      int64
	high     int64
	formats  []*timeGuess // formats that have fitted all values so far
}

// timeGuess is one time format.
type timeGuess struct {
	name   string
	format *event.TimeFormat
}

// patterns are the time formats that are tried on texts, most specific first. If days and months cannot be distinguished, both formats stay
// and the first is taken.
var patterns = []string{event.RFC3339, "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
	"%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y %H:%M:%S",
	"%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M",
	"%m/%d/%Y", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y", "%a %b %e %H:%M:%S %z %Y", "%d/%b/%Y:%H:%M:%S %z", "%Y%m%d%H%M%S"}

func newEvidence() evidence {
	e := evidence{}
	for _, name := range patterns {
		f, err := event.ParseTimeFormat(name, "")
		if err != nil {
			panic("BUG: propose: pattern " + name + ": " + err.Error())
		}
		e.formats = append(e.formats, &timeGuess{name, f})
	}
	return e
}

func (e *evidence) add(text []byte) {
	e.n++
	if i, ok := integer(text); ok {
		e.integer(i)
	}
	if number(text) {
		e.floats++
	}
	if s := string(text); s == "true" || s == "false" {
		e.truths++
	}
	e.formats = slices.DeleteFunc(e.formats, func(g *timeGuess) bool {
		_, ok := g.format.Parse(text)
		return !ok
	})
}

func (e *evidence) integer(i int64) {
	if e.integers == 0 {
		e.low, e.high = i, i
	}
	e.integers++
	e.low, e.high = min(e.low, i), max(e.high, i)
}
