package shell

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"brine/event"
	"brine/internal/term"
	"brine/query"
	"brine/sqlconsole"
)

// Format is the output format of answers.
type Format string

// The formats.
const (
	Table    Format = "table"    // for people: a line per row
	Vertical Format = "vertical" // for people: a line per value
	JSON     Format = "json"     // an object per statement: columns, rows, stats, and reached if the answer is incomplete
	CSV      Format = "csv"      // with a header; what a spreadsheet would take for a formula is quoted with '
)

// print prints an answer.
func (s *Shell) print(a *sqlconsole.Answer) error {
	first := !s.asked
	s.asked = true
	switch s.Format {
	case JSON:
		return printJSON(s.Out, a)
	case CSV:
		if !first {
			fmt.Fprintln(s.Out)
		}
		if err := printCSV(s.Out, a); err != nil {
			return err
		}
		if a.Reached != "" {
			fmt.Fprintf(s.Notes, "incomplete: %s\n", a.Reached)
		}
		return nil
	case Vertical:
		printVertical(s.Out, a)
	default:
		printTable(s.Out, a)
	}
	s.costs(a)
	return nil
}

// costs prints the costs of an answer, for people.
func (s *Shell) costs(a *sqlconsole.Answer) {
	if a.Explain {
		return
	}
	fmt.Fprintf(s.Out, "%s; HBase %v, all %v; %s read in %s\n", term.Count(a.Stats.Returned, "row"), a.Stats.HBase.Round(time.Millisecond),
		a.Stats.Total.Round(time.Millisecond), term.Count(a.Stats.Read, "row"), term.Count(a.Stats.Regions, "region"))
	if a.Reached != "" {
		fmt.Fprintf(s.Out, "incomplete: %s\n", a.Reached)
	}
}

// text returns a value for people, or null for null.
func text(v event.Value, null string) string {
	switch {
	case v.Null():
		return null
	case v.Type == event.Nested:
		return string(v.Text())
	}
	return fmt.Sprint(query.JSONValue(v))
}

func printTable(out io.Writer, a *sqlconsole.Answer) {
	w := term.Table{Out: out}
	var heads []string
	for _, c := range a.Columns {
		heads = append(heads, strings.ToUpper(c.Name))
	}
	if !a.Explain {
		w.Row(heads...)
	}
	for _, row := range a.Rows {
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = text(v, "-")
		}
		w.Row(texts...)
	}
	w.Flush()
}

func printVertical(out io.Writer, a *sqlconsole.Answer) {
	for n, row := range a.Rows {
		fmt.Fprintf(out, "row %d\n", n+1)
		w := term.Table{Out: out}
		for i, v := range row {
			w.Row("  "+a.Columns[i].Name, text(v, "-"))
		}
		w.Flush()
	}
}

func printCSV(out io.Writer, a *sqlconsole.Answer) error {
	w := csv.NewWriter(out)
	cells := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		cells[i] = unformula(c.Name)
	}
	err := w.Write(cells)
	for _, row := range a.Rows {
		for i, v := range row {
			cells[i] = text(v, "")
			if v.Type == event.Text || v.Type == event.Nested {
				cells[i] = unformula(cells[i])
			}
		}
		if err == nil {
			err = w.Write(cells)
		}
	}
	w.Flush()
	if err == nil {
		err = w.Error()
	}
	return err
}

// unformula makes a spreadsheet show a text instead of evaluating it.
func unformula(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", first) {
		return "'" + s
	}
	return s
}

// printed is the JSON form of an answer.
type printed struct {
	Columns []printedColumn `json:"columns"`
	Rows    [][]any         `json:"rows"`
	Reached string          `json:"reached,omitempty"`
	Stats   struct {
		HBase    float64 `json:"hbase_ms"`
		Total    float64 `json:"total_ms"`
		Read     int     `json:"rows_read"`
		Returned int     `json:"rows_returned"`
		Regions  int     `json:"regions"`
	} `json:"stats"`
}

type printedColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func printJSON(out io.Writer, a *sqlconsole.Answer) error {
	p := printed{Columns: []printedColumn{}, Rows: [][]any{}, Reached: a.Reached}
	for _, c := range a.Columns {
		p.Columns = append(p.Columns, printedColumn{c.Name, sqlconsole.TypeName(c.Type)})
	}
	for _, row := range a.Rows {
		p.Rows = append(p.Rows, sqlconsole.JSONValues(row))
	}
	p.Stats.HBase, p.Stats.Total = a.Stats.HBase.Seconds()*1000, a.Stats.Total.Seconds()*1000
	p.Stats.Read, p.Stats.Returned, p.Stats.Regions = a.Stats.Read, a.Stats.Returned, a.Stats.Regions
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(p)
}
