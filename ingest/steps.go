package ingest

import (
	"context"
	"time"

	"brine/event"
)

// Step is one part of a batch's path through the loop.
type Step string

// The steps.
const (
	StepFetch  Step = "fetch"  // a broker's answer with records
	StepRoom   Step = "room"   // waiting for the window and the rate
	StepDecode Step = "decode" // records become events
	StepSubmit Step = "submit" // the Writer's own part: keys, mutations, documents, and waiting for room there
	StepSettle Step = "settle" // from there until everything is durable
	StepCommit Step = "commit" // committing offsets, for all partitions of a generation
)

// took reports a step to the hook and returns the time at which it ended.
func (s *stream) took(ctx context.Context, step Step, began time.Time) time.Time {
	now := time.Now()
	s.Hooks.Took(TookInfo{Flight: ctx, Partition: s.id, Step: step, Duration: now.Sub(began)})
	return now
}

// settledStep reports how long the flight took to settle.
func (s *stream) settledStep(f *flight) {
	s.Hooks.Took(TookInfo{Flight: f.ctx, Partition: s.id, Step: StepSettle, Duration: time.Since(f.submitted), Stored: f.stored})
}

// durable reports all records of the flight to the hook, except those left in it.
func (s *stream) durable(f *flight, left []*event.Record) {
	from := 0
	for i := range f.records {
		if len(left) == 0 {
			break
		}
		if left[0] == &f.records[i] {
			some := f.records[from:i]
			s.Hooks.Durable(DurableInfo{Flight: f.ctx, Partition: s.id, Records: some, Times: TimesOf(some)})
			from, left = i+1, left[1:]
		}
	}
	times := f.times
	if from > 0 {
		times = TimesOf(f.records[from:])
	}
	s.Hooks.Durable(DurableInfo{Flight: f.ctx, Partition: s.id, Records: f.records[from:], Times: times})
}

// Times sums up the timestamps of records, in milliseconds, without those that have none. A flight's Times are taken while its records are
// in cache: reading them after they are durable would fetch each from memory again.
type Times struct {
	Count       int
	First, Last int64
	Sum         int64
}

// TimesOf returns the Times of records.
func TimesOf(records []event.Record) (t Times) {
	for i := range records {
		at := records[i].Timestamp
		if at <= 0 {
			continue
		}
		if t.Count == 0 || at < t.First {
			t.First = at
		}
		t.Last = max(t.Last, at)
		t.Sum += at
		t.Count++
	}
	return t
}
