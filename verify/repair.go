package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/ingest/eras"
	"brine/mask"
	"brine/rowkey"
)

// Repair writes the records of the findings that it can fix again, through the writers of the sources, in the order of the sources. Newer
// cells stay, because a write means the same whenever it is applied. Records that cannot be written become dead letters. Repair returns the
// number of records settled, also with an error: those stay written. Again reports the result.
func (c *Check) Repair(ctx context.Context, writers []event.Writer) (records int64, err error) {
	for i := range c.opts.Sources {
		only := c.damaged(i)
		n, err := c.writeAgain(ctx, i, writers[i], only)
		records += n
		if err == nil {
			n, err = c.fixAgain(ctx, i, writers[i])
			records += n
		}
		if err != nil {
			return records, fmt.Errorf("verify: repair of %s: %w", c.opts.Sources[i].Name, err)
		}
	}
	return records, nil
}

// damaged returns the offsets of a source's records that are not in the store, by partition and ascending.
func (c *Check) damaged(source int) map[int][]int64 {
	only := map[int][]int64{}
	if len(c.uncounted) > 0 { // more than the listed findings: everything
		for _, p := range c.plans[source].Partitions {
			only[p.Partition] = nil
		}
		return only
	}
	for i := range c.suspects {
		f := &c.suspects[i]
		if f.Kind.Fix() != ByRepair {
			continue
		}
		for _, o := range f.from {
			as := o
			as.fixed = true
			if o.source == source && !slices.Contains(f.from, as) { // otherwise it is written as it was fixed
				only[o.partition] = append(only[o.partition], o.offset)
			}
		}
	}
	for p := range only {
		slices.Sort(only[p])
		only[p] = slices.Compact(only[p])
	}
	return only
}

// fixAgain writes again the records that replays of dead letters have fixed and that are not in the store. It returns the number of records
// settled.
func (c *Check) fixAgain(ctx context.Context, source int, w event.Writer) (n int64, err error) {
	s := &c.opts.Sources[source]
	wanted := map[origin]bool{}
	for i := range c.suspects {
		for _, o := range c.suspects[i].from {
			if o.source == source && o.fixed && c.suspects[i].Kind.Fix() == ByRepair {
				wanted[o] = true
			}
		}
	}
	if of, ok := w.(*eras.Writer); ok { // fixed records have the present reading
		w = of.Present
	}
	all := len(c.uncounted) > 0 // more than the listed findings
	if s.Letters == nil || s.Fixed == nil || !all && len(wanted) == 0 {
		return 0, nil
	}
	for letter, err := range s.Letters(ctx) {
		if err != nil {
			return n, err
		}
		o := origin{source: source, partition: letter.Partition, offset: letter.Offset, fixed: true}
		if letter.Let == "" || !all && !wanted[o] {
			continue
		}
		written, err := s.writeFixed(ctx, &letter, w)
		if err != nil {
			return n, err
		}
		if !written {
			return n, fmt.Errorf("offset %d of partition %d, which a replay fixed, cannot be rewritten", o.offset, o.partition)
		}
		n++
	}
	return n, nil
}

// writeAgain replays the part of a source that contains the offsets, and writes only those. It returns the number of records settled.
func (c *Check) writeAgain(ctx context.Context, source int, w event.Writer, only map[int][]int64) (int64, error) {
	if len(only) == 0 {
		return 0, nil
	}
	from, to, partitions := map[int]int64{}, map[int]int64{}, []int{}
	for _, p := range c.plans[source].Partitions {
		offsets, touched := only[p.Partition]
		switch {
		case !touched || p.From == p.To:
			continue
		case offsets == nil:
			from[p.Partition], to[p.Partition] = p.From, p.To
		default:
			from[p.Partition], to[p.Partition] = offsets[0], offsets[len(offsets)-1]+1
		}
		partitions = append(partitions, p.Partition)
	}
	s := &c.opts.Sources[source]
	o := ingest.ReplayOptions{Options: s.Ingest, From: ingest.Offsets(from), To: ingest.Offsets(to),
		Partitions: partitions, Untracked: true, Patience: s.Patience, Cause: s.Cause, Eras: s.Eras}
	o.Writer = &chosen{w, only}
	var whole atomic.Int64 // records of partitions that are written as a whole: offsets would count markers too
	o.Hooks.Wrote = func(i ingest.WroteInfo) {
		if only[i.Partition] == nil {
			whole.Add(int64(i.Records))
		}
	}
	replay, err := ingest.NewReplay(o)
	if err != nil {
		return 0, err
	}
	plan, err := replay.Plan(ctx)
	if err != nil || plan.Left() == 0 {
		return 0, err
	}
	c.opts.Hooks.Phase(PhaseInfo{"repairing " + s.Name, func() (int64, int64) {
		return plan.Left() - replay.Progress().Left(), plan.Left()
	}})
	err = replay.Run(ctx, plan)
	return whole.Load() + settled(plan, replay.Progress(), only), err
}

// unknowns returns the number of offsets for which it is not known what they made.
func (c *Check) unknowns() (n int64) {
	for i := range c.unknown {
		n += c.unknown[i].Load()
	}
	return n
}

// formers returns the number of offsets that are judged by an earlier configuration.
func (c *Check) formers() (n int64) {
	for i := range c.opts.Sources {
		for _, p := range c.plans[i].Partitions {
			n += c.opts.Sources[i].Eras.Within(p.Partition, p.From, p.To, func(int) bool { return true })
		}
	}
	return n
}

// settled returns the number of listed offsets before which everything is settled.
func settled(plan ingest.Plan, progress ingest.ReplayProgress, only map[int][]int64) (n int64) {
	for i, p := range progress.Partitions {
		before, _ := slices.BinarySearch(only[p.Partition], plan.Partitions[i].Next+p.Done)
		n += int64(before)
	}
	return n
}

// chosen is a Writer of some records only; in a partition without a list it writes all.
type chosen struct {
	event.Writer
	only map[int][]int64
}

func (w *chosen) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	var some event.Batch
	var at []int
	for i := range batch.Events {
		rec := batch.Events[i].Record
		if list := w.only[rec.Partition]; list == nil {
			some.Events, at = append(some.Events, batch.Events[i]), append(at, i)
		} else if _, is := slices.BinarySearch(list, rec.Offset); is {
			some.Events, at = append(some.Events, batch.Events[i]), append(at, i)
		}
	}
	if len(at) == 0 {
		return event.Done(nil)
	}
	return event.Part{Flight: w.Writer.Submit(ctx, &some), At: at}
}

// MayDelete returns an error if it is not certain what is extra. DeleteExtra then deletes nothing.
func (c *Check) MayDelete() error {
	if c.unknownFixes > 0 {
		return fmt.Errorf("verify: a replay fixed %d records in a way that this configuration cannot repeat, so it is unknown "+
			"what they wrote and what is extra; nothing is deleted", c.unknownFixes)
	}
	if c.unlettered > 0 {
		return fmt.Errorf("verify: there is no dead letter for %d of the records that cannot be written; if a replay fixed them before their "+
			"dead letters were deleted, what looks extra is theirs; nothing is deleted. --repair writes the dead letters again; look at what "+
			"is extra before you delete it then", c.unlettered)
	}
	for i := range c.opts.Tables {
		if t := &c.opts.Tables[i]; len(t.Others) > 0 && c.tallies[i].Unjudged > 0 {
			return fmt.Errorf("verify: %s was also written by %s, which is not verified, so what looks extra may be from there; nothing is "+
				"deleted. Verify with a configuration in which that pipeline also reads that topic; --as-configured goes by this one alone",
				t.Name, strings.Join(t.Others, ", "))
		}
	}
	if n := c.unknowns(); n > 0 {
		return fmt.Errorf("verify: the configuration that wrote %d offsets is no longer known, so what looks extra may be theirs; "+
			"nothing is deleted; --as-configured judges all records by the current configuration", n)
	}
	if n := c.formers(); n > 0 {
		return fmt.Errorf("verify: %d offsets are from before a reload, and are judged by the configuration of that time; if a replay "+
			"--as-configured or a group that was reset has rewritten them since, what looks extra is theirs; nothing is deleted; "+
			"--as-configured judges all records by the current configuration", n)
	}
	return nil
}

// DeleteExtra deletes the cells that no record accounts for, and no others, unless MayDelete returns an error. It returns the number of
// rows and documents with deleted cells, also with an error. If a row cannot be deleted, it continues with the others, unless the store has
// not answered in time.
func (c *Check) DeleteExtra(ctx context.Context) (rows int64, err error) {
	if err := c.MayDelete(); err != nil {
		return 0, err
	}
	failed := 0
	for i := range c.suspects {
		f := &c.suspects[i]
		if f.Kind.Fix() != ByDeleteExtra {
			continue
		}
		t := &c.opts.Tables[c.opts.table(f.Table, f.Document)]
		if removeErr := t.Store.Remove(ctx, f.Key, f.cells); removeErr != nil {
			failed++
			if failed <= shownFailures {
				err = errors.Join(err, c.notRemoved(f, removeErr))
			}
			if ctx.Err() != nil || errors.Is(removeErr, context.DeadlineExceeded) {
				return rows, err
			}
			continue
		}
		rows++
	}
	if failed > shownFailures {
		err = errors.Join(err, fmt.Errorf("verify: %d more could not be deleted", failed-shownFailures))
	}
	return rows, err
}

// notRemoved returns the error of a row or document that could not be deleted, as it may be shown.
func (c *Check) notRemoved(f *Finding, err error) error {
	key := rowkey.Binary(f.Key)
	if !c.opts.Masks.Nothing() {
		err = indexer.Unquoted(err)
	}
	if c.opts.Masks.MasksKey(f.Table) {
		if e := (*hbase.Error)(nil); errors.As(err, &e) {
			err = hbase.Unquoted(e.Server, e.Class, err)
		}
		key, err = mask.Text, event.Without(err, key)
	}
	return fmt.Errorf("verify: %s, %s: %w", f.Table, key, err)
}

// shownFailures is the number of rows that could not be deleted and are named.
const shownFailures = 10

// Again looks at the findings once more, after a repair.
func (c *Check) Again(ctx context.Context) (*Report, error) {
	ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	c.letters, c.unknownFixes = letterCounts{}, 0
	look := c.lookAgain
	if len(c.uncounted) > 0 {
		clear(c.uncounted)
		c.suspects, c.tallies = nil, make([]tally, len(c.tallies))
		look = func(ctx context.Context) error { return errors.Join(c.firstLook(ctx), c.secondLook(ctx)) }
	} else if err := c.name(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{c.readLetters, look, c.resolve, c.explain} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return c.report(), nil
}
