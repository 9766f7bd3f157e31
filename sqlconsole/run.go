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
)

// Store reads what plans select; query.Selector is one.
type Store interface {
	Select(ctx context.Context, s *query.Selection) iter.Seq2[query.Selected, error]
	Regions(ctx context.Context, s *query.Selection) (touched, all int, err error)
}

// Limits bound one statement. An answer that reaches one is not whole, and says so.
type Limits struct {
	Read   int           // rows that HBase hands over; 1,000,000
	Bytes  int64         // of these; 256 MiB
	Held   int64         // bytes of what the answer shows; 32 MiB
	Groups int           // 1,000
	Time   time.Duration // 30 s
}

// EnsureDefaults sets what is not set.
func (l *Limits) EnsureDefaults() {
	l.Read = cmp.Or(l.Read, 1_000_000)
	l.Bytes = cmp.Or(l.Bytes, 256<<20)
	l.Held = cmp.Or(l.Held, 32<<20)
	l.Groups = cmp.Or(l.Groups, 1_000)
	l.Time = cmp.Or(l.Time, 30*time.Second)
}

// maxColumns bounds what * shows of columns that nobody has declared.
const maxColumns = 1_000

// Answer is what a statement has returned.
type Answer struct {
	Columns []Column
	Rows    [][]event.Value // a value for each column; nulls where there is none
	Reached string          // the bound at which reading has ended, for people; empty when the answer is whole
	Stats   Stats
	Explain bool // the rows are the plan
}

// Column is a column of an answer.
type Column struct {
	Name string
	Type event.Type
}

// Stats are what an answer has cost.
type Stats struct {
	HBase, Total   time.Duration // waited for rows; until the answer was whole
	Read, Returned int           // rows: read by the servers, as they count; of the answer
	Regions        int           // that were read
	Calls          int
}

// Run answers a plan. An error is a store's, or that of ctx; what ends at a bound of the limits is no error.
func Run(ctx context.Context, s Store, p *Plan, l Limits) (*Answer, error) {
	l.EnsureDefaults()
	began := time.Now()
	if p.Statement.Explain {
		return p.explain(ctx, s, l)
	}
	r := &run{plan: p, limits: l, answer: &Answer{}, at: map[string]int{}}
	err := r.read(ctx, s)
	if err != nil {
		return nil, err
	}
	r.answer.Stats = Stats{HBase: r.cost.Waited, Total: time.Since(began), Read: max(r.cost.Read, r.seen), Returned: len(r.answer.Rows),
		Regions: r.cost.Regions, Calls: r.cost.Calls}
	return r.answer, nil
}

// run is one statement under way. It belongs to one goroutine.
type run struct {
	plan   *Plan
	limits Limits
	answer *Answer
	cost   query.Cost
	seen   int            // rows that HBase handed over
	held   int64          // bytes of the answer
	at     map[string]int // columns of the answer by their names, of *
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
	selection.Cost = &r.cost
	var late error
	for row, err := range s.Select(limited, &selection) {
		if err != nil && errors.Is(context.Cause(limited), errTime) {
			r.reached("%v have passed", r.limits.Time)
			late = err
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
	if late != nil && r.seen == 0 && r.cost.Calls == 0 { // it has not ended at a bound: nothing has answered at all
		return late
	}
	return r.finish()
}

var errTime = errors.New("the time of the statement has passed")

func (r *run) reached(format string, args ...any) { r.answer.Reached = fmt.Sprintf(format, args...) }

// take looks at a row. It is false when no more is wanted.
func (r *run) take(row *query.Selected) (more bool, err error) {
	r.seen++
	if r.plan.matches(row) {
		if r.groups != nil {
			err = r.groups.add(row)
		} else {
			err = r.show(row)
		}
	}
	switch {
	case err != nil:
		return false, err
	case r.groups == nil && r.plan.Statement.Limit >= 0 && len(r.answer.Rows) >= r.plan.limit:
		return false, nil
	case r.groups == nil && len(r.answer.Rows) > r.plan.limit:
		r.answer.Rows = r.answer.Rows[:r.plan.limit]
		r.reached("%s rows are shown; LIMIT asks for more, up to %s", term.Thousands(DefaultRows), term.Thousands(MaxRows))
	case r.groups != nil && len(r.groups.all) > r.limits.Groups:
		r.groups.cut(r.limits.Groups)
		r.reached("there are more than %s groups", term.Thousands(int64(r.limits.Groups)))
	case r.seen >= r.limits.Read:
		r.reached("%s rows were read", term.Thousands(int64(r.seen)))
	case r.cost.Bytes >= r.limits.Bytes:
		r.reached("%s of rows were read", term.Size(float64(r.cost.Bytes)))
	case r.held >= r.limits.Held:
		r.reached("the answer has %s", term.Size(float64(r.held)))
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

// in is what a row has in the column.
func (c *column) in(row *query.Selected) (v event.Value) {
	switch c.kind {
	case ofKey:
		return event.TextValue(string(row.Key))
	case ofField:
		return fieldOf(&row.Row, c.ref.Text)
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
		case c.kind == ofCell:
			parsed, err := event.ParseValue(c.typ, cell.Value)
			if err != nil { // nobody has said that it would be of the type
				return event.Value{}
			}
			return parsed
		}
	}
	return v
}

// member reports whether a cell holds a part of the field whose time is asked.
func (c *column) member(cell query.ColumnName) bool {
	return c.kind == ofTime && c.of != nil && c.of.Members && cell.Family == c.of.Family && strings.HasPrefix(cell.Qualifier, c.of.Qualifier)
}

// heads are the columns that are known before a row is.
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

// typeOf is the type of a field that the table has.
func (t *Table) typeOf(name string) event.Type {
	c := &column{ref: Ref{Name: Name{Text: name}}}
	_ = t.field(c) // it has the field
	return c.typ
}

// place is where * shows a column.
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

// show adds a row to the answer.
func (r *run) show(row *query.Selected) error {
	p := r.plan
	out := make([]event.Value, 0, len(r.answer.Columns))
	set := func(at int, v event.Value) {
		for len(out) <= at {
			out = append(out, event.Value{})
		}
		out[at] = owned(v)
		r.held += 16 + int64(len(v.Text()))
	}
	at := 0
	for i := range p.Statement.Items {
		if !p.Statement.Items[i].All {
			set(at, p.columns[i].shown(row))
			at++
			continue
		}
		for _, name := range p.Table.names() {
			set(at, p.shownField(row, name))
			at++
		}
	}
	if slices.ContainsFunc(p.Statement.Items, func(i Item) bool { return i.All }) {
		for _, c := range row.Cells {
			if p.Table.declared(c.Column) != nil || c.Column.Qualifier == "" {
				continue
			}
			if len(r.at) > maxColumns {
				return wrong(p.Statement.Items[0].Pos, "name those that are wanted", "the rows have more than %d columns", maxColumns)
			}
			set(r.place(c.Column.String(), event.Text), hide(p.masks.masksCell(p.Table, c.Column), event.TextValue(string(c.Value))))
		}
	}
	r.answer.Rows = append(r.answer.Rows, out)
	return nil
}

// owned is a value that keeps no more of what was read than itself.
func owned(v event.Value) event.Value {
	return v.Owned()
}

func (p *Plan) shownField(row *query.Selected, name string) event.Value {
	m := p.masks.Masks
	return hide(m.MasksPlace(p.Table.Name, name) || m.MasksKeyField(p.Table.Name, name), fieldOf(&row.Row, name))
}

func hide(masked bool, v event.Value) event.Value {
	if masked && !v.Null() {
		return event.TextValue(mask.Text)
	}
	return v
}

// fieldOf is the field's value: that of the key, or of the first column that has one.
func fieldOf(row *query.Row, name string) (v event.Value) {
	for i := range row.Fields {
		if row.Fields[i].Name == name && !row.Fields[i].Value.Null() {
			return row.Fields[i].Value
		}
	}
	return v
}

// shown is what the answer shows of the row in the column.
func (c *column) shown(row *query.Selected) event.Value {
	return hide(c.masked, c.asShown(c.in(row)))
}

// asShown is a value of the column as answers have it: a row key as HBase's shell writes it.
func (c *column) asShown(v event.Value) event.Value {
	if c.kind == ofKey && !v.Null() {
		return event.TextValue(rowkey.Binary(v.Text()))
	}
	return v
}

// finish makes the answer whole.
func (r *run) finish() error {
	if r.groups != nil {
		rows, err := r.groups.rows(r.plan.limit)
		r.answer.Rows = rows
		return err
	}
	for i, row := range r.answer.Rows {
		for len(row) < len(r.answer.Columns) {
			row = append(row, event.Value{})
		}
		r.answer.Rows[i] = row
	}
	return nil
}
