package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service"
	"brine/service/brokers"
	"brine/service/letters"
	"brine/service/letters/display"
)

type deadlettersLsCmd struct {
	letterFilter
	brokersFlag
	Limit   int      `default:"50" help:"Maximum number of dead letters (default 50); 0 for all."`
	After   string   `placeholder:"PLACE" help:"Continue after this place, printed at the end of the previous page; give the same flags."`
	Summary bool     `help:"Show only counts, by pipeline, reason, field and schema."`
	By      []string `enum:"reason,field,schema" placeholder:"WHAT,…" help:"Group the summary by these instead: reason, field, schema."`
	JSON    bool     `help:"Print a JSON object per dead letter, or per line of the summary."`
	Quiet   bool     `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (deadlettersLsCmd) Help() string {
	return letterHelp + `

Examples:
  brine deadletters ls -c brine.yaml --summary
  brine deadletters ls -c brine.yaml --by schema --json
  brine deadletters ls --brokers localhost:9092
  brine deadletters ls -c brine.yaml --pipeline scans --half rows --reason missing_field,wrong_type --since 24h
  brine deadletters ls -c brine.yaml --key UA-1545-20130101-EWR --all --json`
}

func (c *deadlettersLsCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	scan, err := c.scan(e, cfg)
	if err != nil {
		return err
	}
	if c.Summary || len(c.By) > 0 {
		return c.summary(e, cfg, scan)
	}
	after := deadletter.Place{}
	if c.After != "" {
		if after, err = deadletter.ParsePlace(c.After); err != nil || after.Topic == "" {
			return usage(fmt.Errorf("--after %q: give the --after value printed at the end of the last page", c.After))
		}
		if !slices.ContainsFunc(scan.Topics, func(o deadletter.Options) bool { return o.Topic == after.Topic }) {
			return usage(fmt.Errorf("--after %q: none of the selected pipelines has the topic %s; give the flags of the last page",
				c.After, after.Topic))
		}
	}
	return c.list(e, scan, after)
}

func (c *deadlettersLsCmd) list(e *env, scan *brokers.DeadLetters, after deadletter.Place) error {
	table := term.Table{Out: e.stdout}
	enc := json.NewEncoder(e.stdout)
	enc.SetEscapeHTML(false)
	rules, n, last := scan.Mask(), 0, ""
	for l, err := range scan.Letters(e.ctx, after) {
		if err != nil {
			table.Flush() // show the letters before the error; the error is what counts
			return service.IngestError(err)
		}
		if n == c.Limit && c.Limit > 0 {
			table.Flush()
			return c.more(e, last)
		}
		n, last = n+1, l.Place.String()
		switch {
		case c.JSON:
			o := l.Object(scan.Name(l.Group), false)
			letters.Cover(scan, rules, l).Hide(&o)
			if err := enc.Encode(o); err != nil {
				return err
			}
		default:
			if n == 1 {
				table.Row(display.Columns...)
			}
			table.Row(display.Row(scan, l, letters.Cover(scan, rules, l))...)
		}
	}
	table.Flush()
	printScanned(c.besides(e), scan, n)
	return nil
}

// more prints how to continue after a full page.
func (c *deadlettersLsCmd) more(e *env, last string) error {
	_, err := fmt.Fprintf(c.besides(e), "more: --after '%s'\n", last)
	return err
}

// besides returns the writer for everything except dead letters.
func (c *deadlettersLsCmd) besides(e *env) io.Writer {
	if c.JSON {
		return e.stderr
	}
	return e.stdout
}

func (c *deadlettersLsCmd) summary(e *env, cfg *config.Config, scan *brokers.DeadLetters) error {
	defer cfg.Close()
	asked := func(what string) bool { return len(c.By) == 0 || slices.Contains(c.By, what) }
	by := deadletter.By{Reason: asked("reason"), Field: asked("field")}
	if asked("schema") {
		by.Schema = scan.Schema
	}
	var sums []*deadletter.Sum
	if err := withProgress(e, scan, c.Quiet, func() (err error) {
		sums, err = deadletter.Summarize(scan.Letters(e.ctx, deadletter.Place{}), by)
		return err
	}); err != nil {
		return service.IngestError(err)
	}
	n, enc, table := 0, json.NewEncoder(e.stdout), term.Table{Out: e.stdout}
	for i, sum := range sums {
		sum.Schema = scan.SchemaName(e.ctx, sum.Schema)
		s := sum.Object(scan.Name(sum.Group), scan.Several)
		n += s.Letters
		if c.JSON {
			if err := enc.Encode(s); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			table.Row(display.SumColumns...)
		}
		table.Row(display.SumRow(s)...)
	}
	table.Flush()
	printScanned(c.besides(e), scan, n)
	return nil
}
