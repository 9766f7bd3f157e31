package sqlconsole

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/internal/term"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// Store reads what plans select; query.Selector is one.
type Store interface {
	Select(ctx context.Context, s *query.Selection) iter.Seq2[query.Selected, error]
	Regions(ctx context.Context, s *query.Selection) (touched, all int, err error)
}

// Limits bound one statement. An answer that reaches a limit is incomplete, and says so.
type Limits struct {
	Read   int           // rows that HBase reads, including those that its filters drop; 1,000,000
	Bytes  int64         // of these, as far as they are known: see query.Selection.MostBytes; 256 MiB
	Held   int64         // bytes of what the answer shows; 32 MiB. A single row that has more is an error
	Groups int           // 1,000
	Time   time.Duration // 30 s
}

// EnsureDefaults sets unset limits to their defaults.
func (l *Limits) EnsureDefaults() {
	l.Read = cmp.Or(l.Read, 1_000_000)
	l.Bytes = cmp.Or(l.Bytes, 256<<20)
	l.Held = cmp.Or(l.Held, 32<<20)
	l.Groups = cmp.Or(l.Groups, 1_000)
	l.Time = cmp.Or(l.Time, 30*time.Second)
}

// maxColumns bounds the number of undeclared columns that * shows.
const maxColumns = 1_000

// Answer is the result of a statement.
type Answer struct {
	Columns []Column
	Rows    [][]event.Value // one value per column; null if there is none
	Reached string          // limit at which reading ended, for people; empty if the answer is complete
	Stats   Stats
	Explain bool // the rows are the plan
}

// Bytes returns about how much memory the rows hold, in the units of Limits.Held.
func (a *Answer) Bytes() (n int64) {
	for _, row := range a.Rows {
		for _, v := range row {
			n += held(v)
		}
	}
	return n
}

func held(v event.Value) int64 { return 16 + int64(len(v.Text())) }

// Column is a column of an answer.
type Column struct {
	Name string
	Type event.Type
}

// Stats are the costs of an answer.
type Stats struct {
	HBase, Total   time.Duration // waiting for rows; until the answer was complete
	Read, Returned int           // rows: read by the servers, as they count; in the answer
	Regions        int           // number of regions read
	Calls          int
}

// Run answers a plan. Its error comes from a store or ctx, or is an *Error; reaching a limit is no error, unless the first row does not fit
// it.
func Run(ctx context.Context, s Store, p *Plan, l Limits) (*Answer, error) {
	l.EnsureDefaults()
	began := time.Now()
	asOf, err := p.kept(ctx, s)
	if err != nil {
		return nil, err
	}
	if p.Statement.Explain {
		return p.explain(ctx, s, l)
	}
	r := &run{plan: p, limits: l, asOf: asOf, answer: &Answer{}, at: map[string]int{}}
	if err := r.read(ctx, s); err != nil {
		return nil, err
	}
	r.answer.Stats = Stats{HBase: r.cost.Waited, Total: time.Since(began), Read: max(r.cost.Read, r.seen), Returned: len(r.answer.Rows),
		Regions: r.cost.Regions, Calls: r.cost.Calls}
	return r.answer, nil
}

// run is the state of one statement. It belongs to one goroutine.
type run struct {
	plan   *Plan
	limits Limits
	asOf   *query.AsOf
	answer *Answer
	cost   query.Cost
	seen   int            // rows from HBase
	texts  int64          // bytes of the texts in the answer
	at     map[string]int // columns of the answer by name, for *
	groups *groups
}

func (r *run) read(ctx context.Context, s Store) error {
	p := r.plan
	if r.heads(); p.grouped() {
		r.groups = newGroups(p)
	}
	if p.none {
		return r.finish()
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.limits.Time, errTime)
	defer cancel()
	selection := p.Selection
	selection.AsOf, selection.Cost, selection.Most, selection.MostBytes = r.asOf, &r.cost, r.limits.Read, r.limits.Bytes
	var late error
	most := false
	for row, err := range s.Select(limited, &selection) {
		if err != nil && errors.Is(context.Cause(limited), errTime) {
			r.reached("%v have passed", r.limits.Time)
			late = err
			break
		}
		if most = errors.Is(err, query.ErrMost); most {
			break
		}
		if err != nil {
			return p.refused(err)
		}
		if more, err := r.take(&row); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if late != nil && r.seen == 0 && r.cost.Calls == 0 { // it was not stopped by a limit: nothing answered at all
		return late
	}
	switch {
	case !most:
	case r.cost.Read > r.limits.Read:
		r.reached("%s rows were read", term.Thousands(int64(r.cost.Read)))
	default:
		r.reached("%s of rows were read", term.Size(float64(r.cost.Bytes+r.cost.Dropped)))
	}
	return r.finish()
}

var errTime = errors.New("the statement timed out")

func (r *run) reached(format string, args ...any) { r.answer.Reached = fmt.Sprintf(format, args...) }

// take processes a row. It returns false once no more rows are wanted.
func (r *run) take(row *query.Selected) (more bool, err error) {
	r.seen++
	fits := true
	if r.plan.matches(row) {
		if r.groups != nil {
			fits = r.groups.add(row, r.limits.Held)
		} else {
			fits, err = r.show(row)
		}
	}
	switch {
	case err != nil:
		return false, err
	case !fits && (r.groups == nil && len(r.answer.Rows) == 0 || r.groups != nil && r.groups.added == 0):
		return false, wrong(r.plan.Statement.Items[0].Pos, "select fewer columns", "a row of the answer has more than %s",
			term.Size(float64(r.limits.Held)))
	case !fits:
		r.reached("the answer would have more than %s", term.Size(float64(r.limits.Held)))
	case r.groups == nil && r.plan.Statement.Limit >= 0 && len(r.answer.Rows) >= r.plan.limit:
		return false, nil
	case r.groups == nil && len(r.answer.Rows) > r.plan.limit:
		r.answer.Rows = r.answer.Rows[:r.plan.limit]
		r.reached("%s rows are shown; LIMIT allows more, up to %s", term.Thousands(DefaultRows), term.Thousands(MaxRows))
	case r.groups != nil && len(r.groups.all) > r.limits.Groups:
		r.groups.cut(r.limits.Groups)
		r.reached("there are more than %s groups", term.Thousands(int64(r.limits.Groups)))
	case r.seen >= r.limits.Read:
		r.reached("%s rows were read", term.Thousands(int64(r.seen)))
	case r.cost.Bytes >= r.limits.Bytes:
		r.reached("%s of rows were read", term.Size(float64(r.cost.Bytes)))
	default:
		return true, nil
	}
	return false, nil
}

func (p *Plan) matches(row *query.Selected) bool {
	for _, t := range p.tests {
		if !t.matches(t.in(row)) {
			return false
		}
	}
	return true
}

func (t *test) matches(v event.Value) bool {
	if t.op == IsNull || v.Null() {
		return t.op == IsNull && v.Null()
	}
	at := func(i int) int { return compare(v, t.values[i]) }
	nan := v.Type == event.Float && v.Float() != v.Float()
	switch t.op {
	case NotNull:
		return true
	case Eq:
		return at(0) == 0
	case Lt:
		return at(0) < 0 && !nan
	case Le:
		return at(0) <= 0 && !nan
	case Gt:
		return at(0) > 0
	case Ge:
		return at(0) >= 0
	case Between:
		return at(0) >= 0 && at(1) <= 0
	case In:
		return slices.ContainsFunc(t.values, func(w event.Value) bool { return compare(v, w) == 0 })
	case Like:
		begin := t.values[0].Text()
		return len(v.Text()) >= len(begin) && string(v.Text()[:len(begin)]) == string(begin)
	}
	return false
}

// in returns a row's value in the column.
func (c *column) in(row *query.Selected) (v event.Value) {
	switch c.kind {
	case ofKey:
		return event.TextValue(string(row.Key))
	case ofField:
		if v = row.Value(c.ref.Text); v.Type == event.Int && eventkey.Unit(c.typ) != 0 {
			v = event.InstantValue(c.typ, v.Int()) // of the key
		}
		return v
	}
	for i := range row.Cells {
		cell := &row.Cells[i]
		if cell.Column != c.cell && !c.member(cell.Column) {
			continue
		}
		switch {
		case c.kind == ofTime && (v.Null() || cell.Time > v.Int()):
			v = event.IntValue(cell.Time)
			if c.typ == event.TimeMS {
				v = event.TimeValue(cell.Time)
			}
		case c.kind == ofCell && c.of == nil: // undeclared
			return event.TextOf(cell.Value)
		case c.kind == ofCell:
			parsed, err := event.ParseValue(c.typ, cell.Value)
			if err != nil { // it was written when the column was declared otherwise
				return event.Value{}
			}
			return parsed
		}
	}
	return v
}

// member reports whether a cell holds a part of the field whose time is asked for.
func (c *column) member(cell query.ColumnName) bool {
	return c.kind == ofTime && c.of != nil && c.of.Members && cell.Family == c.of.Family && strings.HasPrefix(cell.Qualifier, c.of.Qualifier)
}

// heads sets the columns that are known before the first row.
func (r *run) heads() {
	p := r.plan
	for i := range p.Statement.Items {
		item := &p.Statement.Items[i]
		switch {
		case item.Func != "":
			r.answer.Columns = append(r.answer.Columns, Column{item.String(), item.result(p.columns[i])})
		case item.All:
			for _, name := range p.Table.names() {
				r.place(name, p.Table.typeOf(name))
			}
		default:
			typ := p.columns[i].typ
			if p.columns[i].masked {
				typ = event.Text
			}
			r.answer.Columns = append(r.answer.Columns, Column{item.String(), typ})
		}
	}
}

// typeOf returns the type of a field that the table has.
func (t *Table) typeOf(name string) event.Type {
	c := &column{ref: Ref{Name: Name{Text: name}}}
	_ = t.field(c) // never fails: it has the field
	return c.typ
}

// place returns the position at which * shows a column.
func (r *run) place(name string, typ event.Type) int {
	at, known := r.at[name]
	if !known {
		at = len(r.answer.Columns)
		r.at[name] = at
		if r.plan.masks.Masks.MasksPlace(r.plan.Table.Name, name) || r.plan.masks.Masks.MasksKeyField(r.plan.Table.Name, name) {
			typ = event.Text
		}
		r.answer.Columns = append(r.answer.Columns, Column{name, typ})
	}
	return at
}

// show adds a row to the answer. It returns false and adds nothing if the answer would have more than its limit: a value is only copied
// once there is room for it, because a statement may name a large column many times.
func (r *run) show(row *query.Selected) (fits bool, err error) {
	known := len(r.answer.Columns)
	out := make([]event.Value, 0, known)
	texts := r.texts
	fits = true
	err = r.each(row, func(at int, v event.Value) bool {
		texts += int64(len(v.Text()))
		values := int64(len(r.answer.Rows)+1) * int64(len(r.answer.Columns)) // nulls too
		if fits = values*held(event.Value{})+texts <= r.limits.Held; !fits {
			return false
		}
		for len(out) <= at {
			out = append(out, event.Value{})
		}
		out[at] = owned(v)
		return true
	})
	if !fits {
		for _, c := range r.answer.Columns[known:] {
			delete(r.at, c.Name)
		}
		r.answer.Columns = r.answer.Columns[:known]
		return false, err
	}
	r.texts = texts
	r.answer.Rows = append(r.answer.Rows, out)
	return true, err
}

// each calls set with each value that the answer shows of a row, and its place, until set returns false.
func (r *run) each(row *query.Selected, set func(at int, v event.Value) bool) error {
	p := r.plan
	at := 0
	for i := range p.Statement.Items {
		if !p.Statement.Items[i].All {
			if !set(at, p.columns[i].shown(row)) {
				return nil
			}
			at++
			continue
		}
		for _, name := range p.Table.names() {
			if !set(at, p.shownField(row, name)) {
				return nil
			}
			at++
		}
	}
	if !slices.ContainsFunc(p.Statement.Items, func(i Item) bool { return i.All }) {
		return nil
	}
	for _, c := range row.Cells {
		if p.Table.declared(c.Column) != nil || c.Column.Qualifier == "" {
			continue
		}
		if len(r.at) > maxColumns {
			return wrong(p.Statement.Items[0].Pos, "name the ones you need", "the rows have more than %d columns", maxColumns)
		}
		v := hide(p.masks.masksCell(p.Table, c.Column), event.TextValue(string(c.Value)))
		if !set(r.place(c.Column.String(), event.Text), v) {
			return nil
		}
	}
	return nil
}

// owned returns a copy of a value, so that the value does not keep the memory of what was read.
func owned(v event.Value) event.Value {
	return v.Owned()
}

func (p *Plan) shownField(row *query.Selected, name string) event.Value {
	m := p.masks.Masks
	return hide(m.MasksPlace(p.Table.Name, name) || m.MasksKeyField(p.Table.Name, name), row.Value(name))
}

func hide(masked bool, v event.Value) event.Value {
	if masked && !v.Null() {
		return event.TextValue(mask.Text)
	}
	return v
}

// shown returns what the answer shows for the row in the column.
func (c *column) shown(row *query.Selected) event.Value {
	return hide(c.masked, c.asShown(c.in(row)))
}

// asShown returns a value of the column in the form of answers: a row key as HBase's shell writes it.
func (c *column) asShown(v event.Value) event.Value {
	if c.kind == ofKey && !v.Null() {
		return event.TextValue(rowkey.Binary(v.Text()))
	}
	return v
}

// finish completes the answer.
func (r *run) finish() error {
	if r.groups != nil {
		rows, err := r.groups.rows(r.plan.limit)
		r.answer.Rows = rows
		return err
	}
	for i, row := range r.answer.Rows {
		r.answer.Rows[i] = append(row, make([]event.Value, len(r.answer.Columns)-len(row))...)
	}
	return nil
}
