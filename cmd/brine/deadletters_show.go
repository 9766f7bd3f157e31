package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"brine/event"
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
	scan, err := newLetterScan(e, cfg, &letterFilter{Pipeline: c.Pipeline, Partition: []int{place.Partition}, All: true})
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
		if err := c.show(e.stdout, l, scan.name(l.Group)); err != nil {
			return err
		}
	}
	if n == 0 {
		scan.ended(e.stderr, 0)
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
		return enc.Encode(letterObject(l, name, true))
	}
	state := "open"
	if !l.Replayed.IsZero() {
		state = "replayed " + when.Text(l.Replayed.UnixMilli())
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
	if fix := reasonFixes[l.Reason]; fix != "" {
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

// reasonFixes is what helps, by reason.
var reasonFixes = map[event.Reason]string{
	event.Undecodable:    "fix the producer: the pipeline takes one JSON object a record",
	event.MissingField:   "fix the producer, or declare another path for the field; the row key and the version need it",
	event.WrongType:      "fix the producer, or declare the type that the field has",
	event.BadVersion:     "declare the unit that the field has: time_ms or time_s",
	event.FutureVersion:  "fix the clock of what made the record, or declare the unit that the field has",
	event.LateVersion:    "raise allowed_lateness of the pipeline, and what it is part of: purge_deletes_after",
	event.KeyTooLong:     "leave the field out of the key, or take a part or a hash of it",
	event.BadKey:         "give the key's field an encoding that takes this value",
	event.BadName:        "fix the producer: the name cannot be that of a column",
	event.TooLarge:       "raise hbase.max_cell_bytes or search.max_document_bytes, here and on the servers",
	event.Refused:        "see what the server says of this row above",
	event.MappingRefused: "fix the index's field, or the type that the pipeline declares",
}
