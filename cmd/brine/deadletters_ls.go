package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/internal/term"
)

type deadlettersLsCmd struct {
	letterFilter
	brokersFlag
	Limit   int    `default:"50" help:"Most letters; 0 for all."`
	After   string `placeholder:"PLACE" help:"Go on where an answer ended, with the same flags."`
	Summary bool   `help:"Only how many there are, by pipeline, reason and field."`
	JSON    bool   `help:"Print a JSON object per letter."`
}

// Help is shown under the command's own help.
func (deadlettersLsCmd) Help() string {
	return letterHelp + `

Examples:
  brine deadletters ls -c brine.yaml --summary
  brine deadletters ls --brokers localhost:9092
  brine deadletters ls -c brine.yaml --pipeline scans --half rows --reason missing_field,wrong_type --since 24h
  brine deadletters ls -c brine.yaml --key UA-1545-20130101-EWR --all --json`
}

func (c *deadlettersLsCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	scan, err := newLetterScan(e, cfg, &c.letterFilter)
	if err != nil {
		return err
	}
	if c.Summary {
		return c.summary(e, scan)
	}
	after := letterPlace{}
	if c.After != "" {
		if after, err = parsePlace(c.After); err != nil || after.topic == "" {
			return usage(fmt.Errorf("--after %q: give what the end of the answer before says", c.After))
		}
		if !slices.ContainsFunc(scan.topics, func(p *config.Pipeline) bool { return p.DeadLetterTopic() == after.topic }) {
			return usage(fmt.Errorf("--after %q: none of the pipelines that are meant has the topic %s; give the flags of the answer before", c.After, after.topic))
		}
	}
	return c.list(e, scan, after)
}

func (c *deadlettersLsCmd) list(e *env, scan *letterScan, after letterPlace) error {
	table := columns{out: e.stdout}
	enc := json.NewEncoder(e.stdout)
	enc.SetEscapeHTML(false)
	n, last := 0, ""
	for l, err := range scan.letters(e, after) {
		if err != nil {
			table.flush() // those before the error are shown; the error is what counts
			return err
		}
		if n == c.Limit && c.Limit > 0 {
			table.flush()
			return c.more(e, last)
		}
		n, last = n+1, letterPlace{l.topic, l.Partition, l.Offset}.String()
		switch {
		case c.JSON:
			if err := enc.Encode(letterObject(l, false)); err != nil {
				return err
			}
		default:
			if n == 1 {
				table.row([]string{"WRITTEN", "PIPELINE", "RECORD", "REASON", "FIELD", "KEY", "DETAIL"})
			}
			table.row(letterTexts(l))
		}
	}
	table.flush()
	c.ended(e, scan, n)
	return nil
}

// more says how to go on behind a full page.
func (c *deadlettersLsCmd) more(e *env, last string) error {
	out := e.stdout
	if c.JSON {
		out = e.stderr
	}
	_, err := fmt.Fprintf(out, "more: --after '%s'\n", last)
	return err
}

// ended says what was looked at: none found is an answer only for that.
func (c *deadlettersLsCmd) ended(e *env, scan *letterScan, n int) {
	out := e.stdout
	if c.JSON {
		out = e.stderr
	}
	scan.ended(out, n)
}

func (s *letterScan) ended(out io.Writer, n int) {
	if len(s.read) == 0 {
		var topics []string
		for _, p := range s.topics {
			topics = append(topics, p.DeadLetterTopic())
		}
		fmt.Fprintf(out, "no dead letters: there is no topic %s, which the first of them makes\n", strings.Join(topics, ", "))
		return
	}
	fmt.Fprintf(out, "%s of %s scanned in %s", count(n, "letter"), count(int(s.records), "record"), strings.Join(s.read, ", "))
	if s.repeats > 0 {
		fmt.Fprintf(out, "; %s left out", count(int(s.repeats), "repeat"))
	}
	if s.foreign > 0 {
		fmt.Fprintf(out, "; besides %s that brine has not written", count(int(s.foreign), "record"))
	}
	fmt.Fprintln(out)
}

func letterTexts(l *foundLetter) []string {
	detail := clip(strings.ReplaceAll(l.Detail, "\n", " "), 80)
	if !l.Replayed.IsZero() {
		detail = "replayed " + timeText(l.Replayed.UnixMilli())
	}
	return []string{timeText(l.Time.UnixMilli()), l.name(), l.record(), string(l.Reason), clip(cmp.Or(l.Field, "-"), 40), clip(bytesText(l.Record.Key), 40), detail}
}

// bytesText shows bytes as text where they are, else those that are not as \xNN; - for null.
func bytesText(b []byte) string {
	if b == nil {
		return "-"
	}
	return term.Line(string(b))
}

// letterKind is what a summary counts by.
type letterKind struct {
	Pipeline string `json:"pipeline"`
	Reason   string `json:"reason"`
	Field    string `json:"field,omitempty"`
}

// letterSum is a line of a summary.
type letterSum struct {
	letterKind
	Letters  int       `json:"letters"`
	Replayed int       `json:"replayed,omitempty"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Example  string    `json:"example"` // the place of the last one's record
}

func (c *deadlettersLsCmd) summary(e *env, scan *letterScan) error {
	sums := map[letterKind]*letterSum{}
	n := 0
	for l, err := range scan.letters(e, letterPlace{}) {
		if err != nil {
			return err
		}
		kind := letterKind{l.name(), string(l.Reason), l.Field}
		s := sums[kind]
		if s == nil {
			s = &letterSum{letterKind: kind, First: l.Time.UTC()}
			sums[kind] = s
		}
		s.Letters++
		if !l.Replayed.IsZero() {
			s.Replayed++
		}
		if l.Time.Before(s.First) {
			s.First = l.Time.UTC()
		}
		if !l.Time.Before(s.Last) {
			s.Last, s.Example = l.Time.UTC(), l.record()
		}
		n++
	}
	lines := make([]*letterSum, 0, len(sums))
	for _, s := range sums {
		lines = append(lines, s)
	}
	slices.SortFunc(lines, func(a, b *letterSum) int {
		return cmp.Or(cmp.Compare(a.Pipeline, b.Pipeline), cmp.Compare(b.Letters, a.Letters), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Field, b.Field))
	})
	table := columns{out: e.stdout}
	for i, s := range lines {
		if c.JSON {
			if err := json.NewEncoder(e.stdout).Encode(s); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			table.row([]string{"PIPELINE", "REASON", "FIELD", "LETTERS", "FIRST", "LAST", "THE LAST RECORD"})
		}
		table.row([]string{s.Pipeline, s.Reason, clip(cmp.Or(s.Field, "-"), 40), thousands(int64(s.Letters)), timeText(s.First.UnixMilli()), timeText(s.Last.UnixMilli()), s.Example})
	}
	table.flush()
	c.ended(e, scan, n)
	return nil
}
