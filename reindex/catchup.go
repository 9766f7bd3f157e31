package reindex

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/ingest"
	"brine/ingest/deadletter"
)

// round reads a source's topic from the position of the new index to the current end of the topic.
type round struct {
	run    *Run
	source *Source
	state  *source
	plan   ingest.Plan
	replay *ingest.Replay
	failed atomic.Pointer[error]

	missing []string // the records that retention has removed
}

// catchUp runs a round, and returns the number of records that it read (an upper bound).
func (r *Run) catchUp(ctx context.Context, s *Source, at *source, writer *indexer.Writer) (int64, error) {
	d := &round{run: r, source: s, state: at}
	if err := d.prepare(ctx, writer); err != nil || d.plan.Left() == 0 {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	noted := make(chan struct{})
	go func() { // until the replay ends
		defer close(noted)
		d.note(ctx, cancel)
	}()
	err := d.replay.Run(ctx, d.plan)
	cancel()
	<-noted
	d.progress()
	if failed := d.failed.Load(); failed != nil {
		return 0, *failed
	}
	if err != nil {
		return 0, err
	}
	return d.plan.Left(), r.opts.rest("round")
}

// prepare determines what to read. A partition without a known offset is read from its first record.
func (d *round) prepare(ctx context.Context, to event.Writer) error {
	whole, err := d.planned(ctx, nil, ingest.Earliest)
	if err != nil {
		return err
	}
	from := map[int]int64{}
	for _, p := range whole.Partitions {
		offset, known := d.state.Offsets[p.Partition]
		if from[p.Partition] = offset; !known {
			from[p.Partition] = p.From
		}
		if !known && p.From > 0 {
			d.missing = append(d.missing, fmt.Sprintf("partition %d begins at offset %d, but earlier records made documents too", p.Partition,
				p.From))
		}
	}
	if d.source.Through != nil {
		if to, err = d.source.Through(to); err != nil {
			return err
		}
	}
	if d.plan, err = d.planned(ctx, to, ingest.Offsets(from)); err != nil {
		return err
	}
	if d.missing = append(d.missing, d.plan.Missing()...); len(d.missing) > 0 && !d.run.opts.SkipMissing {
		return fmt.Errorf("topic %s: %w: %s", d.source.Ingest.Topic, ErrMissing, d.missing[0])
	}
	d.run.keeper.update(func(*state) { d.state.Offsets = from })
	d.run.reading.Store(d)
	return nil
}

// planned creates the replay from a position to the end, and its plan. The replay keeps no progress in Kafka, and joins no group.
func (d *round) planned(ctx context.Context, to event.Writer, from ingest.Position) (plan ingest.Plan, err error) {
	o := ingest.ReplayOptions{Options: d.source.Ingest, From: from, To: ingest.Latest, Untracked: true}
	o.Writer, o.DeadLetters, o.DeadLetterTopic = to, d, o.Topic
	o.RecordsPerSecond = d.run.opts.Rate
	o.OutOfRange = ingest.FromEarliest
	o.Logger = d.run.opts.Logger
	o.Hooks = ingest.Hooks{
		Skipped: d.skipped,
		Waiting: func(i ingest.WaitingInfo) { d.run.waits(i.Err) },
		Halted:  func(i ingest.HaltedInfo) { d.run.waits(i.Err) },
		Retried: func(i ingest.RetriedInfo) { d.run.waits(errors.New(string(i.Reason))) },
		Settled: func(ingest.SettledInfo) { d.run.waits(nil) },
	}
	if d.replay, err = ingest.NewReplay(o); err != nil {
		return plan, err
	}
	return d.replay.Plan(ctx)
}

// skipped ends the round if records leave the topic before they are read.
func (d *round) skipped(i ingest.SkippedInfo) {
	if !d.run.opts.SkipMissing {
		d.fail(fmt.Errorf("topic %s: %w: offsets %d to %d of partition %d have left it in the meantime", d.source.Ingest.Topic,
			ErrMissing, i.From, i.To-1, i.Partition))
	}
}

func (d *round) fail(err error) { d.failed.CompareAndSwap(nil, &err) }

// Write implements ingest.DeadLetters. The live group writes the dead letters of what cannot be decoded or keyed, so Write records only
// what the new index refuses.
func (d *round) Write(_ context.Context, letters []deadletter.Letter) error {
	for i := range letters {
		if l := &letters[i]; l.Reason == event.MappingRefused || l.Reason == event.Refused {
			if err := d.run.refuse(fmt.Sprintf("topic %s, record %d:%d: %s", l.Record.Topic, l.Record.Partition, l.Record.Offset,
				l.Detail)); err != nil {
				d.fail(err)
			}
		}
	}
	return nil
}

// note records the progress, and ends the replay if it has failed.
func (d *round) note(ctx context.Context, end context.CancelFunc) {
	tick := time.NewTicker(d.run.opts.Lease / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d.progress()
		if err := d.run.opts.rest("reading"); err != nil {
			d.fail(err)
		}
		if d.failed.Load() != nil {
			end()
			return
		}
	}
}

// progress sets the source's offsets to what is settled. It makes a new map, because a save may be reading the previous one.
func (d *round) progress() {
	offsets := maps.Clone(d.state.Offsets)
	next := map[int]int64{}
	for _, p := range d.plan.Partitions {
		next[p.Partition] = p.Next
	}
	for _, p := range d.replay.Progress().Partitions {
		offsets[p.Partition] = next[p.Partition] + p.Done
	}
	d.run.keeper.update(func(*state) { d.state.Offsets = offsets })
}
