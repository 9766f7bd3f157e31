package rowkey

import (
	"fmt"
	"slices"
	"strings"
)

// maxExpr is the limit on the bytes of an expression.
const maxExpr = 4096

// Parse parses an expression over the given fields. Its errors are *SyntaxError with the position and the fix.
func Parse(expr string, fields []Field) (*Key, error) {
	if len(expr) > maxExpr {
		return nil, syntaxError(maxExpr, fmt.Sprintf("the expression has %d bytes, more than the %d allowed", len(expr), maxExpr),
			"a key is a few short parts joined with +")
	}
	tokens, err := lex(expr)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, key: &Key{declared: fields}}
	if err := p.parts(); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.key, nil
}

// parser turns tokens into the slots of key.
type parser struct {
	tokens []token // the tokens left
	key    *Key
}

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != tokEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// parts parses part { "+" part }.
func (p *parser) parts() error {
	for {
		offset := p.tokens[0].offset
		part, err := p.part()
		if err != nil {
			return err
		}
		if err := p.add(part, offset); err != nil {
			return err
		}
		switch t := p.next(); {
		case t.kind == tokEnd:
			return nil
		case !t.is("+"):
			return syntaxError(t.offset, fmt.Sprintf("%s follows a complete part", t.shown()), "join parts with +")
		}
	}
}

// add appends a part; adjacent strings become one.
func (p *parser) add(part part, offset int) error {
	slots := p.key.slots
	if lit, ok := part.(literal); ok && len(slots) > 0 {
		if before, ok := slots[len(slots)-1].part.(literal); ok {
			slots[len(slots)-1].part = append(before[:len(before):len(before)], lit...)
			return nil
		}
	}
	if len(slots) == maxParts {
		return syntaxError(offset, fmt.Sprintf("a key has at most %d parts", maxParts), "leave the later ones to columns")
	}
	p.key.slots = append(slots, slot{part: part, offset: offset})
	return nil
}

func (p *parser) part() (part, error) {
	switch t := p.next(); {
	case t.kind == tokString && t.text == "":
		return nil, syntaxError(t.offset, "an empty string adds nothing to a key", `write a separator, such as "|"`)
	case t.kind == tokString:
		return literal(t.text), nil
	case t.kind == tokName && p.tokens[0].is("("):
		return p.call(t)
	case t.kind == tokName:
		return p.bare(t)
	case t.kind == tokNumber:
		return nil, syntaxError(t.offset, "a number on its own cannot be part of a key", fmt.Sprintf("write %q for these characters", t.text))
	default:
		return nil, syntaxError(t.offset, fmt.Sprintf("a part is missing before %s", t.shown()),
			`write a field, a function such as md5(waybill, 4), or a string such as "|"`)
	}
}

// bare returns the part of a bare field, its text.
func (p *parser) bare(t token) (part, error) {
	f, err := p.field(t)
	if err != nil {
		return nil, err
	}
	fix := map[Type]string{
		Int:   "write asc(%[1]s) or desc(%[1]s) for 8 bytes in numeric order, or fixed(%[1]s, 10) for digits",
		Float: "write asc(%[1]s) or desc(%[1]s)",
		Bool:  "write asc(%[1]s), one byte",
		Time:  "write desc(%[1]s, ms) for newest first, or asc(%[1]s, ms)",
	}[f.typ]
	if fix != "" {
		return nil, syntaxError(t.offset, fmt.Sprintf("%s is %s: say how the key encodes it", f.name, f.typ.one()),
			fmt.Sprintf(fix, f.name))
	}
	return &text{field: f}, nil
}

// field returns the field that a token names, and adds it to those that the key reads.
func (p *parser) field(t token) (field, error) {
	for _, f := range p.key.fields {
		if f.name == t.text {
			return f, nil
		}
	}
	var names []string
	for _, d := range p.key.declared {
		if d.Name == t.text {
			f := field{name: d.Name, typ: d.Type, unit: d.Unit, whole: d.Whole, pos: len(p.key.fields)}
			p.key.fields = append(p.key.fields, f)
			return f, nil
		}
		names = append(names, d.Name)
	}
	return field{}, syntaxError(t.offset, fmt.Sprintf("there is no field %s", t.text),
		suggest(t.text, names, "declare it, or use one of "+strings.Join(names, ", ")))
}

func (p *parser) call(name token) (part, error) {
	fn, err := p.findFunction(name)
	if err != nil {
		return nil, err
	}
	c := &call{parser: p, function: fn, offset: name.offset}
	if err := c.read(); err != nil {
		return nil, err
	}
	part, err := fn.build(c)
	if err == nil {
		err = c.end()
	}
	return part, err
}

func (p *parser) findFunction(name token) (*function, error) {
	var names []string
	for i := range functions {
		if functions[i].Name == name.text {
			return &functions[i], nil
		}
		names = append(names, functions[i].Name)
	}
	e := syntaxError(name.offset, fmt.Sprintf("there is no function %s", name.text),
		suggest(name.text, names, "the functions are "+strings.Join(names, ", ")))
	switch strings.ToLower(name.text) {
	case "random", "rand", "uuid", "now":
		e.Rule = "random"
		e.Msg = name.text + " would give a replayed event another row"
		e.Fix = fmt.Sprintf("a key is computed from the event alone: write salt(16, %s) to spread rows", anyField(p.key.declared))
	}
	return nil, e
}

// finish assigns variable parts their separators, chooses the part from which each field is read back, and builds the normal form.
func (p *parser) finish() error {
	k := p.key
	if err := p.separate(); err != nil {
		return err
	}
	if len(k.fields) == 0 {
		return syntaxError(0, "the key reads no field, so all events would share one row", "name the fields that tell rows apart")
	}
	holders := k.holders()
	exprs := make([]string, len(k.slots))
	for i := range k.slots {
		exprs[i] = k.slots[i].expr()
		k.place(i, holders)
	}
	for pos, holder := range holders {
		if holder < 0 {
			k.hashed = append(k.hashed, pos)
		}
	}
	k.expr = strings.Join(exprs, " + ")
	k.sum()
	return nil
}

// place sets what decoding reads from slot i and what it checks there.
func (k *Key) place(i int, holders []int) {
	s := &k.slots[i]
	known := true // whether everything that it is computed from can be read back
	reads := s.reads()
	for j, f := range reads {
		holder := holders[f.pos]
		switch {
		case holder == i:
			s.holds = true
			continue
		case holder < 0:
			known = false
			continue
		case loss(k.slots[holder].part) > 0:
			reads[j].kept = k.slots[holder].part.(rounder)
		}
		reads[j].elsewhere = true
		s.checks = true
	}
	s.checks = s.checks && known
}

// holders returns for each field the slot that it is read back from, the most exact one, or −1.
func (k *Key) holders() []int {
	holders := slices.Repeat([]int{-1}, len(k.fields))
	for i, s := range k.slots {
		for _, f := range held(s.part) {
			if h := holders[f.pos]; h < 0 || loss(s.part) < loss(k.slots[h].part) {
				holders[f.pos] = i
			}
		}
	}
	return holders
}

// separate sets, for every part of variable width, the string that ends it.
func (p *parser) separate() error {
	slots := p.key.slots
	for i, s := range slots[:len(slots)-1] {
		if s.width() > 0 {
			continue
		}
		sep, ok := slots[i+1].part.(literal)
		if !ok {
			next := slots[i+1]
			or := fmt.Sprintf("fixed(%s, 16)", s.reads()[0].name)
			if _, ok := s.part.(*reversedInt); ok {
				or = fmt.Sprintf("reverse(%s, 12)", s.reads()[0].name)
			}
			e := syntaxError(next.offset,
				fmt.Sprintf("%s has no fixed length, so the start of %s would be ambiguous", s.expr(), next.expr()),
				fmt.Sprintf(`write %s + "|" + %s, or %s`, s.expr(), next.expr(), or))
			e.Rule = "ambiguous"
			return e
		}
		switch v := s.part.(type) {
		case *text:
			v.sep = sep
		case *descText:
			v.sep = sep
		case *reversedText:
			v.sep = sep
		case *reversedInt:
			v.sep = sep
		}
	}
	return nil
}

// held returns the fields that can be read back from a part.
func held(p part) []field {
	switch p.(type) {
	case literal, *hash, *salt:
		return nil
	}
	return p.reads()
}

// loss returns how much of its field a part loses; 0 means that it holds the exact value.
func loss(p part) int64 {
	n, ok := p.(*number)
	_, place := p.(*geohash)
	switch {
	case place:
		return 100 - int64(p.width()) // more than a float of 32 bits, and less the longer it is
	case ok && n.unit != nil:
		return n.unit.div - 1
	case ok && n.typ == Float && n.bits == 32:
		return 1
	}
	return 0
}
