package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/event"
	"brine/ingest/deadletter"
	"brine/ingest/internal/broker"
	"brine/internal/backoff"
)

// flight is a group of records of one chunk that are decoded and submitted together, until they are settled. Options.Window of
// them may be in use at a time, besides parked ones (park.go).
//
// It keeps no events: the writer has encoded them, and decoded events are many times the size of their records. If some were not written,
// their records are decoded again before each retry, to the same events, because decoding is pure.
type flight struct {
	chunk   *broker.Chunk
	number  int // its number in the watermark
	count   int // number of records
	records []event.Record
	times   Times               // of records
	letters []deadletter.Letter // of records that could not be decoded
	out     event.Flight        // nil when there is no event
	left    []*event.Record     // one for each event that is not settled; nil until something has failed
	places  []int               // of left: each event's place among those of its record; nil unless plural
	rest    []event.Rest        // of left: what of each event is to be written; nil until something has failed
	buried  []*event.Record     // dead letters whose other events may still be written; see plural
	impeded bool                // it has reported that it is being retried
	parked  bool                // it has given up its place in the window; see park.go
	charge  int64               // bytes of the budget that it holds while parked

	events    int                   // submitted the last time, except those that write nothing
	plural    bool                  // some of its records have several events
	passed    int                   // records left out: their keys were not asked for, or all their events write nothing
	silent    map[event.LeftOut]int // events that write nothing, by reason; nil until there is one
	filtered  map[string]int        // events for which a condition fails, by Condition.Of; nil until there is one
	rejected  int                   // records that are dead letters
	written   bool                  // at least one record is known to be written
	undecided bool                  // it counts in rejects
	order     int                   // in which it took off, over the whole Loop

	ctx       context.Context // for the hooks and the writer
	landed    func(settled bool)
	submitted time.Time
	stored    time.Duration // how long the writer has had it
}

// submit cuts a chunk into flights and submits each once the window has room. It returns early if work ends: then nothing behind the
// unsubmitted records may be settled, not even a chunk without records.
func (s *stream) submit(c *broker.Chunk) {
	defer c.Release()
	if s.work.Err() != nil {
		return
	}
	if len(c.Records) == 0 {
		s.settled(s.mark.open(c.Next, 0), 0)
		return
	}
	for from := 0; from < len(c.Records); {
		to := s.cut(c.Records, from)
		end := c.Next
		if to < len(c.Records) {
			end = c.Records[to].Offset
		}
		n := s.takeOff(c, c.Records[from:to], end)
		if n == 0 {
			return
		}
		from += n
	}
}

// cut returns the end of the batch that begins at record from.
func (s *stream) cut(records []event.Record, from int) int {
	bytes, most := int64(0), min(s.MaxBatchRecords, s.Pace.Most())
	_, until := s.eras.At(s.id, records[from].Offset) // a flight belongs to one era
	for i := from; i < len(records); i++ {
		bytes += int64(records[i].Size())
		if i > from && (bytes > s.MaxBatchBytes || i-from == most || records[i].Offset >= until) {
			return i
		}
	}
	return len(records)
}

// takeOff makes a flight of records, which end before offset end, and submits it. It returns how many of them have taken off: those before
// the first that cannot be decoded yet, which then waits or halts alone. It returns 0 if work has ended or the partition halts.
func (s *stream) takeOff(c *broker.Chunk, records []event.Record, end int64) int {
	began := time.Now()
	var f *flight
	select {
	case f = <-s.free:
	case <-s.work.Done():
		return 0
	}
	if s.Pace.Wait(s.work, len(records)) != nil || s.limit != nil && s.limit.WaitN(s.work, len(records)) != nil || s.work.Err() != nil {
		return 0
	}
	f.chunk, f.records, f.count, f.out, f.left, f.rest = c, records, len(records), nil, nil, nil
	f.passed, f.rejected, f.written, f.plural, f.stored = 0, 0, false, false, 0
	clear(f.silent)
	clear(f.filtered)
	f.ctx, f.landed = s.Hooks.Flight(s.drain, FlightInfo{Partition: s.id, Records: records})
	began = s.took(f.ctx, StepRoom, began)
	if n := s.decode(f); n < len(records) {
		s.abandon(f)
		if n == 0 {
			return 0
		}
		return s.takeOff(c, records[:n], records[n].Offset)
	}
	f.times = TimesOf(records)
	began = s.took(f.ctx, StepDecode, began)
	f.number = s.mark.open(end, records[0].Timestamp)
	c.Hold()
	s.note(records, end)
	f.undecided = f.events > 0
	f.order = s.rejects.takeOff(f.undecided)
	f.submitted = began
	if len(s.batch.Events) > 0 {
		f.out = s.Writer.Submit(f.ctx, &s.batch)
		s.Hooks.Submitted(SubmittedInfo{Partition: s.id, Events: len(s.batch.Events)})
		f.submitted = s.took(f.ctx, StepSubmit, began)
	}
	s.flights.Add(1)
	go s.settle(f)
	return len(records)
}

// abandon lets go of a flight that was not submitted.
func (s *stream) abandon(f *flight) {
	f.landed(false)
	f.chunk, f.records, f.ctx, f.landed = nil, nil, nil, nil
	s.abandoned.Add(1)
	s.free <- f
}

// decode fills the stream's batch with the flight's events, and the flight's dead letters with records that can never be decoded. It
// returns how many records precede one that cannot be decoded yet: all of them, in the normal case. If that is the first record, decode
// waits until it can be decoded, and returns 0 if the partition goes away or halts.
func (s *stream) decode(f *flight) int {
	era := s.eras.Of(&f.records[0])
	reading := s.readingOf(era)
	if era != s.reading {
		s.decoder, s.reading = event.NewDecoder(reading.Schema), era
	}
	s.decoder.Reset(&s.batch)
	clear(f.letters)
	f.letters = f.letters[:0]
	for i := range f.records {
		if !s.takes(&f.records[i]) {
			f.passed++
			continue
		}
		if i > 0 && s.decoder.Resolve(s.work, &f.records[i]) != nil {
			return i
		}
		if i == 0 {
			if err := s.resolve(s.work, s.decoder, &f.records[i]); err != nil {
				if h, ok := err.(*haltError); ok { //nolint:errorlint // our own, never wrapped
					s.haltBehind(h)
				}
				return 0
			}
		}
		from := len(s.batch.Events)
		if err := s.decoder.Decode(&f.records[i], &s.batch); err != nil {
			if fault, ok := errors.AsType[*event.Error](err); ok && fault.Halts {
				if i == 0 {
					s.haltBehind(&haltError{fault.Reason, fmt.Errorf("offset %d: %w", f.records[i].Offset, err)})
				}
				return i
			}
			f.letters = append(f.letters, s.letter(&f.records[i], event.Undecodable, err))
			continue
		}
		events := s.batch.Events[from:]
		f.plural = f.plural || len(events) > 1
		f.filter(reading.Conditions, events)
		if n := writing(events); n < len(events) {
			f.leaveOut(events)
			if n == 0 {
				f.passed++
			}
		}
	}
	f.events = writing(s.batch.Events)
	s.Hooks.Decoded(DecodedInfo{Partition: s.id, Events: len(s.batch.Events)})
	return len(f.records)
}

// haltBehind halts once everything that has taken off is settled.
func (s *stream) haltBehind(h *haltError) {
	s.Writer.Release()
	s.flights.Wait()
	s.halt(h)
}

// writing returns the number of events that write something.
func writing(events []event.Event) (n int) {
	for i := range events {
		if events[i].LeftOut == "" {
			n++
		}
	}
	return n
}

// leaveOut counts the events that write nothing.
func (f *flight) leaveOut(events []event.Event) {
	if f.silent == nil {
		f.silent = map[event.LeftOut]int{}
	}
	for i := range events {
		if why := events[i].LeftOut; why != "" {
			f.silent[why]++
		}
	}
}

// filter counts the events for which conditions fail.
func (f *flight) filter(conditions []event.Condition, events []event.Event) {
	for _, c := range conditions {
		for i := range events {
			if events[i].LeftOut != "" || !c.Fails(&events[i]) {
				continue
			}
			if f.filtered == nil {
				f.filtered = map[string]int{}
			}
			f.filtered[c.Of]++
		}
	}
}

// resolve waits until a record can be decoded. It returns an error if ctx ends first, or a *haltError.
func (s *stream) resolve(ctx context.Context, d *event.Decoder, rec *event.Record) error {
	err := d.Resolve(ctx, rec)
	if err == nil {
		return nil
	}
	s.progress.impede()
	defer s.progress.free()
	for pauses := s.pauses(); err != nil; err = d.Resolve(ctx, rec) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		reason := event.Unavailable
		if u, ok := errors.AsType[*event.Unresolved](err); ok {
			if reason = u.Reason; u.Verdict == event.Halt {
				return &haltError{u.Reason, u.Err}
			}
		}
		s.progress.impeded(Waiting, reason, err)
		s.Hooks.Waiting(WaitingInfo{Partition: s.id, Reason: reason, Err: err})
		s.Logger.Warn("records cannot be decoded yet", "topic", s.Topic, "partition", s.id, "offset", rec.Offset, "error", err)
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// letter returns the dead letter of a record that cannot be written.
func (s *stream) letter(rec *event.Record, reason event.Reason, err error) deadletter.Letter {
	return deadletter.New(rec, reason, err, s.Group)
}

// submitted returns the offset after the last record of a partition that this process has submitted, or 0.
func (r *runner) submitted(partition int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reached[partition]
}

// note counts the records that this process has submitted before.
func (s *stream) note(records []event.Record, end int64) {
	s.mu.Lock()
	before := s.reached[s.id]
	s.reached[s.id] = max(before, end)
	s.mu.Unlock()
	again := 0
	for again < len(records) && records[again].Offset < before {
		again++
	}
	if again > 0 {
		s.Hooks.Redelivered(RedeliveredInfo{Partition: s.id, Records: again})
	}
}

// settle sees a flight to its end and frees its place in the window. It runs in one goroutine per flight, so that a flight that waits holds
// up the watermark but not the flights behind it.
func (s *stream) settle(f *flight) {
	defer s.flights.Done()
	settled := s.land(f)
	if settled {
		s.settledStep(f)
		s.durable(f, nil)
		s.Hooks.Wrote(WroteInfo{Partition: s.id, Records: f.count - f.passed - f.rejected, LeftOut: f.passed, Events: f.silent,
			Filtered: f.filtered})
		s.settled(f.number, f.count)
	} else {
		s.abandoned.Add(1)
	}
	f.landed(settled)
	f.chunk.Release()
	f.chunk, f.records, f.left, f.places, f.rest, f.buried, f.ctx, f.landed = nil, nil, nil, nil, nil, nil, nil, nil
	if f.impeded {
		f.impeded = false
		s.progress.free()
	}
	if f.parked {
		s.Budget.holds.Release(f.charge)
	} else {
		s.free <- f
	}
}

func (s *stream) settled(number, records int) {
	s.Hooks.Settled(SettledInfo{Partition: s.id, Records: records})
	if low, moved := s.mark.settle(number); moved {
		s.Hooks.Position(PositionInfo{Partition: s.id, Watermark: low, End: s.progress.moved(low)})
	}
}

// land waits until all records of the flight are durable, in the store or in the dead letters. It returns false if the partition is taken
// away first, or halts.
//
// It holds back dead letters that may be too many until it is known whether anything of the flight is written. Until then the flight keeps
// its records.
func (s *stream) land(f *flight) bool {
	defer s.decide(f, false)
	held := f.letters
	if f.out != nil && s.rejects.tryAdmit(s.id, f.order, len(held)) {
		f.rejected += len(held)
		if held = nil; !s.bury(f.letters) {
			return false
		}
	}
	pauses := s.pauses()
	for f.out != nil {
		began := time.Now()
		failures, err := s.await(f, len(held) == 0)
		f.stored += time.Since(began)
		if err != nil {
			return false
		}
		if len(failures) < f.events {
			s.decide(f, true)
		}
		if len(failures) == 0 {
			break
		}
		if f.left == nil && !s.list(f) {
			return false
		}
		retry, letters, halt := s.triage(f, failures)
		held = append(held, letters...)
		if f.written || s.rejects.tryAdmit(s.id, f.order, len(held)) {
			f.rejected += len(held)
			if !s.bury(held) {
				return false
			}
			held = nil
		}
		if halt != nil {
			s.halt(halt)
			return false
		}
		if len(retry) == 0 {
			break
		}
		f.keepRest(retry)
		if f.left = keep(f.left, retry); f.plural {
			f.places = keep(f.places, retry)
		}
		s.impede(f, retry[0].Reason, retry[0].Err)
		if len(held) == 0 {
			s.park(f)
			s.shrink(f)
		}
		if s.wait(pauses) != nil {
			return false
		}
		if !s.resubmit(f) {
			return false
		}
		s.Writer.Release() // it is late already
		s.Hooks.Retried(RetriedInfo{Partition: s.id, Events: len(retry), Reason: retry[0].Reason})
	}
	s.decide(f, false)
	return s.reject(f, held)
}

// wait pauses before another attempt, for at most a second once time is short.
func (s *stream) wait(p *backoff.Pauses) error {
	began, pause := time.Now(), p.Next()
	if backoff.Wait(s.work, pause) == nil {
		return nil
	}
	return backoff.Wait(s.drain, min(pause-time.Since(began), hurryEvery))
}

// impede reports that the flight is retried, and why.
func (s *stream) impede(f *flight, reason event.Reason, err error) {
	if !f.impeded {
		f.impeded = true
		s.progress.impede()
	}
	s.progress.impeded(Retrying, reason, err)
}

// triage sorts what was not written by verdict. A verdict that is none of the three means retry.
func (s *stream) triage(f *flight, failures []event.Failure) (retry []event.Failure, letters []deadletter.Letter, halt error) {
	for _, failure := range failures {
		switch failure.Verdict {
		case event.Reject:
			rec := f.left[failure.Index]
			if slices.Contains(f.buried, rec) {
				continue
			}
			if f.plural {
				f.buried = append(f.buried, rec)
			}
			letters = append(letters, s.letter(rec, failure.Reason, failure.Err))
		case event.Halt:
			if halt == nil {
				halt = &haltError{failure.Reason, failure.Err}
			}
		default:
			retry = append(retry, failure)
		}
	}
	return retry, letters, halt
}

// bury writes dead letters until they are durable. It returns false if the partition is taken away first.
func (s *stream) bury(letters []deadletter.Letter) bool {
	if len(letters) == 0 {
		return true
	}
	pauses := s.pauses()
	for attempt := 1; ; attempt++ {
		err := s.letters.Write(s.drain, letters)
		if err == nil {
			break
		}
		if attempt == 1 {
			s.progress.impede()
			defer s.progress.free()
		}
		s.progress.impeded(Waiting, DeadLettersDown, err)
		s.Hooks.Waiting(WaitingInfo{Partition: s.id, Reason: DeadLettersDown, Err: err})
		s.Logger.Warn("dead letters are waiting", "topic", s.Topic, "partition", s.id, "dead_letters", len(letters), "error", err)
		if s.wait(pauses) != nil {
			return false
		}
	}
	for _, l := range letters {
		s.Hooks.DeadLettered(DeadLetteredInfo{Partition: s.id, Records: 1, Reason: l.Reason})
	}
	return true
}
