package reload

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"brine/internal/term"
)

// effectWords describes the effects for people.
var effectWords = map[Effect]string{
	Live: "takes effect at once", Drain: "drains", Onward: "drains; existing rows stay as they are",
	Restart: "needs a restart", Replay: "needs a restart and a replay", Elsewhere: "of brine serve",
}

// Print prints the result of a reload, as text or as JSON.
func (r *Result) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		term.Println(out, "%s", term.JSON(r))
		return nil
	}
	for _, w := range r.Warned {
		term.Println(out, "%s", w)
	}
	if r.Plan != nil {
		r.print(out)
	}
	for _, f := range r.Renewed {
		term.Println(out, "%s: its file has changed; new connections use what it holds now", f.Setting)
	}
	for _, at := range r.Onward {
		term.Println(out, "%s: topic %s, partition %d is written with this configuration from offset %d on", at.Half, at.Topic, at.Partition,
			at.Offset)
		if at.Until > 0 {
			term.Println(out, "  records before offset %d may be written with both configurations, because some of them were not settled "+
				"within kafka.stop_timeout, or when their process was killed; brine verify accepts either", at.Until)
		}
	}
	if r.Unrecorded != "" {
		term.Println(out, "these offsets are not in the control topic yet; until they are, their partitions wait: %s", r.Unrecorded)
	}
	switch r.Outcome {
	case Applied:
		term.Println(out, "applied: configuration %s replaces %s", r.After, r.Before)
	case Unchanged:
		term.Println(out, "nothing has changed: configuration %s", r.Before)
	case Previewed:
		term.Println(out, "this could be applied; nothing was changed")
	case Refused: // the error has the reason
	}
	return nil
}

func (p *Plan) print(out io.Writer) {
	halves, settings := &term.Table{Out: out}, &term.Table{Out: out}
	for i := range p.Halves {
		h := &p.Halves[i]
		halves.Row(h.Name, string(h.Does), strings.Join(h.Settings, ", "))
	}
	for i := range p.Settings {
		d := &p.Settings[i]
		settings.Row(d.Setting, change(d), effectWords[d.Effect])
	}
	halves.Flush()
	settings.Flush()
}

// Lines returns the changed settings, with their old and new values.
func (p *Plan) Lines() (lines []string) {
	for i := range p.Settings {
		lines = append(lines, line(&p.Settings[i]))
	}
	return lines
}

// LinesOf returns the lines of the settings that change a half.
func (p *Plan) LinesOf(half string) (lines []string) {
	at := slices.IndexFunc(p.Halves, func(h Half) bool { return h.Name == half })
	for i := range p.Settings {
		if at >= 0 && slices.Contains(p.Halves[at].Settings, p.Settings[i].Setting) {
			lines = append(lines, line(&p.Settings[i]))
		}
	}
	return lines
}

func line(d *Setting) string { return d.Setting + ": " + change(d) }

func change(d *Setting) string {
	return cmp.Or(d.Was, "-") + " → " + cmp.Or(d.Becomes, "-")
}
