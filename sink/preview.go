package sink

import "brine/event"

// Preview makes the rows that events would become, without writing them. It must be used by one goroutine only.
type Preview struct{ draft *draft }

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
	return &Preview{draft: s.draft()}, nil
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
			if part.act == deletes {
				row(part.table.Name, d.row(k), func() []Cell { return []Cell{part.marks()} })
				continue
			}
			row(part.table.Name, d.row(k), func() []Cell { return d.shown(part) })
		}
		for k := part.left.from; k < part.left.to; k++ {
			row(part.table.Name, d.row(k), func() []Cell { return []Cell{part.marks()} })
		}
	}
	return nil
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
