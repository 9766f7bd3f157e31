package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"brine/internal/term"
	"brine/skew"
)

// mode is one of the things that can be listed.
type mode struct {
	key     string // that selects it
	name    string
	columns []column
	sort    int // the initial sort column
	lines   func(*Snapshot) []line
	drill   string // the key of the mode that Enter on a line opens; empty: none
}

type column struct {
	title  string
	number bool
}

// line is one listed thing: for each column a string or, in number columns, a float64.
type line struct {
	cells []any
	scope scope
	hot   bool
}

// scope is the table and the server of a line, which restrict other lists. Empty: any.
type scope struct{ table, server string }

// within reports whether a line belongs to a scope.
func (s scope) within(of scope) bool {
	return (of.table == "" || s.table == "" || s.table == of.table) && (of.server == "" || s.server == "" || s.server == of.server)
}

func texts(titles ...string) (all []column) {
	for _, title := range titles {
		all = append(all, column{title: title})
	}
	return all
}

func numbers(titles ...string) (all []column) {
	for _, title := range titles {
		all = append(all, column{title: title, number: true})
	}
	return all
}

var loadColumns = numbers("ROWS/S", "WRITE/S", "READ/S", "MB")

var modes = []mode{
	{key: "p", name: "pipelines", sort: 1, lines: pipelineLines, drill: "t",
		columns: slices.Concat(texts("PIPELINE"), numbers("EVENTS/S", "LAG"), texts("DRAINED", "LIMIT"), numbers("RETRIES", "DEAD"),
			texts("STATE", "BRINE"))},
	{key: "t", name: "tables", sort: 4, lines: tableLines, drill: "r",
		columns: slices.Concat(texts("TABLE"), numbers("REGIONS", "HOT", "MAX/MEAN"), loadColumns)},
	{key: "r", name: "regions", sort: 4, lines: regionLines, drill: "k",
		columns: slices.Concat(texts("REGION", "TABLE", "START", "SERVER"), loadColumns)},
	{key: "s", name: "servers", sort: 3, lines: serverLines, drill: "r",
		columns: slices.Concat(texts("SERVER"), numbers("REGIONS", "HOT"), loadColumns)},
	{key: "k", name: "keys", sort: 3, lines: keyLines,
		columns: slices.Concat(texts("KEY", "TABLE", "FIELD"), numbers("SHARE%", "ROWS"))},
	{key: "h", name: "hot", sort: 2, lines: hotLines, drill: "r",
		columns: slices.Concat(texts("WHERE", "SEVERITY"), numbers("ROWS/S", "×MEAN"), texts("CAUSE", "DO"))},
}

func pipelineLines(s *Snapshot) (out []line) {
	for _, p := range s.pipelines {
		state := "runs"
		if p.Waiting != "" {
			state = skew.Printable([]byte(p.Waiting))
		}
		cells := []any{p.Name, p.rate, float64(p.Lag), drained(p.Drain), p.Limit, float64(p.Retries), float64(p.Dead), state, p.brine}
		out = append(out, line{cells: cells, hot: p.Waiting != ""})
	}
	return out
}

// drained formats the time until nothing is left.
func drained(seconds *float64) string {
	switch {
	case seconds == nil:
		return "?"
	case *seconds < 0:
		return "never"
	case *seconds == 0:
		return "now"
	}
	return "in " + (time.Duration(*seconds) * time.Second).String()
}

// load is the sum over some regions.
type load struct {
	regions, hot              int
	rows, writes, reads, most float64 // most: rows per second of the busiest region
	mb                        int64
}

func (t *load) add(r *region) {
	t.regions++
	if r.hot {
		t.hot++
	}
	t.rows, t.writes, t.reads, t.mb = t.rows+r.rows, t.writes+r.writes, t.reads+r.reads, t.mb+r.mb
	t.most = max(t.most, r.rows)
}

func (t *load) cells() []any { return []any{t.rows, t.writes, t.reads, float64(t.mb)} }

// sums returns the load of the regions, added up by the name that by returns.
func (s *Snapshot) sums(by func(*region) string) map[string]*load {
	out := map[string]*load{}
	for i := range s.regions {
		r := &s.regions[i]
		if out[by(r)] == nil {
			out[by(r)] = &load{}
		}
		out[by(r)].add(r)
	}
	return out
}

func tableLines(s *Snapshot) (out []line) {
	sums := s.sums(func(r *region) string { return r.table })
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		t := sums[name]
		maxMean := 1.0
		if t.rows > 0 {
			maxMean = t.most / t.rows * float64(t.regions)
		}
		cells := append([]any{name, float64(t.regions), float64(t.hot), maxMean}, t.cells()...)
		out = append(out, line{cells: cells, scope: scope{table: name}, hot: t.hot > 0})
	}
	return out
}

func serverLines(s *Snapshot) (out []line) {
	sums := s.sums(func(r *region) string { return r.server })
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		t := sums[name]
		cells := append([]any{name, float64(t.regions), float64(t.hot)}, t.cells()...)
		out = append(out, line{cells: cells, scope: scope{server: name}, hot: t.hot > 0})
	}
	return out
}

// firstRegion is shown for an empty start key.
const firstRegion = "(first)"

func regionLines(s *Snapshot) (out []line) {
	for _, r := range s.regions {
		cells := []any{r.name[:min(8, len(r.name))], r.table, cmp.Or(r.start, firstRegion), r.server, r.rows, r.writes, r.reads, float64(r.mb)}
		out = append(out, line{cells: cells, scope: scope{r.table, r.server}, hot: r.hot})
	}
	return out
}

func keyLines(s *Snapshot) (out []line) {
	for _, k := range s.keys {
		out = append(out, line{cells: []any{k.key, k.table, k.field, 100 * k.share, k.rows}, scope: scope{table: k.table}})
	}
	return out
}

func hotLines(s *Snapshot) (out []line) {
	for _, h := range s.hot {
		do := ""
		if len(h.Actions) > 0 {
			do = h.Actions[0].String()
		}
		cells := []any{hotPlace(h), h.Severity, h.Rate, h.Times, string(h.Cause), do}
		out = append(out, line{cells: cells, scope: scope{h.Table, h.Server}, hot: true})
	}
	return out
}

func hotPlace(h skew.HotSpot) string {
	if h.Region == nil {
		return "server " + h.Server
	}
	return fmt.Sprintf("%s %s", h.Table, term.Clip(cmp.Or(h.Region.Start.String(), firstRegion), 30))
}
