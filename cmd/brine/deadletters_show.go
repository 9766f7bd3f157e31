package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/internal/when"
	"brine/service"
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
		if c.Value {
			return printBytes(e.stdout, l.Record.Value)
		}
		if n++; n > 1 && !c.JSON {
			fmt.Fprintln(e.stdout)
		}
		if err := c.show(e.stdout, l, scan.Name(l.Group)); err != nil {
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

func (c *deadlettersShowCmd) show(out io.Writer, l *deadletter.Kept, name string) error {
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(l.Object(name, true))
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
	if l.Detail != "" {
		row("detail", l.Detail)
	}
	if fix := deadletter.Fix(l.Reason); fix != "" {
		row("fix", fix)
	}
	row("state", state)
	row("kept at", l.Place.String())
	row("key", bytesText(l.Record.Key))
	for _, h := range l.Record.Headers {
		row("header", h.Key+"="+bytesText(h.Value))
	}
	row("value", fmt.Sprintf("%s bytes", term.Thousands(int64(len(l.Record.Value)))))
	table.Flush()
	_, err := fmt.Fprintln(out, valueOf(l.Record.Value))
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
