package main

import (
	"encoding/json"
	"fmt"
	"io"

	"brine/ingest/deadletter"
	"brine/mask"
	"brine/service"
	"brine/service/letters"
	"brine/service/letters/display"
)

type deadlettersShowCmd struct {
	configFlag
	timeoutFlag
	brokersFlag
	Record   string `arg:"" name:"partition:offset" help:"Partition and offset of the record in the pipeline's topic, as printed by ls."`
	Pipeline string `placeholder:"NAME" help:"Only this pipeline, if several have a dead letter for this record."`
	Value    bool   `help:"Print only the record's value, byte for byte; escaped on a terminal."`
	JSON     bool   `help:"Print a JSON object per dead letter."`
}

// Help returns the detailed help of the command.
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
			return display.Bytes(e.stdout, l.Record.Value)
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
			"brine deadletters ls --all lists the existing ones"}
	}
	return nil
}

// show prints a dead letter, with the parts that covered hides left out.
func (c *deadlettersShowCmd) show(out io.Writer, l *deadletter.Kept, pipeline string, covered *letters.Covered) error {
	if !c.JSON {
		return display.Letter(out, l, pipeline, covered)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	o := l.Object(pipeline, true)
	covered.Hide(&o)
	return enc.Encode(o)
}
