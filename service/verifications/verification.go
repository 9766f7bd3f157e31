package verifications

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/offsets"
	"brine/internal/fault"
	"brine/service"
	"brine/service/brokers"
	"brine/service/former"
	"brine/verify"
)

// Verification is a verification with its stores open. It is not safe for concurrent use.
type Verification struct {
	Service *service.Service
	Options verify.Options // the caller sets its Hooks

	asked   Asked
	cfg     *config.Config
	brokers *offsets.Client
	halves  []*brokers.Group
	notes   *former.Notes  // nil: as configured now, or brine may not read them
	noted   bool           // there were notes
	former  []*former.Half // by half
	said    []bool         // by half: that its group is read by another configuration
	writers []event.Writer // by half; nil until a repair needs it
}

// Shown receives the progress and findings of a verification. All fields are required.
type Shown struct {
	Note     func(format string, args ...any)
	Report   func(*verify.Report)
	Repaired func(records int64, err error)
	Deleted  func(rows int64, err error)
	Again    func(*verify.Report)    // findings after a fix
	During   func(do func())         // runs a part of the work
	Confirm  func(extra int64) error // asks before extra rows are deleted
}

// Open opens the stores that the groups' halves write to, and no others. asked must have passed Check. Open sets opts.For and opts.Halves
// itself. The caller still owns the offsets client, which is used until the verification ends.
func Open(ctx context.Context, cfg *config.Config, asked Asked, client *offsets.Client, groups []*brokers.Group,
	opts service.Options) (*Verification, error) {
	v := &Verification{asked: asked, cfg: cfg, brokers: client, halves: groups}
	if asked.span.Partitions != nil {
		if err := brokers.OfOneTopic(brokers.HalvesOf(groups), "--from, --to, --partitions"); err != nil {
			return nil, err
		}
	}
	v.Options = verify.Options{Full: asked.Full, Sample: asked.share, Dir: asked.Temp, Masks: cfg.Mask()}
	opts.For, opts.Halves = service.ToRead, nil
	for _, g := range groups {
		v.Options.Sources = append(v.Options.Sources, v.source(g.Half, opts))
		opts.Halves = append(opts.Halves, g.Half.Name())
	}
	if asked.Full {
		if err := service.VerifiesWhole(cfg, v.Options.Sources); err != nil {
			return nil, fault.Misused(err)
		}
	}
	err := v.lookBack(ctx, opts.Log)
	if err != nil {
		return nil, err
	}
	if v.Service, err = service.Open(ctx, cfg, opts); err != nil {
		return nil, err
	}
	v.Options.Tables = verify.Tables(v.Options.Sources, v.Service.Client(), v.Service.Engine())
	for i := range v.Options.Tables {
		t := &v.Options.Tables[i]
		if asked.Full {
			t.Others = v.notes.Others(t.Name, t.Documents)
		}
		if t.Documents {
			t.Store = searched{t.Store}
		}
	}
	return v, nil
}

// lookBack finds out how the halves were configured before. A reload may happen during a verification, and what it has changed since then
// does not follow this configuration.
func (v *Verification) lookBack(ctx context.Context, log *slog.Logger) error {
	notes, err := service.Former(ctx, v.cfg, log, brokers.HalvesOf(v.halves)...)
	if err != nil {
		return err
	}
	return v.take(notes)
}

// take judges by these notes from now on.
func (v *Verification) take(notes *former.Notes) error {
	if notes == nil && v.noted {
		return fault.New(fault.Failed, errors.New("brine may not read the control topic any more, which it needs to judge earlier records"),
			"let the user READ the control topic again")
	}
	v.noted = notes != nil
	for i, g := range v.halves {
		service.VerifyLetters(&v.Options.Sources[i], g.Half, notes)
	}
	if v.asked.AsConfigured {
		return nil
	}
	v.notes = notes
	if v.former == nil {
		v.former, v.said = make([]*former.Half, len(v.halves)), make([]bool, len(v.halves))
		v.writers = make([]event.Writer, len(v.halves))
	}
	for i, g := range v.halves {
		of, s := notes.Written(g.Half), &v.Options.Sources[i]
		if v.former[i].Alike(of) {
			continue
		}
		if v.former[i] != nil {
			v.Service.CloseFormer(v.former[i])
		}
		v.former[i], v.said[i], v.writers[i] = of, false, nil
		s.Eras, s.Former = nil, nil
		service.VerifyFormer(s, of, func() *hbase.Client { return v.Service.Client() })
	}
	return nil
}

// source returns the source of a half, whose whole range is expected.
func (v *Verification) source(h config.Half, opts service.Options) verify.Source {
	s := service.VerifySource(v.cfg, h, opts.Log, func() *hbase.Client { return v.Service.Client() })
	s.From, s.To, s.Partitions = v.asked.span.From, v.asked.span.To, v.asked.span.Partitions
	s.Cause = func() string { return v.Service.CauseOf(v.Service.Half(s.Name)) }
	s.Ingest.RecordsPerSecond = float64(v.asked.Rate)
	return s
}

// Expect limits what is expected to what the groups have committed by now.
func (v *Verification) Expect(ctx context.Context, note func(format string, args ...any)) error {
	committed, _, err := v.Round(ctx)
	if err != nil {
		return err
	}
	v.Say(note)
	if v.asked.Ahead {
		return nil
	}
	for i, h := range v.halves {
		if len(h.Committed) == 0 {
			note("%s: group %s has committed nothing, so all of the range is expected to be there", h.Half.Name(), h.Group.Group)
			continue
		}
		v.Options.Sources[i].Settled = committed[i]
	}
	return nil
}

// Say notes which groups are read by another configuration than this one, unless it has said so before and nothing has changed since.
func (v *Verification) Say(note func(format string, args ...any)) {
	for i, of := range v.former {
		if h := v.halves[i]; of.Elsewhere() && !v.said[i] {
			note("%s: group %s is read by another configuration than this one, so its records are judged by that; --as-configured judges them by "+
				"this one", h.Half.Name(), h.Group.Group)
		}
		v.said[i] = of.Elsewhere()
	}
}

// Committed queries the committed offsets of the groups and the ends of the partitions, by half and partition.
func (v *Verification) Committed(ctx context.Context) (next, ends []map[int]int64, err error) {
	next, ends = make([]map[int]int64, len(v.halves)), make([]map[int]int64, len(v.halves))
	for i, h := range v.halves {
		if err := h.LookUp(ctx, v.brokers); err != nil {
			return nil, nil, err
		}
		next[i], ends[i] = map[int]int64{}, map[int]int64{}
		for partition, end := range h.Ends {
			next[i][partition], _ = h.Next(partition)
			ends[i][partition] = end
		}
	}
	return next, ends, nil
}

// Round is Committed for a verify.Follower with these Options: changes by a reload in the meantime count from then on.
func (v *Verification) Round(ctx context.Context) (next, ends []map[int]int64, err error) {
	next, ends, err = v.Committed(ctx)
	if err != nil {
		return nil, nil, err
	}
	// lookBack runs after Committed, because the mark of a reload precedes what the reloaded half has committed.
	return next, ends, v.lookBack(ctx, slog.New(slog.DiscardHandler))
}

// Writers returns the writers of a repair, by half.
func (v *Verification) Writers(ctx context.Context) ([]event.Writer, error) {
	if err := v.Service.OpenWriters(ctx); err != nil {
		return nil, err
	}
	if v.writers == nil { // as configured
		v.writers = make([]event.Writer, len(v.halves))
	}
	for i, h := range v.halves {
		if v.writers[i] != nil {
			continue
		}
		w := v.Service.Half(h.Half.Name()).Writer()
		if i < len(v.former) {
			var err error
			if w, err = v.Service.FormerWriter(w, v.former[i]); err != nil {
				v.Service.CloseFormer(v.former[i])
				return nil, err
			}
		}
		v.writers[i] = w
	}
	return v.writers, ctx.Err()
}

// Once verifies, and fixes what was requested. It returns what is left in the end.
func (v *Verification) Once(ctx context.Context, shown *Shown) (*verify.Report, error) {
	check, err := verify.New(v.Options)
	if err != nil {
		return nil, fault.Misused(err)
	}
	defer check.Close()
	var report *verify.Report
	shown.During(func() { report, err = check.Run(ctx) })
	if err != nil {
		return nil, Failure(ctx, err)
	}
	shown.Report(report)
	if report, err = v.fix(ctx, check, report, shown); err != nil {
		return report, Failure(ctx, err)
	}
	return report, nil
}

// fix repairs damage and removes extra rows, if requested, and verifies again.
func (v *Verification) fix(ctx context.Context, check *verify.Check, report *verify.Report, shown *Shown) (*verify.Report, error) {
	fixed := false
	if v.asked.Repair && report.Fixable(verify.ByRepair) > 0 {
		writers, err := v.Writers(ctx)
		if err != nil {
			return report, err
		}
		records := int64(0)
		shown.During(func() { records, err = check.Repair(ctx, writers) })
		if shown.Repaired(records, err); err != nil {
			return report, err
		}
		fixed = true
	}
	if extra := report.Fixable(verify.ByDeleteExtra); v.asked.DeleteExtra && (extra > 0 || report.Others() > 0) {
		if err := cmp.Or(v.mayDelete(), check.MayDelete()); err != nil {
			return report, err
		}
		if err := shown.Confirm(extra); err != nil {
			return report, err
		}
		if err := v.unchanged(ctx); err != nil {
			return report, err
		}
		rows, err := check.DeleteExtra(ctx)
		if shown.Deleted(rows, err); err != nil {
			return report, err
		}
		fixed = true
	}
	if !fixed {
		return report, nil
	}
	var again *verify.Report
	var err error
	shown.During(func() { again, err = check.Again(ctx) })
	if err == nil {
		shown.Again(again)
	}
	return again, err
}

// mayDelete returns an error if a half's group is read by another configuration: what looks extra is what that writes.
func (v *Verification) mayDelete() error {
	for i, of := range v.former {
		if of.Elsewhere() {
			return fault.New(fault.Failed, fmt.Errorf("%s: its group is read by another configuration than this one; nothing is deleted",
				v.halves[i].Half.Name()), "verify with the configuration that brine runs with, or reload brine with this one first")
		}
	}
	return nil
}

// unchanged returns an error if a reload has changed since the beginning what writes the tables: what looks extra may be written since.
func (v *Verification) unchanged(ctx context.Context) error {
	if v.asked.AsConfigured {
		return nil
	}
	notes, err := service.Former(ctx, v.cfg, slog.New(slog.DiscardHandler), brokers.HalvesOf(v.halves)...)
	if err != nil {
		return err
	}
	changed := ""
	for i, g := range v.halves {
		if !v.former[i].Alike(notes.Written(g.Half)) {
			changed = "the configuration that " + g.Half.Name() + " reads by"
		}
	}
	for i := range v.Options.Tables {
		t := &v.Options.Tables[i]
		if others := notes.Others(t.Name, t.Documents); !slices.Equal(others, t.Others) {
			changed = "what else writes " + t.Name + " (" + strings.Join(others, ", ") + ")"
		}
	}
	switch {
	case notes == nil && v.noted:
		changed = "whether brine may read the control topic"
	case changed == "":
		return nil
	}
	return fault.New(fault.Failed, fmt.Errorf("%s changed during the verification; nothing is deleted", changed), "verify again")
}

// Failure wraps the error of a verification in its fault kind.
func Failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fault.New(fault.Failed, errors.New("stopped before it finished"), "")
	case errors.Is(err, verify.ErrIncomplete):
		return fault.New(fault.Failed, err, "verify a window that is in the topic: --from a time or offsets")
	case errors.Is(err, ingest.ErrNoPartition):
		return fault.New(fault.Missing, err, "fix --partitions, or the partitions of --from and --to")
	}
	return service.IngestError(err)
}
