package top

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"brine/internal/term"
	"brine/internal/wording"
	"brine/pressure"
)

// Listed is a half as one brine reports it: that brine's part of it, and all members of its group.
type Listed struct {
	Brine string `json:"brine"` // its admin port
	Pipeline
}

// List asks brines once for what they run. problems has the reason for each brine that does not answer.
func List(ctx context.Context, brines []Brine) (all []Listed, problems []string) {
	for _, b := range brines {
		pipelines, err := b.Pipelines(ctx)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s does not answer: %s", b.Addr, wording.Plain(err.Error())))
		}
		for _, p := range pipelines {
			all = append(all, Listed{b.Addr, p})
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return all, problems
}

// PrintList prints the listed halves and the members of their groups: for people, or as JSON, one half per line.
func PrintList(out io.Writer, all []Listed, asJSON bool) {
	if asJSON {
		for _, l := range all {
			term.Println(out, "%s", term.JSON(l))
		}
		return
	}
	t := term.Table{Out: out}
	t.Row("PIPELINE", "STATE", "PARTITIONS", "SETTLED/S", "ARRIVE/S", "LAG", "DRAINED", "LIMIT", "TIME", "RETENTION", "BRINE")
	for _, l := range all {
		t.Row(l.Name, l.state(), term.Thousands(int64(l.Partitions)), rate(l.Rate), rate(l.Arrives), lag(l.Lag), drained(l.Drain),
			cmp.Or(l.Limit, "-"), shares(l.Time), left(l.Kept), l.Brine)
	}
	t.Flush()
	for _, l := range all {
		if l.Waiting != "" {
			term.Println(out, "%s on %s: %s", l.Name, l.Brine, l.Waiting)
		}
	}
	printMembers(out, all)
}

// state returns the state of the half, with its limit.
func (p *Pipeline) state() string {
	if p.RateLimit > 0 {
		return fmt.Sprintf("%s (%s/s)", p.State, term.Thousands(int64(p.RateLimit)))
	}
	return p.State
}

// printMembers prints the members of each group once, however many brines have listed them.
func printMembers(out io.Writer, all []Listed) {
	t := term.Table{Out: out}
	var said []string
	for _, l := range all {
		if slices.Contains(said, l.Group) || len(l.Members) == 0 && l.Unknown == "" {
			continue
		}
		if len(said) == 0 {
			term.Println(out, "")
			t.Row("GROUP", "MEMBER", "HOST", "PARTITIONS", "VERSION")
		}
		said = append(said, l.Group)
		if l.Unknown != "" {
			t.Row(l.Group, "unknown: "+l.Unknown)
		}
		for _, m := range l.Members {
			t.Row(l.Group, m.ID, m.Host, term.Thousands(int64(m.Partitions)), cmp.Or(m.Version, "?"))
		}
	}
	t.Flush()
}

func rate(perSecond *float64) string {
	if perSecond == nil {
		return "?"
	}
	return term.Thousands(int64(*perSecond + .5))
}

func lag(offsets int64) string {
	if offsets < 0 {
		return "?"
	}
	return term.Thousands(offsets)
}

// left formats the time until the topic may delete what is not settled.
func left(seconds *float64) string {
	switch {
	case seconds == nil:
		return "-"
	case *seconds <= 0:
		return "deletes now"
	case *seconds >= 48*3600:
		return fmt.Sprintf("deletes in %.0fd", *seconds/24/3600)
	}
	return "deletes in " + (time.Duration(*seconds) * time.Second).String()
}

// shares formats the steps that took most of the time.
func shares(of pressure.Shares) string {
	steps := pressure.Steps()
	by := slices.Clone(steps[:])
	slices.SortStableFunc(by, func(a, b pressure.Step) int { return cmp.Compare(of[b], of[a]) })
	var most []string
	for _, step := range by[:3] {
		if share := of[step]; share >= .05 {
			most = append(most, fmt.Sprintf("%s %.0f%%", step, 100*share))
		}
	}
	return cmp.Or(strings.Join(most, " "), "-")
}
