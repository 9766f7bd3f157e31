package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/query"
	"brine/rowkey"
	"brine/search"
)

// rowPrinter prints rows as a table with a column per field, or an object per row.
type rowPrinter struct {
	out    io.Writer
	json   bool
	keys   bool                 // row keys too
	counts config.VersionKind   // what versions count
	fields []string             // only these; nil means all
	limit  int                  // of the rows that are printed: a full answer says how to go on
	more   func() search.Cursor // where, when rows may be missing from a full answer; nil: behind the last that is printed
}

func (p *rowPrinter) print(rows iter.Seq2[query.Found, error]) error {
	if p.json {
		return p.objects(rows)
	}
	w := columns{out: p.out}
	n := 0
	var after search.Cursor
	for row, err := range rows {
		if err != nil {
			w.flush() // the rows before the error are shown; the error is what counts
			return err
		}
		if n == 0 {
			w.row(p.names(row.Row))
		}
		n, after = n+1, row.After
		w.row(p.texts(row))
	}
	if n == 0 {
		fmt.Fprintln(p.out, "no rows")
	}
	w.flush()
	if n != p.limit {
		after = ""
	}
	if p.more != nil {
		after = p.more()
	}
	if after != "" {
		fmt.Fprintf(p.out, "more: --after '%s'\n", after)
	}
	return nil
}

func (p *rowPrinter) objects(rows iter.Seq2[query.Found, error]) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	for row, err := range rows {
		if err == nil {
			err = enc.Encode(p.object(row))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *rowPrinter) shows(field string) bool {
	return len(p.fields) == 0 || slices.Contains(p.fields, field)
}

func (p *rowPrinter) names(row query.Row) []string {
	var out []string
	if p.keys {
		out = append(out, "ROW")
	}
	for _, f := range row.Fields {
		if p.shows(f.Name) {
			out = append(out, strings.ToUpper(f.Name))
		}
	}
	return append(out, "VERSION")
}

func (p *rowPrinter) texts(row query.Found) []string {
	var out []string
	if p.keys {
		out = append(out, rowkey.Binary(row.Key))
	}
	for _, f := range row.Fields {
		switch {
		case !p.shows(f.Name):
		case f.Value.Null():
			out = append(out, "-")
		default:
			out = append(out, valueText(f.Value))
		}
	}
	out = append(out, versionText(row.Version, p.counts))
	if row.State != query.Same {
		out = append(out, "← "+string(row.State))
	}
	return out
}

func (p *rowPrinter) object(row query.Found) map[string]any {
	fields := map[string]any{}
	for _, f := range row.Fields {
		if p.shows(f.Name) {
			fields[f.Name] = valueJSON(f.Value)
		}
	}
	o := map[string]any{"row": rowkey.Binary(row.Key), "version": row.Version, "fields": fields}
	if row.State != query.Same {
		o["state"] = row.State
	}
	if row.After != "" {
		o["after"] = row.After
	}
	return o
}

func valueText(v event.Value) string {
	if v.Type == event.Nested {
		return string(v.Text())
	}
	return fmt.Sprint(valueJSON(v))
}

func valueJSON(v event.Value) any {
	switch v.Type {
	case event.Text:
		return string(v.Text())
	case event.Nested:
		if !json.Valid(v.Text()) { // someone else wrote it
			return string(v.Text())
		}
		return json.RawMessage(bytes.ToValidUTF8(v.Text(), []byte("\ufffd")))
	case event.Int:
		return v.Int()
	case event.Float:
		return v.Float()
	case event.Bool:
		return v.Bool()
	case event.TimeMS:
		return timeText(v.Int())
	}
	return nil
}

// versionText shows a version as the time that it is, if it is one, and the number within its millisecond.
func versionText(v int64, counts config.VersionKind) string {
	switch counts {
	case config.Sequence:
		return fmt.Sprintf("%s+%d", timeText(v/1000), v%1000)
	case config.Number:
		return strconv.FormatInt(v, 10)
	}
	return timeText(v)
}

// timeText shows milliseconds since 1970 as RFC 3339 in UTC.
func timeText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
