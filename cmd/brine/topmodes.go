package main

import (
	"fmt"
	"slices"

	"brine/skew"
)

// topMode is one of the things that brine top lists.
type topMode struct {
	key     string // that chooses it
	name    string
	columns []topColumn
	sort    int // the column that it begins sorted by
	lines   func(*topSnapshot) []topLine
	drill   string // the key of the mode that a line opens; empty: none
}

type topColumn struct {
	title  string
	number bool
}

// topLine is one thing: a text or a number for each column.
type topLine struct {
	cells []any // string, or float64 in the columns of numbers
	scope topScope
	hot   bool
}

// topScope is what a line stands for, so that others can be kept to it.
type topScope struct{ table, server string }

// within reports whether a line belongs to a scope.
func (s topScope) within(of topScope) bool {
	return (of.table == "" || s.table == "" || s.table == of.table) && (of.server == "" || s.server == "" || s.server == of.server)
}

func text(titles ...string) (all []topColumn) {
	for _, title := range titles {
		all = append(all, topColumn{title: title})
	}
	return all
}

func numbers(titles ...string) (all []topColumn) {
	for _, title := range titles {
		all = append(all, topColumn{title: title, number: true})
	}
	return all
}

var loadColumns = numbers("ROWS/S", "WRITE/S", "READ/S", "MB")

var topModes = []topMode{
	{key: "p", name: "pipelines", columns: slices.Concat(text("PIPELINE"), numbers("EVENTS/S", "LAG", "RETRIES", "DEAD"), text("STATE", "BRINE")), sort: 1, lines: pipelineLines, drill: "t"},
	{key: "t", name: "tables", columns: slices.Concat(text("TABLE"), numbers("REGIONS", "HOT", "MAX/MEAN"), loadColumns), sort: 4, lines: tableLines, drill: "r"},
	{key: "r", name: "regions", columns: slices.Concat(text("REGION", "TABLE", "START", "SERVER"), loadColumns), sort: 4, lines: regionLines, drill: "k"},
	{key: "s", name: "servers", columns: slices.Concat(text("SERVER"), numbers("REGIONS", "HOT"), loadColumns), sort: 3, lines: serverLines, drill: "r"},
	{key: "k", name: "keys", columns: slices.Concat(text("KEY", "TABLE", "FIELD"), numbers("SHARE%", "ROWS")), sort: 3, lines: keyLines},
	{key: "h", name: "hot", columns: slices.Concat(text("WHERE", "SEVERITY"), numbers("ROWS/S", "×MEAN"), text("CAUSE", "DO")), sort: 2, lines: hotLines, drill: "r"},
}

func pipelineLines(s *topSnapshot) (out []topLine) {
	for _, p := range s.pipelines {
		state := "runs"
		if p.Waiting != "" {
			state = skew.Printable([]byte(p.Waiting))
		}
		out = append(out, topLine{cells: []any{p.Name, p.rate, float64(p.Lag), float64(p.Retries), float64(p.Dead), state, p.brine}, hot: p.Waiting != ""})
	}
	return out
}

// topSum adds up regions.
type topSum struct {
	regions, hot              int
	rows, writes, reads, most float64
	mb                        int64
}

func (t *topSum) add(r *topRegion) {
	t.regions++
	if r.hot {
		t.hot++
	}
	t.rows, t.writes, t.reads, t.mb = t.rows+r.rows, t.writes+r.writes, t.reads+r.reads, t.mb+r.mb
	t.most = max(t.most, r.rows)
}

func (t *topSum) loads() []any { return []any{t.rows, t.writes, t.reads, float64(t.mb)} }

// sums adds up the regions that have something in common.
func (s *topSnapshot) sums(of func(*topRegion) string) map[string]*topSum {
	out := map[string]*topSum{}
	for i := range s.regions {
		r := &s.regions[i]
		if out[of(r)] == nil {
			out[of(r)] = &topSum{}
		}
		out[of(r)].add(r)
	}
	return out
}

func tableLines(s *topSnapshot) (out []topLine) {
	sums := s.sums(func(r *topRegion) string { return r.table })
	for _, name := range sortedKeys(sums) {
		t := sums[name]
		maxMean := 1.0
		if t.rows > 0 {
			maxMean = t.most / t.rows * float64(t.regions)
		}
		cells := append([]any{name, float64(t.regions), float64(t.hot), maxMean}, t.loads()...)
		out = append(out, topLine{cells: cells, scope: topScope{table: name}, hot: t.hot > 0})
	}
	return out
}

func serverLines(s *topSnapshot) (out []topLine) {
	sums := s.sums(func(r *topRegion) string { return r.server })
	for _, name := range sortedKeys(sums) {
		t := sums[name]
		cells := append([]any{name, float64(t.regions), float64(t.hot)}, t.loads()...)
		out = append(out, topLine{cells: cells, scope: topScope{server: name}, hot: t.hot > 0})
	}
	return out
}

func regionLines(s *topSnapshot) (out []topLine) {
	for _, r := range s.regions {
		cells := []any{r.name[:min(8, len(r.name))], r.table, start(r.start), r.server, r.rows, r.writes, r.reads, float64(r.mb)}
		out = append(out, topLine{cells: cells, scope: topScope{r.table, r.server}, hot: r.hot})
	}
	return out
}

func keyLines(s *topSnapshot) (out []topLine) {
	for _, k := range s.keys {
		out = append(out, topLine{cells: []any{k.key, k.table, k.field, 100 * k.share, k.rate}, scope: topScope{table: k.table}})
	}
	return out
}

func hotLines(s *topSnapshot) (out []topLine) {
	for _, h := range s.hot {
		do := ""
		if len(h.Actions) > 0 {
			do = h.Actions[0].Text + effectText(h.Actions[0])
		}
		out = append(out, topLine{cells: []any{hotWhere(h), h.Severity, h.Rate, h.Times, string(h.Cause), do}, scope: topScope{h.Table, h.Server}, hot: true})
	}
	return out
}

func hotWhere(h skew.HotSpot) string {
	if h.Region == nil {
		return "server " + h.Server
	}
	return fmt.Sprintf("%s %s", h.Table, clip(start(h.Region.Start.String()), 30))
}
