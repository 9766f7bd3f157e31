package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service/brokers"
	"brine/service/letters"
)

type deadlettersCmd struct {
	Ls     deadlettersLsCmd     `cmd:"" help:"List records that could not be written."`
	Show   deadlettersShowCmd   `cmd:"" help:"Show one dead letter in full."`
	Replay deadlettersReplayCmd `cmd:"" help:"Replay dead letters, once their cause is fixed."`
	Purge  deadlettersPurgeCmd  `cmd:"" help:"Delete old dead letters."`
}

// letterFilter are the flags that select dead letters.
type letterFilter struct {
	configFlag
	timeoutFlag
	Pipeline  string   `placeholder:"NAME" help:"Only dead letters of this pipeline."`
	Half      string   `enum:"rows,documents,both" default:"both" help:"Only dead letters of this half: rows, documents or both (default)."`
	Reason    []string `placeholder:"REASON,…" help:"Only dead letters with these reasons, such as missing_field."`
	Since     string   `placeholder:"TIME" help:"Only dead letters written since this time: 2013-01-31T08:00:00Z, or an age such as 2h."`
	Until     string   `placeholder:"TIME" help:"Only dead letters written before this time, in the forms of --since."`
	Partition []int    `placeholder:"N" help:"Only records from these partitions of the pipeline's topic."`
	Key       *string  `placeholder:"KEY" help:"Only records with this key. Write bytes that are not text as \\xNN."`
	Text      string   `placeholder:"TEXT" help:"Only dead letters with this text in the record's key, value or headers, or in the dead letter's field or detail."`
	All       bool     `help:"Include dead letters that have already been replayed."`
}

// letterHelp is part of the help of each dead-letter command.
const letterHelp = `A record that can never be written is kept whole, with the reason, in the topic <topic>.dead. It is identified by its
place in the pipeline's own topic, PARTITION:OFFSET; if the same record was rejected several times, its last dead letter counts.`

// asked returns what the flags select, except for the pipeline and half.
func (f *letterFilter) asked() *letters.Asked {
	return &letters.Asked{Reasons: f.Reason, Since: f.Since, Until: f.Until, Partitions: f.Partition, Key: f.Key, Text: f.Text, All: f.All}
}

// scan returns the scan that the flags select.
func (f *letterFilter) scan(e *env, cfg *config.Config) (*brokers.DeadLetters, error) {
	if f.Pipeline != "" && len(cfg.Pipelines) > 0 {
		if _, err := pipeline(cfg, f.Pipeline); err != nil {
			return nil, err
		}
	}
	if f.Text != "" && !cfg.Mask().Nothing() {
		return nil, usage(errors.New("--text searches records, but pipelines mask fields; --unmask allows it"))
	}
	filter, err := f.asked().Filter(time.Now())
	if err != nil {
		return nil, err
	}
	return brokers.NewDeadLetters(e.ctx, cfg, f.Pipeline, kindOf(f.Half), filter)
}

// kindOf returns the kind of half that --half selects; empty means both.
func kindOf(half string) string {
	if half == "both" {
		return ""
	}
	return half
}

// printScanned prints what was scanned. Finding nothing says something only about that.
func printScanned(out io.Writer, s *brokers.DeadLetters, n int) {
	if len(s.Read) == 0 {
		var topics []string
		for _, o := range s.Topics {
			topics = append(topics, o.Topic)
		}
		fmt.Fprintf(out, "no dead letters: topic %s does not exist yet; the first dead letter creates it\n", strings.Join(topics, ", "))
		return
	}
	scanned := term.Count(int(s.Scanned.Records), "record")
	fmt.Fprintf(out, "%s of %s scanned in %s", term.Count(n, "dead letter"), scanned, strings.Join(s.Read, ", "))
	if s.Scanned.Repeats > 0 {
		fmt.Fprintf(out, "; %s left out", term.Count(int(s.Scanned.Repeats), "repeat"))
	}
	if s.Scanned.Foreign > 0 {
		fmt.Fprintf(out, "; also %s not written by brine", term.Count(int(s.Scanned.Foreign), "record"))
	}
	fmt.Fprintln(out)
}

// withProgress runs work and shows the progress of its scan on stderr, unless quiet is set.
func withProgress(e *env, scan *brokers.DeadLetters, quiet bool, work func() error) (err error) {
	if quiet {
		return work()
	}
	scan.Meter = new(deadletter.Meter)
	screen, began := term.NewScreen(e.stderr, false), time.Now()
	screen.During(func() { err = work() }, func() { screen.Show(scanLine(scan.Meter, time.Since(began))) })
	return err
}

// scanLine returns the progress line of a scan.
func scanLine(m *deadletter.Meter, elapsed time.Duration) string {
	p := term.Progress{Elapsed: elapsed}
	p.Done, p.Left = m.Read()
	return fmt.Sprintf("dead letters %11s of %11s offsets  %5.1f %%  %11s  ETA %8s", term.Thousands(p.Done), term.Thousands(p.Done+p.Left),
		p.Percent(), term.Rate(p.PerSecond()), term.Remaining(p.ETA()))
}
