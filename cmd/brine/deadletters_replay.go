package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"brine/internal/term"
	"brine/service"
	"brine/service/letters"
)

type deadlettersReplayCmd struct {
	letterFilter
	Let           []string `sep:"none" placeholder:"FIELD=EXPR" help:"Fix a field during the replay with an expression, as in let; may be repeated. In the expression, the field itself is text, whatever its type."`
	AlterIdentity bool     `help:"Allow --let to change fields of row keys, document ids and the version."`
	Rate          int      `help:"Maximum records per second (default: no limit)."`
	DryRun        bool     `help:"Show what would be done, and exit: how many dead letters would be replayed, how many would be rejected again, and why."`
	Preview       int      `placeholder:"N" help:"Like --dry-run, and also show what the first N dead letters would write, next to what is stored now."`
	JSON          bool     `help:"Print a JSON object per half of a pipeline, and per dead letter of a preview."`
	Quiet         bool     `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (deadlettersReplayCmd) Help() string {
	return letterHelp + `

replay decodes the records again and writes them as the live pipeline does, beside it: to the half that rejected them, with their
own versions, so that nothing newer is overwritten. Fix the configuration or the store first. Records that are then written
are marked as replayed and not listed again; records that are rejected again stay. After any interruption, the same command continues.

--let fixes errors in the records themselves, before their fields are checked against their types; a value that cannot be decoded at
all has no fields. The result is read like the record's own value. Events keep their versions, so a fix never makes an older change
win; changing a field of a key or of the version requires --alter-identity.

Examples:
  brine deadletters replay -c brine.yaml --let 'weight = weight.trim()' --preview 3
  brine deadletters replay -c brine.yaml --dry-run
  brine deadletters replay -c brine.yaml --pipeline scans --reason wrong_type --since 2013-01-31`
}

func (c *deadlettersReplayCmd) Run(e *env) error {
	if c.All {
		return usage(errors.New("--all: replayed dead letters are never replayed again; brine replay rereads records by " +
			"their offsets"))
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	defer cfg.Close()
	replay := &letters.Replay{}
	if replay.Fix, err = c.fix(e, cfg); err != nil {
		return err
	}
	if replay.Scan, err = c.scan(e, cfg); err != nil {
		return err
	}
	if err := replay.Count(e.ctx); err != nil {
		return err
	}
	c.printCounts(e, replay)
	if len(replay.Halves) == 0 {
		return nil
	}
	if c.DryRun || c.Preview > 0 {
		return c.preview(e, cfg, replay)
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := openService(e, cfg, service.ToWrite, log, replay.Names()...)
	if err != nil {
		return err
	}
	defer s.Close()
	var outcomes []letters.Outcome
	err = withProgress(e, replay.Scan, c.Quiet, func() (err error) {
		outcomes, err = replay.Run(e.ctx, s, c.Rate, e.patience)
		return err
	})
	for i := range outcomes {
		err = errors.Join(err, c.printOutcome(e, &outcomes[i]))
	}
	return err
}

// printCounts prints how many dead letters are selected, and how many are left out, per group.
func (c *deadlettersReplayCmd) printCounts(e *env, replay *letters.Replay) {
	if n := replay.All(); !c.JSON || n == 0 {
		printScanned(e.stderr, replay.Scan, n)
	}
	for _, group := range replay.Unknown {
		fmt.Fprintf(e.stderr, "brine: ignoring %s of group %s, which this configuration does not have\n",
			term.Count(replay.Letters[group], "letter"), group)
	}
}

// printOutcome prints the outcome of a half's dead letters. It returns an error if some are still rejected.
func (c *deadlettersReplayCmd) printOutcome(e *env, out *letters.Outcome) error {
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%s: %s of %s written and marked as replayed\n", out.Pipeline, term.Thousands(int64(out.Written)),
			term.Count(out.Letters, "record"))
	}
	return out.Err(true)
}
