package sqlconsole

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/event"
	"brine/internal/term"
	"brine/internal/when"
)

// shownRanges is the number of ranges that EXPLAIN lists.
const shownRanges = 20

// explain returns the plan as the answer. It asks the store only for the locations of the table's regions.
func (p *Plan) explain(ctx context.Context, s Store, l Limits) (*Answer, error) {
	a := &Answer{Columns: []Column{{"what", event.Text}, {"plan", event.Text}}, Explain: true}
	add := func(what, format string, args ...any) {
		a.Rows = append(a.Rows, []event.Value{event.TextValue(what), event.TextValue(fmt.Sprintf(format, args...))})
	}
	add("table", "%s, by its key %s", p.Table.Name, p.Table.Keys.Newest())
	if p.none {
		add("reads", "nothing: no row can match")
		return a, nil
	}
	if len(p.words) > 0 {
		add("reads", "the rows of documents of the index %s with %s", p.Table.Index.Name, said(slices.Concat(p.words, p.indexed)))
		p.explainRows(add)
		add("rows", "unknown: the index does not count them")
		return a, nil
	}
	scans, err := p.Selection.Scans()
	if err != nil {
		return nil, err
	}
	reads := term.Count(len(scans), "range")
	if p.Full {
		reads += ": the whole table"
	}
	if len(p.keyed) > 0 {
		reads += ", by " + said(p.keyed)
	}
	add("reads", "%s", reads)
	for _, scan := range scans[:min(len(scans), shownRanges)] {
		add("range", "%v", scan)
	}
	if more := len(scans) - shownRanges; more > 0 {
		add("range", "… and %d more", more)
	}
	p.explainRows(add)
	add("rows", "%s", p.estimate(len(scans)))
	touched, all, err := s.Regions(ctx, &p.Selection)
	if err != nil {
		return nil, err
	}
	if all > 0 {
		add("regions", "%d of %d", touched, all)
	}
	l.EnsureDefaults()
	add("bounds", "%s rows read, %s, %s groups, %v", term.Thousands(int64(l.Read)), term.Size(float64(l.Bytes)),
		term.Thousands(int64(l.Groups)), l.Time)
	return a, nil
}

// explainRows describes what is computed from the rows.
func (p *Plan) explainRows(add func(what, format string, args ...any)) {
	add("order", "%s%s", p.order, map[bool]string{true: ", read backwards"}[p.Selection.Reverse])
	add("columns", "%s", p.columnsText())
	switch {
	case p.Selection.AsOf != nil:
		add("as of", "%s", when.Text(p.Selection.AsOf.At))
	case p.Selection.Splits > 0:
		add("versions", "one row for each of the last %d versions of a row", p.Selection.Splits)
	}
	if len(p.pushed) > 0 {
		add("hbase leaves out", "rows without %s", said(p.pushed))
	}
	if len(p.tests) > 0 {
		add("brine leaves out", "rows without %s", said(p.tests))
	}
	if p.Table.Deleted != "" {
		add("brine leaves out", "rows in which %s is true: they are deleted", p.Table.Deleted)
	}
}

func said(tests []*test) string {
	var out []string
	for _, t := range tests {
		out = append(out, t.text)
	}
	return strings.Join(out, " and ")
}

func (p *Plan) columnsText() string {
	if p.Selection.Whole {
		return "all"
	}
	var out []string
	for _, c := range p.Selection.Table.Columns {
		name := c.Family + ":" + c.Qualifier
		if c.Members {
			name += "*"
		}
		out = append(out, name)
	}
	for _, c := range p.Selection.Also {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}

// estimate describes how many rows are read, if the key determines it: HBase has no row counts.
func (p *Plan) estimate(ranges int) string {
	bound := 0
	fields := p.Table.Keys.Newest().Fields()
	for _, name := range fields {
		for _, where := range p.Selection.Any {
			if !where[name].Equal.Null() {
				bound++
			}
		}
	}
	switch {
	case bound == len(fields)*len(p.Selection.Any):
		return fmt.Sprintf("at most %d: each range is one row", ranges)
	case p.Selection.Limit > 0:
		return fmt.Sprintf("about %s, because that is all the statement needs", term.Thousands(int64(p.limit)))
	}
	return "unknown: HBase does not count them"
}
