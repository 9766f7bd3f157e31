package sqlconsole

import (
	"slices"

	"brine/event"
	"brine/query"
	"brine/rowkey"
)

// rows returns the bounds that conditions on _key leave.
func (i *interval) rows() (r rowkey.Range) {
	switch {
	case i.none:
	case i.listed:
		stop, _ := after(i.values[0])
		r.Start, r.Stop = i.values[0].Text(), stop.Text()
	default:
		r.Start, r.Stop = i.from.Text(), i.to.Text()
	}
	return r
}

// push moves tests to HBase if the column's bytes sort like its values. A test that HBase can make only in part is made here too.
func (p *Plan) push() {
	if len(p.Table.Keys) > 1 {
		return // the cells of a row may be under several keys, of which HBase sees only some at a time
	}
	var left []*test
	for _, t := range p.tests {
		made, whole := t.made()
		if p.Selection.Tests = append(p.Selection.Tests, made...); len(made) > 0 {
			p.pushed = append(p.pushed, t)
		}
		if !whole {
			left = append(left, t)
		}
	}
	p.tests = left
}

// made returns the test as HBase makes it; whole reports whether that is all of it.
func (t *test) made() (out []query.Test, whole bool) {
	alone := t.kind == ofCell && (t.of == nil || t.of.Pack == nil) ||
		t.kind == ofField && !t.inKey && !t.twice && t.of.Pack == nil && !t.of.Members
	switch {
	case !alone:
	case t.typ == event.Text:
		return t.madeOfText()
	case t.op != Eq && t.op != Ge && t.op != Gt && t.op != Between:
	case t.typ == event.Bool && t.values[0].Bool(): // any byte except 0 is true
		return []query.Test{t.as(query.NotEqual, event.BoolValue(false)), t.notNull()}, true
	case t.op == Eq && (t.typ == event.Bool || t.typ == event.Bytes || counts(t.typ)):
		return []query.Test{t.as(query.Equal, t.values[0])}, true
	case counts(t.typ) && t.values[0].Int() >= 0: // negative ones sort after these and pass too
		out = append(out, t.as(query.GreaterOrEqual, t.values[0]))
		if t.op == Between {
			return append(out, t.as(query.LessOrEqual, t.values[1])), t.values[1].Int() >= 0
		}
	}
	return out, false
}

// counts reports whether cells of the type are integers of 8 bytes.
func counts(t event.Type) bool { return t == event.Int || t.TakesTimes() }

func (t *test) as(op query.CompareOp, v event.Value) query.Test {
	return query.Test{Column: t.cell, Op: op, Value: event.AppendValue(nil, v)}
}

// notNull returns the test that fails for a null that is stored. A row without the column fails any test. What the cells of an undeclared
// column hold is not known, so all are values.
func (t *test) notNull() query.Test {
	if t.kind == ofCell && t.of == nil {
		return t.as(query.GreaterOrEqual, event.TextValue(""))
	}
	null, _ := event.NullCell(t.typ)
	return query.Test{Column: t.cell, Op: query.NotEqual, Value: null}
}

// madeOfText returns the test of texts, which sort like their bytes.
func (t *test) madeOfText() ([]query.Test, bool) {
	ops := map[Op]query.CompareOp{Eq: query.Equal, Lt: query.Less, Le: query.LessOrEqual, Gt: query.Greater, Ge: query.GreaterOrEqual}
	switch op, plain := ops[t.op]; {
	case t.op == Gt || t.op == Ge:
		return []query.Test{t.as(op, t.values[0]), t.notNull()}, true
	case plain:
		return []query.Test{t.as(op, t.values[0])}, true
	case t.op == Between:
		return []query.Test{t.as(query.GreaterOrEqual, t.values[0]), t.as(query.LessOrEqual, t.values[1])}, true
	case t.op == NotNull:
		return []query.Test{t.notNull()}, true
	case t.op == Like && len(t.values[0].Text()) > 0:
		begin := t.as(query.Equal, t.values[0])
		begin.Prefix = true
		return []query.Test{begin}, true
	case t.op == In:
		least, most := slices.MinFunc(t.values, compare), slices.MaxFunc(t.values, compare)
		return []query.Test{t.as(query.GreaterOrEqual, least), t.as(query.LessOrEqual, most)}, false
	}
	return nil, false
}

// needs returns the columns that the plan uses, except for those of *.
func (p *Plan) needs() (out []*column) {
	out = append(out, p.columns...)
	out = append(out, p.group)
	for _, list := range [][]*test{p.tests, p.pushed, p.words} {
		for _, t := range list {
			out = append(out, t.column)
		}
	}
	return slices.DeleteFunc(out, func(c *column) bool { return c == nil })
}

// project limits the columns that are read to those that are needed. Any cell makes a row exist, so columns may be left out only if a row
// with none of the others cannot match: if a condition requires a value in one of the columns.
func (p *Plan) project() {
	s := &p.Selection
	all := slices.ContainsFunc(p.Statement.Items, func(i Item) bool { return i.All && i.Func == "" })
	s.Cells = all
	for _, c := range p.needs() {
		s.Cells = s.Cells || c.kind == ofCell || c.kind == ofTime
	}
	needed := func(t *test) bool {
		return t.op != IsNull && (t.kind == ofCell || t.kind == ofTime || t.kind == ofField && !t.inKey)
	}
	if s.Whole = all || p.Statement.Versions > 0 || !slices.ContainsFunc(p.tests, needed) && !slices.ContainsFunc(p.pushed, needed); s.Whole {
		return
	}
	var columns []query.Column
	for _, c := range s.Table.Columns {
		deletes := s.Table.Deleted != "" && slices.ContainsFunc(fieldsOf(&c),
			func(f event.PackedField) bool { return f.Field == s.Table.Deleted })
		named := slices.ContainsFunc(p.needs(), func(n *column) bool {
			return n.of != nil && n.cell == (query.ColumnName{Family: c.Family, Qualifier: c.Qualifier}) ||
				n.kind == ofField && slices.ContainsFunc(fieldsOf(&c), func(f event.PackedField) bool { return f.Field == n.ref.Text })
		})
		if deletes || named {
			columns = append(columns, c)
		}
	}
	s.Table.Columns = columns
	for _, c := range p.needs() {
		if c.kind == ofCell || c.kind == ofTime && c.of == nil {
			s.Also = append(s.Also, c.cell)
		}
	}
}
