package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/internal/term"
	"brine/service"
	"brine/service/brokers"
)

type deadlettersReplayCmd struct {
	letterFilter
	Let           []string `sep:"none" placeholder:"FIELD=EXPR" help:"Fix a field on the way back, by an expression as in let; may be repeated. Fixed fields are texts in it, whatever the record holds."`
	AlterIdentity bool     `help:"Allow --let for fields of row keys, of ids of documents and of the version."`
	Rate          int      `help:"Most records per second; 0 for no limit."`
	DryRun        bool     `help:"Say how many letters would be replayed, and how many rejected again and why, and stop."`
	Preview       int      `placeholder:"N" help:"Show of the first N letters what would be written and what stands there now; then as --dry-run."`
	JSON          bool     `help:"Print a JSON object per half of a pipeline, and per letter of a preview."`
	Quiet         bool     `short:"q" help:"Print no progress."`
}

// Help is shown under the command's own help.
func (deadlettersReplayCmd) Help() string {
	return letterHelp + `

replay decodes the records again and writes them as the live pipeline does, beside it: to the half that rejected them, with the
version that is their own, so that nothing newer is overwritten. Fix the configuration or the store first. What is then written
is marked as replayed and not listed again; what is rejected once more stays. Interrupted in any way, the same command goes on.

--let fixes what the records themselves have wrong, before their fields are held to their types: a value that cannot be decoded at
all has no fields. The answer is read as the record's own value is. Versions stay those of the events, so a fix makes no older change
win; a field of a key or of the version is refused without --alter-identity.

Examples:
  brine deadletters replay -c brine.yaml --let 'weight = weight.trim()' --preview 3
  brine deadletters replay -c brine.yaml --dry-run
  brine deadletters replay -c brine.yaml --pipeline scans --reason wrong_type --since 2013-01-31`
}

func (c *deadlettersReplayCmd) Run(e *env) error {
	if c.All {
		return usage(errors.New("--all: dead letters that have been replayed are not replayed again; brine replay reads records again by " +
			"their offsets"))
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	defer cfg.Close()
	fix, err := c.fix(e, cfg)
	if err != nil {
		return err
	}
	scan, err := c.scan(e, cfg)
	if err != nil {
		return err
	}
	letters, err := deadletter.CountByGroup(scan.Letters(e.ctx, deadletter.Place{}))
	if err != nil {
		return service.IngestError(err)
	}
	halves, err := c.printCounts(e, scan, letters)
	if err != nil || len(halves) == 0 {
		return err
	}
	if c.DryRun || c.Preview > 0 {
		return c.preview(e, cfg, scan, halves, fix)
	}
	var names []string
	for _, h := range halves {
		names = append(names, h.Name())
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := openService(e, cfg, service.ToWrite, log, names...)
	if err != nil {
		return err
	}
	defer s.Close()
	var targets []deadletter.Target
	for _, name := range names {
		to := s.DeadLetterTarget(name, e.patience)
		to.Schema, to.Let = fix.Apply(to.Schema), fix.Text()
		targets = append(targets, to)
	}
	var outcomes []deadletter.Outcome
	err = service.IngestError(withProgress(e, scan, c.Quiet, func() (err error) {
		outcomes, err = scan.Replay(e.ctx, c.Rate, targets)
		return err
	}))
	for i, h := range halves {
		err = errors.Join(err, c.printOutcome(e, h.Name(), letters[h.Group()], outcomes[i]))
	}
	return err
}

// printCounts says how many dead letters are meant, and returns the halves that they are of, by name.
func (c *deadlettersReplayCmd) printCounts(e *env, scan *brokers.DeadLetters, letters map[string]int) (halves []config.Half, err error) {
	n, unknown := 0, []string(nil)
	for _, group := range slices.Sorted(maps.Keys(letters)) {
		n += letters[group]
		if h, ok := scan.Half(group); ok && slices.Contains(h.Pipeline.Halves(), h) {
			halves = append(halves, h)
		} else {
			unknown = append(unknown, group)
		}
	}
	if !c.JSON || n == 0 {
		printScanned(e.stderr, scan, n)
	}
	slices.SortFunc(halves, func(a, b config.Half) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, group := range unknown {
		fmt.Fprintf(e.stderr, "brine: %s of group %s, which this configuration does not have, are left out\n",
			term.Count(letters[group], "letter"), group)
	}
	return halves, err
}

// printOutcome says what became of a half's dead letters. It fails when some are still rejected.
func (c *deadlettersReplayCmd) printOutcome(e *env, name string, letters int, out deadletter.Outcome) error {
	rejected, reasons := 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(out.Rejected)) {
		rejected += out.Rejected[reason]
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, term.Thousands(int64(out.Rejected[reason]))))
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(map[string]any{"pipeline": name, "letters": letters, "written": out.Written,
			"rejected": out.Rejected}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%s: %s of %s written and marked as replayed\n", name, term.Thousands(int64(out.Written)),
			term.Count(letters, "record"))
	}
	if rejected == 0 {
		return nil
	}
	last := fmt.Sprintf("%s, field %q: %s", out.Last.Origin().InTopic(), out.Last.Field, out.Last.Detail)
	return &exitError{exitFailed, fmt.Errorf("%s: %s can still not be written: %s; the last is %s", name, term.Count(rejected, "record"),
		strings.Join(reasons, ", "), last),
		"fix what they fail for and replay again; brine deadletters show PARTITION:OFFSET shows one whole"}
}
