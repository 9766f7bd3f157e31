package main

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
	"brine/service"
	"brine/service/letters"
)

type deadlettersShowCmd struct {
	configFlag
	timeoutFlag
	brokersFlag
	Record   string `arg:"" name:"partition:offset" help:"Place of the record in the pipeline's topic, as ls shows it."`
	Pipeline string `placeholder:"NAME" help:"Pipeline, where several have letters of this place."`
	Value    bool   `help:"Print the record's value alone, byte for byte; on a terminal escaped."`
	JSON     bool   `help:"Print a JSON object per letter."`
}

// Help is shown under the command's own help.
func (deadlettersShowCmd) Help() string {
	return letterHelp + `

Examples:
  brine deadletters show -c brine.yaml 3:1041
  brine deadletters show -c brine.yaml 3:1041 --pipeline scans --value > record.json`
}

func (c *deadlettersShowCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	place, err := deadletter.ParsePlace(c.Record)
	if err != nil {
		return usage(err)
	}
	filter := letterFilter{Pipeline: c.Pipeline, Half: "both", Partition: []int{place.Partition}, All: true}
	scan, err := filter.scan(e, cfg)
	if err != nil {
		return err
	}
	scan.Filter.Offset = &place.Offset
	n := 0
	for l, err := range scan.Letters(e.ctx, deadletter.Place{}) {
		if err != nil {
			return service.IngestError(err)
		}
		if place.Topic != "" && l.Record.Topic != place.Topic {
			continue
		}
		covered := letters.Cover(scan, scan.Mask(), l)
		if c.Value && covered != nil {
			return &exitError{exitFailed, fmt.Errorf("the value of %s: %s", c.Record, covered.Value), mask.Unasked}
		}
		if c.Value {
			return printBytes(e.stdout, l.Record.Value)
		}
		if n++; n > 1 && !c.JSON {
			fmt.Fprintln(e.stdout)
		}
		if err := c.show(e.stdout, l, scan.Name(l.Group), covered); err != nil {
			return err
		}
	}
	if n == 0 {
		printScanned(e.stderr, scan, 0)
		return &exitError{exitFailed, fmt.Errorf("no dead letter of the record at %s", c.Record),
			"brine deadletters ls --all shows those that are there"}
	}
	return nil
}

// printBytes prints bytes as they are where no terminal could act on them.
func printBytes(out io.Writer, b []byte) error {
	if term.IsTerminal(out) {
		_, err := out.Write(b)
		return err
	}
	return term.Draw(out, string(b))
}

func (c *deadlettersShowCmd) show(out io.Writer, l *deadletter.Kept, name string, covered *letters.Covered) error {
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		o := l.Object(name, true)
		covered.Hide(&o)
		return enc.Encode(o)
	}
	state := "open"
	if !l.Replayed.IsZero() {
		state = "replayed " + when.Text(l.Replayed.UnixMilli())
		if l.Let != "" {
			state += ", fixed by " + strings.ReplaceAll(l.Let, "\n", "; ")
		}
	}
	table := term.Table{Out: out}
	row := func(name, text string) { table.Row(name, text) }
	row("record", fmt.Sprintf("%s, partition %d, offset %d, of %s", l.Record.Topic, l.Record.Partition, l.Record.Offset,
		when.Text(l.Record.Timestamp)))
	row("rejected by", fmt.Sprintf("%s (group %s), %s", name, l.Group, when.Text(l.Time.UnixMilli())))
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

// valueOf shows a value: JSON indented, other text as it is, other bytes as \xNN.
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
