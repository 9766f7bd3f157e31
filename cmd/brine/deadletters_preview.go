package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service"
	"brine/service/brokers"
	"brine/service/letters"
)

// fix is what --let says; nil where it says nothing.
func (c *deadlettersReplayCmd) fix(e *env, cfg *config.Config) (*letters.Fix, error) {
	if len(c.Let) == 0 {
		return nil, nil
	}
	p, err := pipeline(cfg, c.Pipeline)
	if err != nil {
		return nil, err
	}
	c.Pipeline = p.Name // what it fixes is no other's
	fix, err := letters.NewFix(p, c.Let)
	if err != nil {
		return nil, usage(err)
	}
	moves := strings.Join(fix.Moves, ", ")
	switch {
	case moves != "" && !c.AlterIdentity:
		return nil, usage(fmt.Errorf("--let would alter %s; then another row, or another version of it, is written than the record says; "+
			"look at --preview, and give --alter-identity if that is meant", moves))
	case moves != "":
		fmt.Fprintf(e.stderr, "brine: --let alters %s: what is written is no longer ordered as the records say\n", moves)
	}
	return fix, nil
}

// preview says what a replay would do, and does nothing of it.
func (c *deadlettersReplayCmd) preview(e *env, cfg *config.Config, scan *brokers.DeadLetters, halves []config.Half, fix *letters.Fix) error {
	var s *service.Service
	if c.Preview > 0 {
		var names []string
		for _, h := range halves {
			names = append(names, h.Name())
		}
		log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		var err error
		if s, err = openService(e, cfg, service.ToRead, log, names...); err != nil {
			return err
		}
		defer s.Close()
	}
	previews, shown := map[string]*letters.Preview{}, 0
	for _, h := range halves {
		p, err := letters.NewPreview(h, fix, s)
		if err != nil {
			return err
		}
		previews[h.Group()] = p
	}
	err := withProgress(e, scan, c.Quiet, func() error {
		for l, err := range scan.Letters(e.ctx, deadletter.Place{}) {
			p := previews[""]
			if err == nil {
				p = previews[l.Group]
			}
			switch {
			case err != nil:
				return err
			case p == nil:
			case shown < c.Preview:
				shown++
				effect, err := p.Show(e.ctx, l)
				if err != nil {
					return err
				}
				effect.Hide(halfOf(halves, l.Group).Pipeline.Name, cfg.Mask())
				if err := c.printEffect(e.stdout, effect); err != nil {
					return err
				}
			default:
				if _, err := p.Judge(e.ctx, l); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, h := range halves {
		err = errors.Join(err, c.printJudged(e.stdout, h.Name(), previews[h.Group()]))
	}
	return service.IngestError(err)
}

func halfOf(halves []config.Half, group string) config.Half {
	return halves[slices.IndexFunc(halves, func(h config.Half) bool { return h.Group() == group })]
}

// printJudged says how many letters of a half would be written.
func (c *deadlettersReplayCmd) printJudged(out io.Writer, name string, p *letters.Preview) error {
	n, reasons := p.Effects, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(p.Rejected)) {
		n += p.Rejected[reason]
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, term.Thousands(int64(p.Rejected[reason]))))
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(struct {
			Pipeline string               `json:"pipeline"`
			Letters  int                  `json:"letters"`
			Writable int                  `json:"writable"`
			Rejected map[event.Reason]int `json:"rejected"`
		}{name, n, p.Effects, p.Rejected})
	}
	_, err := fmt.Fprintf(out, "%s: %s to replay; %s would be written, %s rejected again%s\n", name, term.Count(n, "letter"),
		term.Thousands(int64(p.Effects)), term.Thousands(int64(n-p.Effects)), inBrackets(strings.Join(reasons, ", ")))
	return err
}

// printEffect prints a letter before and after, and what stands where it would be written.
func (c *deadlettersReplayCmd) printEffect(out io.Writer, e *letters.Effect) error {
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(e)
	}
	term.Println(out, "%s %s: %s%s", e.Pipeline, e.Record, e.Reason, inBrackets(e.Field))
	for _, f := range e.Fixed {
		after := cmp.Or(f.After, "null")
		if e.Rejected != "" {
			after = "?"
		}
		term.Println(out, "  %s: %s → %s", f.Field, term.Clip(cmp.Or(f.Before, "null"), 80), term.Clip(after, 80))
	}
	switch {
	case e.Rejected != "":
		term.Println(out, "  rejected again: %s", e.Rejected)
	case e.LeftOut > 0:
		term.Println(out, "  %s left out, which would write nothing", term.Count(e.LeftOut, "event"))
	}
	row := ""
	for _, x := range e.Places {
		if at := x.In + " " + x.Row; at != row {
			row = at
			term.Println(out, "  %s, version %d", at, x.Version)
		}
		now := "nothing there"
		if x.Action != letters.Adds {
			now = fmt.Sprintf("%s at %d", term.Clip(x.Now, 80), x.At)
		}
		term.Println(out, "    %-8s %s = %s (%s)", x.Action, x.Column, term.Clip(x.Then, 80), now)
	}
	return nil
}
