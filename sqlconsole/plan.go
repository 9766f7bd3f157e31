package sqlconsole

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/query"
	"brine/rowkey"
)

// MaxRows is the most rows that a statement may ask for, and DefaultRows the number without LIMIT. With a limit of at most freeRows, a
// table may be read from its beginning without ALLOW FULL SCAN, unless a condition could make the read go on and on.
const (
	MaxRows     = 10_000
	DefaultRows = 1_000
	freeRows    = 1_000
)

// Plan is a statement and how it is carried out: the ranges that are read, in which order, what HBase filters out, what is filtered out
// here, and what is computed from the rows. Making a plan uses no store.
type Plan struct {
	Statement *Statement
	Table     *Table
	Selection query.Selection
	Full      bool // the whole table is read

	columns []*column // of the items; nil for all columns, and for rows
	group   *column
	tests   []*test // tests that brine makes
	pushed  []*test // tests that HBase makes
	keyed   []*test // tests that the ranges make
	none    bool    // no row can match
	words   []*test // tests that the index makes: it finds rows by them
	indexed []*test // tests that the index makes in addition, and brine again
	limit   int
	order   string // order of the rows, for people
	masks   *Catalog
}

// test is a condition with its resolved column and values.
type test struct {
	*column
	op     Op
	values []event.Value
	text   string
}

// Plan returns how a statement is answered. Its errors are *Error; times such as '2h' count from now.
func (c *Catalog) Plan(s *Statement, now time.Time) (*Plan, error) {
	t, err := c.table(s.From)
	if err != nil {
		return nil, err
	}
	p := &Plan{Statement: s, Table: t, limit: s.Limit, masks: c}
	if p.limit < 0 {
		p.limit = DefaultRows
	}
	tests, err := p.tested(c, now)
	if err == nil {
		err = p.items(c)
	}
	if err != nil {
		return nil, err
	}
	if err := p.reads(c, tests, now); err != nil {
		return nil, err
	}
	if !p.grouped() && len(p.tests) == 0 && s.Versions == 0 && s.AsOf == nil {
		if p.Selection.Limit = p.limit; s.Limit < 0 {
			p.Selection.Limit++ // to detect whether there are more
		}
	}
	p.none = p.none || len(p.Selection.Any) == 0 && len(p.words) == 0 || p.limit == 0
	return p, nil
}

// reads determines what is read: through the index if the statement asks for words, else by the key.
func (p *Plan) reads(c *Catalog, tests []*test, now time.Time) error {
	p.words, tests = apart(tests)
	if len(p.words) > 0 {
		if err := p.byIndex(c, tests); err != nil {
			return err
		}
		p.project()
		return p.past(now)
	}
	a := p.access(tests, now)
	if p.Statement.Versions == 0 && p.Statement.AsOf == nil {
		p.push() // HBase tests the newest cells
	}
	p.project()
	if err := p.past(now); err != nil {
		return err
	}
	if err := p.sorted(c, &a); err != nil {
		return err
	}
	return p.allowed(c)
}

// tested resolves the conditions.
func (p *Plan) tested(c *Catalog, now time.Time) (out []*test, err error) {
	for i := range p.Statement.Where {
		w := &p.Statement.Where[i]
		col, err := p.used(c, w.Ref, "it cannot have a condition")
		if err != nil {
			return nil, err
		}
		t := &test{column: col, op: w.Op}
		if err := t.check(w); err != nil {
			return nil, err
		}
		if w.Op == Match {
			if err := p.matchable(c, t); err != nil {
				return nil, err
			}
		}
		for _, l := range w.Values {
			if w.Op == Like {
				l.text, t.op, err = pattern(l, col.kind == ofKey)
			}
			var v event.Value
			if err == nil {
				v, err = col.value(l, now)
			}
			if err != nil {
				return nil, err
			}
			t.values = append(t.values, v)
		}
		t.text = w.said()
		out = append(out, t)
	}
	return out, nil
}

// used resolves a column that is not only shown: a masked one may only be shown.
func (p *Plan) used(c *Catalog, r Ref, why string) (*column, error) {
	col, err := c.resolve(p.Table, r)
	if err == nil && col.masked {
		return nil, wrong(r.Pos, "remove it", "%s is masked: %s", r, why)
	}
	return col, err
}

func (t *test) check(w *Condition) error {
	if t.typ == event.Bool && slices.Contains([]Op{Lt, Le, Gt, Ge, Between}, w.Op) {
		return wrong(w.Pos, "write = TRUE or = FALSE", "%s is true or false, which has no order", w.Ref)
	}
	if w.Op == Like && t.typ != event.Text && t.typ != event.Nested {
		return wrong(w.Pos, "compare it with <, > or =", "%s is %s, but LIKE is for texts", w.Ref, article(t.typ))
	}
	return nil
}

// pattern parses the operand of LIKE: a prefix, or the whole text if there is no %. In one for _key, \x00 remains the byte of a row key.
func pattern(l Literal, key bool) (prefix string, op Op, err error) {
	var out strings.Builder
	rest := l.text
	for rest != "" {
		switch {
		case key && strings.HasPrefix(rest, `\x`):
			out.WriteString(`\x`)
			rest = rest[2:]
		case rest[0] == '\\' && len(rest) > 1:
			out.WriteByte(rest[1])
			rest = rest[2:]
		case rest == "%":
			return out.String(), Like, nil
		case rest[0] == '%' || rest[0] == '_':
			return "", Like, wrong(l.Pos, `write LIKE 'begin%'; \% and \_ are the literal characters`,
				"LIKE only finds prefixes: %% must be the last character, and there is no _")
		default:
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return out.String(), Eq, nil
}

func (w *Condition) said() string {
	var values []string
	for _, l := range w.Values {
		values = append(values, token{kind: l.kind, text: l.text}.shown())
	}
	switch {
	case w.Op == Match:
		return fmt.Sprintf("MATCH(%s, %s)", w.Ref, values[0])
	case w.Op == In && len(values) > 5:
		return fmt.Sprintf("%s IN (%s, … %d values)", w.Ref, strings.Join(values[:3], ", "), len(values))
	case w.Op == In:
		return fmt.Sprintf("%s IN (%s)", w.Ref, strings.Join(values, ", "))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", w.Ref, w.Op, strings.Join(values, " AND ")))
}

// grouped reports whether the answer aggregates rows.
func (p *Plan) grouped() bool {
	return p.Statement.Group != nil || slices.ContainsFunc(p.Statement.Items, func(i Item) bool { return i.Func != "" })
}

// items resolves what is selected.
func (p *Plan) items(c *Catalog) (err error) {
	s := p.Statement
	if s.Group != nil {
		if p.group, err = p.used(c, *s.Group, "rows cannot be grouped by it"); err != nil {
			return err
		}
	}
	for i := range s.Items {
		item := &s.Items[i]
		var col *column
		switch {
		case item.All && item.Func == "" && p.grouped():
			return wrong(item.Pos, "name the column of GROUP BY, and functions", "* cannot be combined with groups")
		case item.All:
		case item.Func != "":
			if col, err = p.used(c, item.Ref, "functions cannot use it"); err == nil {
				err = item.fits(col)
			}
		default:
			col, err = c.resolve(p.Table, item.Ref)
			if err == nil && p.grouped() && (s.Group == nil || s.Group.String() != item.Ref.String()) {
				err = wrong(item.Pos, "write GROUP BY "+item.Ref.String()+", or MIN of it", "%s has many values, but the function covers all rows",
					item.Ref)
			}
		}
		if err != nil {
			return err
		}
		p.columns = append(p.columns, col)
	}
	if s.Order != nil && p.grouped() {
		return wrong(s.Order.Pos, "remove ORDER BY", "groups come in the order of their values")
	}
	return nil
}

func (i *Item) fits(c *column) error {
	numbers := c.typ == event.Int || c.typ == event.Float || c.typ == event.Decimal
	if (i.Func == "SUM" || i.Func == "AVG") && !numbers {
		return wrong(i.Pos, "COUNT, MIN and MAX accept all types", "%s is %s, but %s needs numbers", i.Ref, article(c.typ), i.Func)
	}
	return nil
}

// access finds the ranges of the key, and leaves the conditions that they do not cover to others.
func (p *Plan) access(tests []*test, now time.Time) access {
	limits := map[string]*interval{}
	rows := interval{}
	for _, t := range tests {
		switch {
		case t.kind == ofKey && t.op != In && rows.add(t):
		case t.kind == ofField && t.inKey:
			l := limits[t.ref.Text]
			if l == nil {
				l = &interval{}
			}
			if l.add(t) {
				limits[t.ref.Text] = l
				p.none = p.none || l.none
			}
		}
	}
	p.none = p.none || rows.none
	a := choose(p.Table, limits)
	p.Full = rows.vast(now)
	for name := range a.fields {
		p.Full = p.Full && limits[name].vast(now)
	}
	p.Selection = query.Selection{Table: p.Table.Table, Any: a.any, Within: rows.rows()}
	for _, t := range tests {
		_, isBound := a.fields[t.ref.Text]
		switch {
		case t.kind == ofKey && t.op != In && t.op != IsNull && t.op != NotNull,
			t.kind == ofField && t.inKey && isBound && t.op != IsNull && t.op != NotNull && p.held(t):
			p.keyed = append(p.keyed, t)
		default:
			p.tests = append(p.tests, t)
		}
	}
	return a
}

// held reports whether the ranges of a field hold only rows that satisfy the test: the key holds the field, as exactly as anything does.
func (p *Plan) held(t *test) bool {
	return t.of == nil || p.Table.gives(t.ref.Text)
}

// allowed refuses to read a whole table unless the statement allows it.
func (p *Plan) allowed(c *Catalog) error {
	s := p.Statement
	p.Full = p.Full && !p.none
	plain := len(p.tests) == 0 && len(p.pushed) == 0 && !p.grouped() // each row that is read is shown
	if free := plain && s.Limit >= 0 && s.Limit <= freeRows; !p.Full || s.FullScan || free {
		return nil
	}
	fix := "write ALLOW FULL SCAN at the end"
	if views := c.serving(p.Table, s); views != "" {
		fix = views + ", or " + fix
	}
	if fields := p.Table.Keys.Newest().Fields(); len(fields) > 0 {
		fix = "bind " + fields[0] + ", " + fix
	}
	if plain {
		fix += fmt.Sprintf(", or LIMIT %d", freeRows)
	}
	return wrong(s.From.Pos, fix, "this reads the whole of table %s: no condition bounds the start of its key, %s", p.Table.Name,
		p.Table.Keys.Newest())
}

// serving returns the advice to query the first view all of whose fields the statement compares with =, or an empty text.
func (c *Catalog) serving(t *Table, s *Statement) string {
	for i := range c.Views {
		v := &c.Views[i]
		asked := len(v.Where) > 0 && v.Shown().Name == t.Name
		for _, a := range v.Where {
			asked = asked && slices.ContainsFunc(s.Where, func(w Condition) bool { return w.Text == a.Field && w.Op == Eq })
		}
		if asked {
			return "ask the view " + v.Name + " (brine query " + v.Name + ")"
		}
	}
	return ""
}

// sorted makes the rows arrive in the order that the statement wants.
func (p *Plan) sorted(c *Catalog, a *access) error {
	o := p.Statement.Order
	p.order = "the key's"
	if p.Table.Keys[0].Key.SaltWidth() > 0 {
		p.order += " behind its salt"
	}
	if o == nil {
		return nil
	}
	col, err := p.used(c, o.Ref, "rows cannot be ordered by it")
	if err != nil {
		return err
	}
	p.order = o.Text
	if o.Desc {
		p.order += ", the greatest first"
	}
	switch {
	case col.kind == ofKey && p.Table.Keys[0].Key.SaltWidth() == 0 && len(p.Table.Keys) == 1:
		p.Selection.Reverse = o.Desc
		return nil
	case col.kind == ofField && a.bound(o.Text, false):
		return nil // all rows have the same value
	case col.kind == ofField && col.inKey && (col.of == nil || p.Table.gives(o.Text)): // else the key has the order of rounded values
		for _, merge := range []bool{false, true} {
			if desc, ok := p.ordered(o.Text, a, merge); ok {
				p.Selection.Merge, p.Selection.Reverse = merge && len(a.any) > 1, desc != o.Desc
				return nil
			}
		}
	}
	return wrong(o.Pos, c.orderedBy(p.Table, o), "rows of table %s are not in the order of %s; its key is %s", p.Table.Name, o.Ref,
		p.Table.Keys.Newest())
}

// ordered reports whether, given the values that the conditions fix, every key of the table sorts rows by a field.
func (p *Plan) ordered(name string, a *access, merged bool) (desc, ok bool) {
	for i, k := range p.Table.Keys {
		by, d, ok := k.Key.Ordered(func(name string) bool { return a.bound(name, merged) })
		if !ok || by != name || i > 0 && d != desc {
			return false, false
		}
		desc = d
	}
	return desc, true
}

// orderedBy names what has an order that the key lacks.
func (c *Catalog) orderedBy(t *Table, o *Order) string {
	var has []string
	for i := range c.Views {
		v := &c.Views[i]
		if v.Order != "" && v.Shown().Name == t.Name && (v.Table.Index != nil && v.Table.Index.Newest == o.Text || timeOf(&v.Table) == o.Text) {
			has = append(has, "the view "+v.Name)
		}
	}
	if t.Index != nil && t.Index.Newest == o.Text {
		has = append(has, "the index "+t.Index.Name+" (brine query "+t.Name+")")
	}
	by, _, ok := t.Keys.Newest().Ordered(func(string) bool { return false })
	switch {
	case len(has) > 0:
		return "ask " + strings.Join(has, " or ")
	case ok && by != o.Text:
		return "order by " + by + ", or remove ORDER BY"
	}
	return "bind the fields before it in the key to one value, or remove ORDER BY"
}

func timeOf(t *query.Table) string {
	for _, f := range t.KeyFields() {
		if f.Type == rowkey.Time {
			return f.Name
		}
	}
	return ""
}
