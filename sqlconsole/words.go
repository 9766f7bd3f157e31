package sqlconsole

import (
	"fmt"
	"slices"

	"brine/event"
	"brine/query"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/search"
)

// apart separates the conditions on words from the others.
func apart(tests []*test) (words, others []*test) {
	for _, t := range tests {
		if t.op == Match {
			words = append(words, t)
		} else {
			others = append(others, t)
		}
	}
	return words, others
}

// matchable returns the reason why the words of a column cannot be searched, or nil.
func (p *Plan) matchable(c *Catalog, t *test) error {
	x := p.Table.Index
	if x == nil {
		return wrong(t.ref.Pos, "compare it, or use LIKE for a prefix", "table %s has no documents, so there is no MATCH",
			p.Table.Name)
	}
	f := fieldIn(x, t.column)
	switch {
	case f == nil || !f.Words:
		return wrong(t.ref.Pos, "compare it, or declare the index's field as text", "the index %s cannot search %s by words", x.Name, t.ref)
	case c.Masks.MasksPlace(x.Name, f.Name):
		return wrong(t.ref.Pos, "remove it", "%s is masked, so it cannot have a condition", t.ref)
	}
	return nil
}

// fieldIn returns the field of the index that is written from the column, or nil.
func fieldIn(x *query.Index, c *column) *query.IndexField {
	if c.kind != ofField {
		return nil
	}
	i := slices.IndexFunc(x.Fields, func(f query.IndexField) bool { return f.Field == c.ref.Text })
	if i < 0 {
		return nil
	}
	return &x.Fields[i]
}

// byIndex makes the index find the rows: by the words, and by what else it can test. brine makes the other tests, and repeats the index's,
// because a document may be ahead of or behind its row.
func (p *Plan) byIndex(c *Catalog, tests []*test) error {
	x := p.Table.Index
	p.Selection = query.Selection{Table: p.Table.Table}
	for _, t := range p.words {
		p.Selection.Words = append(p.Selection.Words, search.Match{Field: fieldIn(x, t.column).Name, Text: string(t.values[0].Text())})
	}
	for _, t := range tests {
		clause, indexed := t.clause(x)
		indexed = indexed && p.alike(t) && !c.Masks.MasksPlace(x.Name, fieldIn(x, t.column).Name) && len(p.Selection.Words) < search.MaxClauses
		if indexed {
			p.Selection.Words = append(p.Selection.Words, clause)
			p.indexed = append(p.indexed, t)
		}
		switch {
		case p.readable(t):
			p.tests = append(p.tests, t)
		case !indexed:
			return wrong(t.ref.Pos, "remove it, or remove MATCH",
				"the key of table %s has only a hash of %s, and the index does not have it",
				p.Table.Name, t.ref)
		}
	}
	if err := p.Selection.CheckWords(); err != nil {
		return wrong(p.words[0].ref.Pos, "use fewer words", "%v", err)
	}
	return p.sortedByIndex(c)
}

// alike reports whether the document and the row have the same value in the column of a test. A document that holds only the whole newest
// change lacks an earlier value that the row may have kept, and no document has what a row was at an earlier version.
func (p *Plan) alike(t *test) bool {
	return t.inKey || !p.Table.Index.Replaced && p.Statement.Versions == 0
}

// readable reports whether the row shows its value in the column of a test.
func (p *Plan) readable(t *test) bool {
	return t.kind != ofField || t.of != nil || p.Table.gives(t.ref.Text)
}

// clause returns the test as the index makes it, or false if the index cannot.
func (t *test) clause(x *query.Index) (search.Clause, bool) {
	f := fieldIn(x, t.column)
	if f == nil || f.Words {
		return nil, false
	}
	limits := interval{}
	if t.op == Like || t.op == IsNull || t.op == NotNull || !limits.add(t) || limits.none {
		return nil, false
	}
	if limits.listed {
		var values []any
		for _, v := range limits.values {
			one, ok := indexValue(f, v)
			if !ok {
				return nil, false
			}
			values = append(values, one)
		}
		return search.Terms{Field: f.Name, Values: values}, true
	}
	r := search.Range{Field: f.Name}
	for _, end := range []struct {
		v  event.Value
		to *any
	}{{limits.from, &r.From}, {limits.to, &r.To}} {
		if end.v.Null() {
			continue
		}
		one, ok := indexValue(f, end.v)
		if !ok {
			return nil, false
		}
		*end.to = one
	}
	return r, r.From != nil || r.To != nil // a bound that no value of the type exceeds, or that cannot be expressed, is no bound
}

// longKeyword is the length up to which search engines index a keyword; a longer one may not be found.
const longKeyword = 256

// indexValue returns a value in the index's form, if both compare equally.
func indexValue(f *query.IndexField, v event.Value) (any, bool) {
	switch {
	case f.Type == rowkey.Text && v.Type == event.Text && len(v.Text()) <= longKeyword:
		return string(v.Text()), true
	case f.Type == rowkey.Int && v.Type == event.Date && f.Unit == eventkey.Unit(v.Type):
		return v.Milliseconds(), true
	case f.Type == rowkey.Int && (v.Type == event.Int || eventkey.Unit(v.Type) != 0) && f.Unit == eventkey.Unit(v.Type),
		f.Type == rowkey.Time && v.Type == event.TimeMS:
		return v.Int(), true
	case f.Type == rowkey.Float && v.Type == event.Float:
		return v.Float(), true
	case f.Type == rowkey.Bool && v.Type == event.Bool:
		return v.Bool(), true
	}
	return nil, false
}

// sortedByIndex sorts documents by the index's date, newest first unless the statement says otherwise.
func (p *Plan) sortedByIndex(c *Catalog) error {
	x, o := p.Table.Index, p.Statement.Order
	i := slices.IndexFunc(x.Fields, func(f query.IndexField) bool { return f.Name == x.Newest })
	hidden := i >= 0 && (c.Masks.MasksPlace(x.Name, x.Newest) || c.Masks.MasksPlace(p.Table.Name, x.Fields[i].Field) ||
		c.Masks.MasksKeyField(p.Table.Name, x.Fields[i].Field))
	if i < 0 || hidden {
		if p.order = "the index's"; o != nil {
			return wrong(o.Pos, "remove ORDER BY", "with MATCH, rows come in the order of the index %s, which has no date to order by", x.Name)
		}
		return nil
	}
	by := x.Fields[i].Field
	if o != nil && o.String() != by {
		return wrong(o.Pos, "write ORDER BY "+by+", or remove it", "with MATCH, rows come in the order of the index %s", x.Name)
	}
	desc := o == nil || o.Desc
	p.Selection.Sort = []search.Order{{Field: x.Newest, Desc: desc}}
	p.order = fmt.Sprintf("%s, by the index, %s", by, map[bool]string{true: "the greatest first", false: "the least first"}[desc])
	return nil
}
