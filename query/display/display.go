// Package display prints answers to questions for people, and the questions that can be asked.
package display

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"brine/config"
	"brine/event"
	"brine/internal/term"
	"brine/internal/when"
	"brine/query"
	"brine/rowkey"
)

// Cost prints what an answer of the key has cost.
func Cost(out io.Writer, cost query.Cost, gets bool) {
	fmt.Fprintf(out, "rows %d, read by the servers %d, calls %d, scanners %d", cost.Rows, cost.Read, cost.Calls, cost.Scanners)
	if gets { // one per row, of the other table
		fmt.Fprintf(out, ", gets %d", cost.Rows)
	}
	fmt.Fprintln(out)
}

// Tally prints the number of rows, and the number with each value.
func Tally(out io.Writer, t query.Tally) {
	fmt.Fprintf(out, "%s rows\n", term.Thousands(t.Rows))
	w := term.Table{Out: out}
	for _, v := range t.Values {
		for _, n := range v.Counts {
			w.Row(v.Field, fmt.Sprint(n.Value), term.Thousands(n.N))
		}
	}
	w.Flush()
}

// Rows prints rows with a column per field.
type Rows struct {
	Keys   bool               // include row keys
	Counts config.VersionKind // the kind of versions
	Fields []string           // only these fields; nil means all
}

// Print prints the rows, including those before an error.
func (p *Rows) Print(out io.Writer, rows iter.Seq2[query.Found, error]) error {
	w := term.Table{Out: out}
	n := 0
	for row, err := range rows {
		if err != nil {
			w.Flush() // print the rows before the error, then return it
			return err
		}
		row = row.Only(p.Fields...)
		if n++; n == 1 {
			w.Row(p.names(row)...)
		}
		w.Row(p.texts(row)...)
	}
	if n == 0 {
		fmt.Fprintln(out, "no rows")
	}
	w.Flush()
	return nil
}

func (p *Rows) names(row query.Found) []string {
	var out []string
	if p.Keys {
		out = append(out, "ROW")
	}
	for _, f := range row.Fields {
		out = append(out, strings.ToUpper(f.Name))
	}
	return append(out, "VERSION")
}

func (p *Rows) texts(row query.Found) []string {
	var out []string
	if p.Keys {
		out = append(out, rowkey.Binary(row.Key))
	}
	for _, f := range row.Fields {
		switch {
		case f.Value.Null():
			out = append(out, "-")
		case f.Value.Type == event.Nested:
			out = append(out, string(f.Value.Text()))
		default:
			out = append(out, fmt.Sprint(query.JSONValue(f.Value)))
		}
	}
	out = append(out, versionText(row.Version, p.Counts))
	if row.State != query.Same {
		out = append(out, "← "+string(row.State))
	}
	return out
}

// versionText formats a version: as a time if it is one, with the number within its millisecond.
func versionText(v int64, counts config.VersionKind) string {
	switch counts {
	case config.Sequence:
		return fmt.Sprintf("%s+%d", when.Text(v/1000), v%1000)
	case config.Number:
		return strconv.FormatInt(v, 10)
	}
	return when.Text(v)
}

// Views prints the views and their arguments, for people or as JSON lines.
func Views(out io.Writer, cfg *config.Config, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		for _, v := range cfg.Views {
			if err := enc.Encode(viewJSON(v)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(cfg.Views) == 0 {
		fmt.Fprintln(out, "no views; declare some: docs/queries.md")
		return nil
	}
	w := term.Table{Out: out}
	w.Row("VIEW", "ARGUMENTS", "ROWS OF", "ORDER", "PAGE")
	for _, v := range cfg.Views {
		w.Row(v.Name, v.Usage(), v.Shown(cfg).Name, cmp.Or(v.Order, "-"), fmt.Sprint(v.Limit))
	}
	w.Flush()
	return nil
}

func viewJSON(v *config.View) map[string]any {
	o := map[string]any{"view": v.Name, "table": v.Table, "where": v.Where, "limit": v.Limit}
	for name, list := range map[string][]string{"optional": v.Optional, "families": v.Families, "counts": v.Counts} {
		if len(list) > 0 {
			o[name] = list
		}
	}
	for name, text := range map[string]string{"order": v.Order, "get": v.Get} {
		if text != "" {
			o[name] = text
		}
	}
	return o
}
