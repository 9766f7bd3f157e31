package query

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"brine/rowkey"
	"brine/search"
)

// Fault is an invalid question, to be reported to the person who asked; any other error comes from a store.
type Fault struct {
	Arg    string // the argument at fault; empty if it is the whole question
	Option bool   // Arg is a field of Request: limit, after, families or get
	Msg    string // what is wrong
	Fix    string // empty if Msg contains it

	named bool // Msg names Arg
}

func (f *Fault) Error() string {
	text := f.Msg
	if f.Arg != "" && !f.named {
		text = f.Arg + ": " + text
	}
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return text
}

// Advice returns the fix.
func (f *Fault) Advice() string { return f.Fix }

// named returns the Fault of an argument that the message itself names.
func named(arg, format string, args ...any) *Fault {
	return &Fault{Arg: arg, Msg: fmt.Sprintf(format, args...), named: true}
}

// condition is an argument as it was given.
type condition struct {
	arg      Arg
	text     string // after the first "=", as people write it
	ranged   bool   // from and to are given
	words    bool   // text is words
	from, to string // of a range; "=" in front of to makes it inclusive
	values   []string
}

// maxCondition is the most bytes of one argument: no key and no clause of a query is longer.
const maxCondition = search.MaxText

// conditions parses the arguments of a question. Each must be one of the view's, and given once; all that the view requires must be there.
func (v *View) conditions(texts []string, given []Given) (out []condition, err error) {
	for _, text := range texts {
		name, text, ok := strings.Cut(text, "=")
		if !ok {
			return nil, notCondition(name)
		}
		if out, err = v.adds(out, name, func(a Arg) (condition, error) { return v.condition(a, text) }); err != nil {
			return nil, err
		}
	}
	for _, g := range given {
		if out, err = v.adds(out, g.Field, func(a Arg) (condition, error) { return v.given(a, &g) }); err != nil {
			return nil, err
		}
	}
	for _, a := range v.Where {
		if !slices.ContainsFunc(out, func(c condition) bool { return c.arg == a }) {
			return nil, &Fault{Arg: a.Field, Msg: "is missing", Fix: fmt.Sprintf("view %s needs %s", v.Name, names(v.Where))}
		}
	}
	return out, nil
}

// adds appends the condition on an argument of the view, which must not be there yet.
func (v *View) adds(to []condition, name string, read func(Arg) (condition, error)) ([]condition, error) {
	a, known := v.arg(name)
	if !known {
		return nil, named(name, "view %s has no argument %q; it takes %s", v.Name, name, names(v.args()))
	}
	if slices.ContainsFunc(to, func(c condition) bool { return c.arg.Field == name }) {
		return nil, &Fault{Arg: name, Msg: "is given twice", Fix: "give it once"}
	}
	c, err := read(a)
	if err != nil {
		return nil, &Fault{Arg: name, Msg: err.Error()}
	}
	return append(to, c), nil
}

// condition parses one argument: as words if the index finds the field by them, otherwise as a range if it contains dots, otherwise as
// values.
func (v *View) condition(a Arg, text string) (condition, error) {
	c := condition{arg: a, text: text}
	exact, isExact := strings.CutPrefix(text, "=")
	switch {
	case len(text) > maxCondition:
		return c, fmt.Errorf("has %d bytes, more than %d; shorten it", len(text), maxCondition)
	case strings.TrimSpace(text) == "" || isExact && exact == "":
		return c, fmt.Errorf("has no value; give one, or remove it")
	case v.wordsOf(a):
		c.words = true
	case isExact:
		c.values = []string{exact}
	case strings.Contains(text, ".."):
		if c.ranged = true; !a.Range {
			return c, fmt.Errorf("takes a value here, not a range; write %s==%s if the dots are part of it", a.Field, text)
		}
		if c.from, c.to, _ = strings.Cut(text, ".."); c.from == "" && strings.TrimPrefix(c.to, "=") == "" {
			return c, fmt.Errorf("is open at both ends; give from, to or both")
		}
	default:
		c.values = splitList(text)
	}
	if len(c.values) > 1 && slices.Contains(v.Where, a) {
		return c, fmt.Errorf(`takes one value; write %s==%s if the comma is part of it`, a.Field, text)
	}
	return c, nil
}

// wordsOf reports whether the argument is words: only the index can find them, and only in a field that is indexed by words.
func (v *View) wordsOf(a Arg) bool {
	if _, ofKey := v.Table.Keys.Field(a.Field); ofKey || v.Table.Index == nil {
		return false
	}
	f, err := v.Table.Index.of(a.Field)
	return err == nil && f.Words
}

// splitList splits a list at its commas; "\," is a comma in a value.
func splitList(text string) (list []string) {
	var value []byte
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\,`):
			i++
			value = append(value, ',')
		case text[i] == ',':
			list, value = append(list, string(value)), value[:0]
		default:
			value = append(value, text[i])
		}
	}
	return append(list, string(value))
}

// question uses the key if it can answer, otherwise the index.
func (v *View) question(ask *Request) (*Question, error) {
	conditions, err := v.conditions(ask.Args, ask.Given)
	if err != nil {
		return nil, err
	}
	q := &Question{sum: v.sum(ask)}
	keyErr := v.byKey(q, conditions)
	if keyErr == nil {
		return q, nil
	}
	if q.where = nil; v.Table.Index == nil || v.Get != nil {
		return nil, keyErr
	}
	asked := make([]Arg, len(conditions))
	for i, c := range conditions {
		asked[i] = c.arg
	}
	if v.Table.indexServes(asked) != nil {
		return nil, keyErr
	}
	return q, v.byIndex(q, conditions)
}

// byKey sets the bounds with which the key answers.
func (v *View) byKey(q *Question, conditions []condition) error {
	q.where = make(map[string]rowkey.Bound, len(conditions))
	for _, c := range conditions {
		name := c.arg.Field
		f, ok := v.Table.Keys.Field(name)
		switch {
		case !ok:
			return &Fault{Arg: name, Msg: fmt.Sprintf("the key %s does not hold it", v.Table.key())}
		case len(c.values) > 1:
			return &Fault{Arg: name, Msg: "takes one value", Fix: fmt.Sprintf("write %s==%s if the comma is part of it", name, c.text)}
		}
		bound, err := c.bound(f)
		if err != nil {
			return &Fault{Arg: name, Msg: err.Error()}
		}
		q.where[name] = bound
	}
	if len(conditions) == 0 {
		return &Fault{Msg: "this would read the whole of table " + v.Table.Name, Fix: "give one of " + names(v.args())}
	}
	var err error
	if q.buckets, q.joins, err = v.Table.buckets(q.where, ""); err != nil {
		return &Fault{Msg: err.Error()}
	}
	return nil
}

func (c *condition) bound(f rowkey.Field) (b rowkey.Bound, err error) {
	if c.ranged {
		return parseRange(f, c.from, c.to)
	}
	b.Equal, err = ParseValue(f, c.values[0])
	return b, err
}

// byIndex sets the query with which the index answers.
func (v *View) byIndex(q *Question, conditions []condition) error {
	x := v.Table.Index
	q.docs = search.Query{Index: x.Name}
	if x.Newest != "" {
		q.docs.Sort = []search.Order{{Field: x.Newest, Desc: v.newestFirst()}}
	}
	for _, c := range conditions {
		f, err := x.of(c.arg.Field)
		if err != nil {
			return &Fault{Arg: c.arg.Field, Msg: err.Error()}
		}
		clause, err := c.clause(f)
		if err != nil {
			return &Fault{Arg: c.arg.Field, Msg: err.Error()}
		}
		q.docs.Filter = append(q.docs.Filter, clause)
	}
	return nil
}

func (c *condition) clause(f *IndexField) (search.Clause, error) {
	switch {
	case c.words || f.Words:
		return search.Match{Field: f.Name, Text: c.text}, nil
	case c.ranged:
		return f.between(c.from, c.to)
	}
	values := make([]any, len(c.values))
	for i, text := range c.values {
		var err error
		if values[i], err = f.value(text); err != nil {
			return nil, err
		}
	}
	if len(values) == 1 {
		return search.Term{Field: f.Name, Value: values[0]}, nil
	}
	return search.Terms{Field: f.Name, Values: values}, nil
}

// newestFirst reports whether the index's answers begin with the newest: by the view's order, otherwise by that of the key.
func (v *View) newestFirst() bool {
	if v.Order != "" {
		return v.Order == Newest
	}
	got, ok := timeOrder(v.Table.key(), v.Table.keyTime(), v.Where)
	return !ok || got.Desc
}

// sum returns a checksum of the view's name and the conditions, whatever their order.
func (v *View) sum(ask *Request) uint32 {
	sorted := slices.Clone(ask.Args)
	for i := range ask.Given {
		sorted = append(sorted, ask.Given[i].canonical())
	}
	slices.Sort(sorted)
	return crc32.ChecksumIEEE([]byte(strings.Join(append([]string{v.Name}, sorted...), "\x00")))
}
