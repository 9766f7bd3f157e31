package command

import (
	"context"
	"errors"
	"time"

	"brine/internal/backoff"
)

// seeker finds out what became of withdrawn commands: those that the brokers refuse, and that may be in their topic nevertheless, because
// an attempt to publish them had no answer, or because a process died between the answer and its note in the outbox. Nothing else frees
// their places. It belongs to the goroutine of run.
type seeker struct {
	*relay
	since    map[string]time.Time // when this process first found a command withdrawn, by id
	searches map[lane]*search
	after    place // where the next look at the outbox continues
}

// search is a look for commands in a partition. It reads a part of it at a time.
type search struct {
	sought   map[string]*Entry
	found    map[string]int64 // first offset of those that are there
	next, to int64            // offsets that are still to be read
	whole    bool             // the partition still has everything that may have been published
	pauses   backoff.Pauses
	again    time.Time // not before, after a failure
}

const (
	// quiet is how long after its withdrawal a command may still be published: by a process that asked the outbox just before, and whose
	// request was not answered (publishFor). The rest is for a request that brokers carry out late.
	quiet = time.Minute
	// apart is by how much a record's time may be before that of its command, if brokers set it.
	apart = 5 * time.Minute

	seekFor  = 3 * time.Second // how long a partition is read at once
	seekMost = 200_000         // records that are read of it at once
	seekRest = 5 * time.Minute // longest pause after a failure
)

func newSeeker(r *relay) *seeker {
	return &seeker{relay: r, since: map[string]time.Time{}, searches: map[lane]*search{}}
}

// run looks for withdrawn commands until ctx is done.
func (s *seeker) run(ctx context.Context) {
	for {
		s.look(ctx)
		if backoff.Wait(ctx, sweepEvery) != nil {
			return
		}
	}
}

// look reports how many commands wait, and reads the next part of each partition in which some may be.
func (s *seeker) look(ctx context.Context) {
	accepted, withdrawn, oldest, err := s.opts.Outbox.waiting(ctx)
	if err != nil {
		return // the sweep logs it
	}
	info := SweptInfo{Accepted: accepted, Withdrawn: withdrawn}
	if accepted > 0 {
		info.Oldest = time.Duration(max(0, s.now()-oldest)) * time.Millisecond
	}
	s.opts.Hooks.Swept(info)
	if withdrawn == 0 {
		clear(s.since)
		clear(s.searches)
		return
	}
	if s.opts.Topics == nil {
		return
	}
	for at, entries := range s.due(ctx) {
		s.search(ctx, at, entries)
	}
}

// due returns the next commands that nobody publishes any more.
func (s *seeker) due(ctx context.Context) map[lane][]*Entry {
	list, next, err := s.opts.Outbox.withdrawn(ctx, s.after, sweepSize)
	if s.after = next; err != nil {
		return nil // the sweep logs it
	}
	out := map[lane][]*Entry{}
	for i := range list {
		e := &list[i]
		at, known := s.since[e.ID]
		switch {
		case !known && len(s.since) >= sweepPages*sweepSize:
			clear(s.since) // most are of commands that other processes ended; the others wait again
			fallthrough
		case !known:
			s.since[e.ID] = time.Now()
		case time.Since(at) >= quiet:
			out[lane{e.Topic, e.Part}] = append(out[lane{e.Topic, e.Part}], e)
		}
	}
	return out
}

// search reads the next part of a partition, and ends the search once it has read all of it.
func (s *seeker) search(ctx context.Context, at lane, entries []*Entry) {
	x := s.searches[at]
	if x == nil {
		x = &search{pauses: backoff.Pauses{Base: sweepEvery, Limit: seekRest}}
		s.searches[at] = x
	}
	if time.Now().Before(x.again) {
		return
	}
	done, err := s.read(ctx, at, x, entries)
	if done && err == nil {
		err = s.conclude(ctx, at, x)
	}
	if err != nil {
		x.again = time.Now().Add(x.pauses.Next())
		if ctx.Err() == nil {
			s.opts.Log.Warn("cannot find out whether commands that the brokers refuse were published before; will retry", "topic", at.topic,
				"partition", at.part, "commands", len(entries), "error", err)
		}
		return
	}
	x.pauses.Failures = 0
	if done {
		delete(s.searches, at)
	}
}

// read reads the next part of a partition for a search. It returns true once there is nothing left to read.
func (s *seeker) read(ctx context.Context, at lane, x *search, entries []*Entry) (done bool, err error) {
	within, cancel := context.WithTimeout(ctx, seekFor)
	defer cancel()
	if x.sought == nil {
		if err := s.begin(within, at, x, entries); err != nil {
			return false, err
		}
	}
	n := 0
	for r, err := range s.opts.Topics.Records(within, at.topic, at.part, x.next, x.to) {
		if err != nil && n > 0 && errors.Is(within.Err(), context.DeadlineExceeded) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		x.next = r.Offset + 1
		if _, twice := x.found[r.Command]; x.sought[r.Command] != nil && !twice {
			x.found[r.Command] = r.Offset
		}
		if n++; len(x.found) == len(x.sought) {
			break
		}
		if n >= seekMost {
			return x.next >= x.to, nil
		}
	}
	x.next = x.to
	return true, nil
}

// begin determines what a search for commands has to read.
func (s *seeker) begin(ctx context.Context, at lane, x *search, entries []*Entry) (err error) {
	oldest := entries[0].Created
	sought := map[string]*Entry{}
	for _, e := range entries {
		oldest = min(oldest, e.Created)
		sought[e.ID] = e
	}
	x.next, x.to, x.whole, err = s.opts.Topics.Since(ctx, at.topic, at.part, time.UnixMilli(oldest).Add(-apart))
	if err == nil {
		x.sought, x.found = sought, map[string]int64{}
	}
	return err
}

// conclude stores what a search has found out: a command that is in the topic is published, another has failed.
func (s *seeker) conclude(ctx context.Context, at lane, x *search) error {
	var there []pending
	var absent []*Entry
	for id, e := range x.sought {
		if offset, found := x.found[id]; found {
			e.State, e.Offset, e.Since = Published, offset, s.now()
			there = append(there, pending{Entry: *e})
		} else {
			absent = append(absent, e)
		}
	}
	if len(there) > 0 {
		if err := s.mark(ctx, there); err != nil {
			return err
		}
	}
	ended, err := s.failed(ctx, at, x, absent)
	if len(ended) > 0 {
		err = errors.Join(err, s.opts.Outbox.endWithdrawn(ctx, ended, s.now()))
	}
	if err != nil {
		return err
	}
	for id := range x.sought {
		delete(s.since, id)
	}
	return nil
}

// failed returns the results of commands that are not in the topic. If the topic no longer has everything that they may be among, their
// rows are compared once the pipeline has settled all that was there.
func (s *seeker) failed(ctx context.Context, at lane, x *search, absent []*Entry) (ended []*Entry, err error) {
	by := map[*Machine][]*Entry{}
	for _, e := range absent {
		m := s.Machine(e.Table)
		if x.whole || m == nil || m.Elsewhere {
			ended = append(ended, &Entry{ID: e.ID, State: Failed, Detail: refusedDetail})
			continue
		}
		by[m] = append(by[m], e)
	}
	var errs []error
	for m, list := range by {
		n, err := s.opts.Settled(ctx, m.Pipeline, at.topic, at.part)
		if err == nil && n < x.to {
			err = errors.New("the pipeline has not settled the partition")
		}
		var some []*Entry
		if err == nil {
			some, err = s.compare(ctx, m, list)
		}
		for _, e := range some {
			if e.State == Failed {
				e.Detail = refusedDetail
			}
		}
		ended, errs = append(ended, some...), append(errs, err)
	}
	return ended, errors.Join(errs...)
}
