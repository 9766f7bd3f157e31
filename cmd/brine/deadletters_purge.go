package main

import (
	"encoding/json"
	"fmt"
	"time"

	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/internal/when"
	"brine/service"
	"brine/service/letters"
)

type deadlettersPurgeCmd struct {
	configFlag
	timeoutFlag
	brokersFlag
	Pipeline  string `placeholder:"NAME" help:"Only this pipeline's dead-letter topic."`
	OlderThan string `required:"" placeholder:"TIME" help:"Delete dead letters written before this time: 2013-01-31T08:00:00Z, or an age such as 30d."`
	KeepOpen  bool   `help:"In each partition, keep the first dead letter that has not been replayed, and everything after it."`
	Yes       bool   `short:"y" help:"Do not ask for confirmation."`
	DryRun    bool   `help:"Show what would be done, and exit."`
	JSON      bool   `help:"Print a JSON object per topic."`
	Quiet     bool   `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (deadlettersPurgeCmd) Help() string {
	return `Shows how many dead letters of each topic are older and how many of them were never replayed, and asks. Each partition is truncated
before its first record that is not older: no younger dead letter is deleted, and an older one behind a younger one stays.
Dead letters that were replayed stay closed. Those that brine deadletters replay --let has fixed are kept, with their fix,
while their records are in their topic: verify knows their rows by them. Several pipelines, and both halves of each, may share a topic.

Examples:
  brine deadletters purge -c brine.yaml --older-than 30d --dry-run
  brine deadletters purge -c brine.yaml --older-than 30d --keep-open --yes`
}

func (c *deadlettersPurgeCmd) Run(e *env) error {
	before, err := letters.Before(c.OlderThan, time.Now())
	if err != nil {
		return err
	}
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	scan, err := (&letterFilter{Pipeline: c.Pipeline, All: true}).scan(e, cfg)
	if err != nil {
		return err
	}
	var plans []deadletter.Purge
	if err := withProgress(e, scan, c.Quiet, func() (err error) {
		plans, err = scan.PlanPurge(e.ctx, before, c.KeepOpen, nil)
		return err
	}); err != nil {
		return service.IngestError(err)
	}
	records, open := int64(0), 0
	for i := range plans {
		p := &plans[i]
		records, open = records+p.Records, open+p.Open
		if !c.JSON || !c.Yes && !c.DryRun {
			c.print(e, p)
		}
	}
	if records == 0 {
		fmt.Fprintf(e.stderr, "nothing to delete: no partition begins with dead letters from before %s\n", when.Text(before.UnixMilli()))
	}
	if records > 0 && !c.DryRun {
		question := fmt.Sprintf("permanently delete %s, including %s that never became rows or documents?", term.Count(int(records), "record"),
			term.Count(open, "letter"))
		if err := confirm(e, c.Yes, question); err != nil {
			return err
		}
	}
	if err := letters.RunPurge(e.ctx, plans, c.DryRun, func(p letters.Purged) error {
		if !c.JSON {
			return nil
		}
		return json.NewEncoder(e.stdout).Encode(p)
	}); err != nil {
		return err
	}
	if records > 0 && !c.DryRun && !c.JSON {
		fmt.Fprintf(e.stdout, "deleted %s\n", term.Count(int(records), "record"))
	}
	return nil
}

// print prints what a purge would delete from one topic.
func (c *deadlettersPurgeCmd) print(e *env, p *deadletter.Purge) {
	fmt.Fprintf(e.stderr, "%s: %s, %s of them never replayed", p.Topic, term.Count(p.Letters, "letter"), term.Thousands(int64(p.Open)))
	if p.Fixed > 0 {
		fmt.Fprintf(e.stderr, " (%s fixed, kept)", term.Thousands(int64(p.Fixed)))
	}
	if p.Letters > 0 {
		fmt.Fprintf(e.stderr, ", of %s to %s", when.Text(p.First.UnixMilli()), when.Text(p.Last.UnixMilli()))
	}
	fmt.Fprintf(e.stderr, "; %s in all, including repeats and marks\n", term.Count(int(p.Records), "record"))
	for _, part := range p.Partitions {
		fmt.Fprintf(e.stderr, "  partition %d: offsets %s to %s, %s\n", part.Partition, term.Thousands(part.From), term.Thousands(part.Before-1),
			term.Count(part.Letters, "letter"))
	}
}
