package sink

import (
	"brine/event"
	"brine/hbase"
)

// Preview makes the rows that events would become, without writing them. It must be used by one goroutine only.
type Preview struct {
	draft *draft
	cells []previewed // by part
	of    []int       // by mutation of a part: the position of its event
}

// previewed makes the cells of a part's rows: of one that is written, and of one that is marked as deleted.
type previewed struct{ shown, marked func() []Cell }

// Cell is one cell of a row that a Preview made.
type Cell struct {
	Family, Qualifier string
	Value             []byte
}

// NewPreview returns a preview. Its errors are those of New.
func NewPreview(opts Options) (*Preview, error) {
	s, err := New(nil, opts)
	if err != nil {
		return nil, err
	}
	p := &Preview{draft: s.draft()}
	for i := range p.draft.parts {
		part := &p.draft.parts[i]
		p.cells = append(p.cells, previewed{
			shown:  func() []Cell { return p.draft.shown(part) },
			marked: func() []Cell { return []Cell{part.marks()} },
		})
	}
	return p, nil
}

// Show is Options.Show.
func (p *Preview) Show(table, column string, cell []byte) Shown {
	return p.draft.sink.opts.Show(table, column, cell)
}

// Rows calls row for each row that the event would become and each that it would mark as deleted, or returns the *event.Error for which it
// would be rejected. key is valid until row returns. cells, which makes the cells on demand, is valid until the next event.
func (p *Preview) Rows(ev *event.Event, row func(table string, key []byte, cells func() []Cell)) error {
	d := p.draft
	if ev.LeftOut != "" {
		return nil
	}
	if err := d.check(ev); err != nil {
		return err
	}
	for n := range d.parts {
		part := &d.parts[n]
		if part.hard {
			if part.act == deletes || part.deletes(ev) {
				continue
			}
			part.left = span{}
		}
		for k := part.rows.from; k < part.rows.to && part.act != passes; k++ {
			cells := p.cells[n].shown
			if part.act == deletes {
				cells = p.cells[n].marked
			}
			row(part.table.Name, d.row(k), cells)
		}
		for k := part.left.from; k < part.left.to; k++ {
			row(part.table.Name, d.row(k), p.cells[n].marked)
		}
	}
	return nil
}

// Mutations makes the mutations of the events as Submit does. Instead of queueing them it calls table with those of each table, which are
// in the order of their events; of holds, by mutation, the position of its event. It returns a failure for each event that is rejected.
// rows and of are valid until table returns.
func (p *Preview) Mutations(events []event.Event, table func(rows *hbase.Batch, of []int)) []event.Failure {
	d, now := p.draft, p.draft.sink.opts.Now()
	for i := range events {
		d.add(i, &events[i], now)
	}
	for i := range d.parts {
		if part := &d.parts[i]; part.batch.Len() > 0 {
			p.of = p.of[:0]
			for _, from := range part.events {
				p.of = append(p.of, int(from.event))
			}
			table(part.batch, p.of)
		}
	}
	rejected := d.rejected
	d.reset()
	return rejected
}

// shown returns the cells of a row as mutate writes them.
func (d *draft) shown(p *part) (out []Cell) {
	for _, c := range d.cells[p.cells.from:p.cells.to] {
		if !c.null {
			out = append(out, Cell{string(p.families[c.family].name), string(c.qualifier), c.value})
		}
	}
	if len(out) == 0 {
		out = append(out, Cell{Family: string(p.families[p.marked()].name)})
	}
	return out
}

// marked returns the family of the empty cell of a row that has no other: that of the first column.
func (t *target) marked() int {
	if len(t.columns) == 0 {
		return 0
	}
	return t.columns[0].family
}
