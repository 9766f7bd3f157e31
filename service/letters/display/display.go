// Package display shows dead letters to people. Of a masked one it shows no more than its cover.
package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/internal/when"
	"brine/mask"
	"brine/service/brokers"
	"brine/service/letters"
)

// Columns are the headers of Row, SumColumns those of SumRow.
var (
	Columns    = []string{"WRITTEN", "PIPELINE", "RECORD", "REASON", "FIELD", "KEY", "DETAIL"}
	SumColumns = []string{"PIPELINE", "REASON", "FIELD", "SCHEMA", "LETTERS", "FIRST", "LAST", "THE LAST RECORD"}
)

// Row returns the table row of a dead letter. c may be nil.
func Row(scan *brokers.DeadLetters, l *deadletter.Kept, c *letters.Covered) []string {
	detail, key := l.Detail, bytesText(l.Record.Key)
	if c != nil {
		detail, key = c.Detail, c.Key
	}
	detail = term.Clip(strings.ReplaceAll(detail, "\n", " "), 80)
	if !l.Replayed.IsZero() {
		detail = "replayed " + when.Text(l.Replayed.UnixMilli())
	}
	return []string{when.Text(l.Time.UnixMilli()), scan.Name(l.Group), l.Origin().Among(scan.Several), string(l.Reason),
		term.Clip(cmp.Or(l.Field, "-"), 40), term.Clip(key, 40), detail}
}

// SumRow returns the table row of a summary.
func SumRow(s deadletter.SumObject) []string {
	if s.Other {
		s.Pipeline = "other"
	}
	return []string{s.Pipeline, cmp.Or(string(s.Reason), "-"), term.Clip(cmp.Or(s.Field, "-"), 40), term.Clip(cmp.Or(s.Schema, "-"), 60),
		term.Thousands(int64(s.Letters)), when.Text(s.First.UnixMilli()), when.Text(s.Last.UnixMilli()), s.Example}
}

// Letter prints a whole dead letter. covered may be nil.
func Letter(out io.Writer, l *deadletter.Kept, pipeline string, covered *letters.Covered) error {
	state := "open"
	if !l.Replayed.IsZero() {
		state = "replayed " + when.Text(l.Replayed.UnixMilli())
		if l.Let != "" {
			state += ", fixed by " + deadletter.LetText(l.Let)
		}
	}
	table := term.Table{Out: out}
	row := func(name, text string) { table.Row(name, text) }
	row("record", fmt.Sprintf("%s, partition %d, offset %d, of %s", l.Record.Topic, l.Record.Partition, l.Record.Offset,
		when.Text(l.Record.Timestamp)))
	row("rejected by", fmt.Sprintf("%s (group %s), %s", pipeline, l.Group, when.Text(l.Time.UnixMilli())))
	row("reason", string(l.Reason))
	if l.Field != "" {
		row("field", l.Field)
	}
	detail := l.Detail
	if covered != nil {
		detail = covered.Detail
	}
	if detail != "" {
		row("detail", detail)
	}
	if fix := deadletter.Fix(l.Reason); fix != "" {
		row("fix", fix)
	}
	row("state", state)
	row("kept at", l.Place.String())
	if covered != nil {
		return printCovered(out, &table, covered)
	}
	row("key", bytesText(l.Record.Key))
	for _, h := range l.Record.Headers {
		row("header", h.Key+"="+bytesText(h.Value))
	}
	row("value", fmt.Sprintf("%s bytes", term.Thousands(int64(len(l.Record.Value)))))
	table.Flush()
	_, err := fmt.Fprintln(out, valueOf(l.Record.Value))
	return err
}

// printCovered prints what may be shown of a record.
func printCovered(out io.Writer, table *term.Table, c *letters.Covered) error {
	table.Row("key", c.Key)
	table.Row("value", c.Value)
	for _, f := range c.Fields {
		table.Row("  "+f.Name, term.Clip(cmp.Or(f.Text, "-"), 200))
	}
	table.Flush()
	_, err := fmt.Fprintln(out, "the record is "+mask.Unasked)
	return err
}

// valueOf formats a value: JSON indented, other text unchanged, other bytes with \xNN escapes.
func valueOf(value []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") == nil {
		return b.String()
	}
	if utf8.Valid(value) {
		return string(value)
	}
	return bytesText(value)
}

// Bytes prints raw bytes. On a terminal they are escaped by the terminal's writer, as any other text.
func Bytes(out io.Writer, b []byte) error {
	if term.IsTerminal(out) {
		_, err := out.Write(b)
		return err
	}
	return term.Draw(out, string(b))
}

// bytesText formats bytes as text, with \xNN escapes where they are not text; null is -.
func bytesText(b []byte) string {
	if b == nil {
		return "-"
	}
	return term.Line(string(b))
}
