package letters

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/mask"
	"brine/service"
	"brine/service/fixes"
)

// Previews are the previews of all halves whose dead letters are to be replayed. They are not safe for concurrent use.
type Previews struct {
	halves []config.Half
	of     map[string]*Preview // by group
}

// NewPreviews returns a preview for each half; see NewPreview.
func NewPreviews(halves []config.Half, fix *fixes.Fix, s *service.Service) (*Previews, error) {
	p := &Previews{halves: halves, of: map[string]*Preview{}}
	for _, h := range halves {
		one, err := NewPreview(h, fix, s)
		if err != nil {
			return nil, err
		}
		p.of[h.Group()] = one
	}
	return p, nil
}

// Judge judges all dead letters, and calls each with the effects of the first shown ones, masked by rules.
func (p *Previews) Judge(ctx context.Context, all iter.Seq2[*deadletter.Kept, error], shown int, rules *mask.Rules,
	each func(*Effect) error) error {
	for l, err := range all {
		if err != nil {
			return err
		}
		one := p.of[l.Group]
		switch {
		case one == nil: // of a half that is not replayed
		case shown > 0:
			shown--
			effect, err := one.Show(ctx, l)
			if err != nil {
				return err
			}
			effect.Hide(one.half.Pipeline.Name, rules)
			if err := each(effect); err != nil {
				return err
			}
		default:
			if _, err := one.Judge(ctx, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// Print prints how many dead letters of each half would be written, and why the others would be rejected again.
func (p *Previews) Print(out io.Writer, asJSON bool) error {
	for _, h := range p.halves {
		if err := p.of[h.Group()].print(out, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// Line is the JSON line of how many dead letters of a half a replay would write.
type Line struct {
	Pipeline string               `json:"pipeline"`
	Letters  int                  `json:"letters"`
	Writable int                  `json:"writable"`
	Rejected map[event.Reason]int `json:"rejected"`
}

// Lines returns the lines of all halves.
func (p *Previews) Lines() (out []Line) {
	for _, h := range p.halves {
		out = append(out, p.of[h.Group()].line())
	}
	return out
}

func (p *Preview) line() Line {
	n := p.Effects
	for _, rejected := range p.Rejected {
		n += rejected
	}
	return Line{p.half.Name(), n, p.Effects, p.Rejected}
}

func (p *Preview) print(out io.Writer, asJSON bool) error {
	line, reasons := p.line(), []string(nil)
	if asJSON {
		return json.NewEncoder(out).Encode(line)
	}
	for _, reason := range slices.Sorted(maps.Keys(p.Rejected)) {
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, term.Thousands(int64(p.Rejected[reason]))))
	}
	why := ""
	if len(reasons) > 0 {
		why = " (" + strings.Join(reasons, ", ") + ")"
	}
	_, err := fmt.Fprintf(out, "%s: %s to replay; %s would be written, %s rejected again%s\n", line.Pipeline,
		term.Count(line.Letters, "letter"), term.Thousands(int64(p.Effects)), term.Thousands(int64(line.Letters-p.Effects)), why)
	return err
}

// Print prints the dead letter before and after its fix, and what is there where it would be written.
func (e *Effect) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(e)
	}
	of := ""
	if e.Field != "" {
		of = " (" + e.Field + ")"
	}
	term.Println(out, "%s %s: %s%s", e.Pipeline, e.Record, e.Reason, of)
	for _, f := range e.Fixed {
		after := cmp.Or(f.After, "null")
		if e.Rejected != "" {
			after = "?"
		}
		term.Println(out, "  %s: %s → %s", f.Field, term.Clip(cmp.Or(f.Before, "null"), mostShown), term.Clip(after, mostShown))
	}
	switch {
	case e.Rejected != "":
		term.Println(out, "  rejected again: %s", e.Rejected)
	case e.LeftOut > 0:
		term.Println(out, "  %s left out, because they would write nothing", term.Count(e.LeftOut, "event"))
	}
	row := ""
	for _, x := range e.Places {
		if at := x.In + " " + x.Row; at != row {
			row = at
			term.Println(out, "  %s, version %d", at, x.Version)
		}
		now := "nothing there"
		switch {
		case x.Deleted:
			now = fmt.Sprintf("deleted at %d", x.At)
		case x.Now != nil:
			now = fmt.Sprintf("%s at %d", term.Clip(x.Now.String(), mostShown), x.At)
		}
		term.Println(out, "    %-8s %s = %s (%s)", x.Action, x.Column, term.Clip(x.Then.String(), mostShown), now)
	}
	return nil
}

// mostShown is the most columns of a value that are printed.
const mostShown = 80
