package ingest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"brine/event"
	"brine/ingest/eras"
	"brine/ingest/internal/broker"
	"brine/ingest/internal/note"
	"brine/internal/backoff"
)

// runner is what all partitions of a Run share.
type runner struct {
	*Options
	cluster *broker.Cluster
	letters DeadLetters
	limit   *rate.Limiter // nil: none
	fresh   atomic.Bool   // the group has not committed anything yet
	first   broker.Topic  // the topic as it was then
	rejects *rejects
	keys    [][]byte   // of a replay: the keys of records to write; nil: all
	eras    *eras.Eras // of a replay: how records were read in the past; nil: as they are now

	mu      sync.Mutex
	reached map[int]int64 // per partition, the offset after the last record that this process has submitted
}

// partition is one assigned partition, for as long as it is assigned.
type partition struct {
	*runner
	id    int
	begin func(context.Context) (int64, error) // where to begin
	until int64                                // where to end, −1: never

	reader     string        // what the last commit notes of who read the partition; once admitted, what ours note
	last       *note.Note    // of the commit at which the partition begins; nil: there is none
	former     atomic.Int64  // how far those who read the partition before may have submitted: see Taken.Reach
	over       atomic.Bool   // nothing more will be submitted
	soon       soon          // of the assignment; nil in a replay
	opened     chan struct{} // closed once a commit says that the partition is being read, and by whom
	opening    sync.Once     // closes it
	announcing atomic.Bool   // it waits for opened
	mark       watermark
	out        bool // by the consumer protocol: we owned it when we stopped, and it is no longer committed; guarded by held.committing
	progress   progress
	rewound    atomic.Bool  // the log itself went back: the next commit may be lower
	abandoned  atomic.Int64 // flights not settled when the partition was taken away
}

func (r *runner) partition(id int, until int64, begin func(context.Context) (int64, error)) *partition {
	p := &partition{runner: r, id: id, begin: begin, until: until, opened: make(chan struct{})}
	p.mark.reset(-1)
	p.progress.init(r.Topic, id)
	return p
}

// haltError stops a partition until an operator acts.
type haltError struct {
	reason event.Reason
	err    error
}

func (h *haltError) Error() string { return string(h.reason) + ": " + h.err.Error() }
func (h *haltError) Unwrap() error { return h.err }

// run works on the partition until work ends or p.until is settled. When work ends, it settles pending flights until drain ends. When it
// returns, all of its goroutines have ended.
//
// A halted partition drops everything past its watermark and starts again there after a pause.
func (p *partition) run(work, drain context.Context) {
	defer p.over.Store(true)
	if err := p.start(work); err != nil {
		return
	}
	for {
		err := p.stream(work, drain)
		if err == nil || work.Err() != nil {
			return
		}
		h, ok := err.(*haltError) //nolint:errorlint // our own, never wrapped
		if !ok {
			continue // moved to another offset
		}
		if p.halted(work, h) != nil {
			return
		}
	}
}

// halted reports a halt and waits until the next attempt is due, or work ends.
func (p *partition) halted(work context.Context, h *haltError) error {
	p.progress.state(Halted, h.reason, h.err)
	p.Hooks.Halted(HaltedInfo{Partition: p.id, Reason: h.reason, Err: h.err})
	p.Logger.Error("partition halted", "topic", p.Topic, "partition", p.id, "offset", p.mark.edge(), "reason", h.reason, "error", h.err,
		"again_in", p.HaltPause)
	return backoff.Wait(work, backoff.Exponential(p.HaltPause, p.HaltPause, 0))
}

// start finds out where to begin, for as long as it takes.
func (p *partition) start(work context.Context) error {
	for pauses := p.pauses(); ; {
		offset, err := p.begin(work)
		switch e := err.(type) { //nolint:errorlint // our own, never wrapped
		case errMoved:
			p.rewound.Store(true)
			offset, err = int64(e), nil
		case *haltError:
			if err := p.halted(work, e); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			if err := p.admitted(work, offset); err != nil {
				return err
			}
			p.mark.reset(offset)
			p.progress.moved(offset)
			return p.announced(work)
		}
		if work.Err() != nil {
			return work.Err()
		}
		p.waiting(event.Unavailable, fmt.Errorf("finding the start offset: %w", err))
		if err := pauses.Wait(work); err != nil {
			return err
		}
	}
}

// admitted waits until the partition may be read from an offset on.
func (p *partition) admitted(work context.Context, offset int64) (err error) {
	if p.Admit == nil {
		return nil
	}
	looks, stop := context.WithCancel(work)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer stop()
	var once sync.Once
	held := func(reason event.Reason, err error) {
		once.Do(func() {
			p.progress.held(offset)
			looking.Go(func() { p.lookWhileHeld(looks, offset) })
		})
		p.waiting(reason, err)
	}
	p.reader, err = p.Admit(work, Taken{Topic: p.Topic, Partition: p.id, Offset: offset, Reach: max(offset, p.reach()), Reader: p.reader,
		Moved: p.last != nil && (p.last.Moved || p.last.Reader == ""), Held: held})
	return err
}

// announced waits until the last commit does not say of the partition that another has read it, or that nobody reads it. Otherwise a
// process that ends before its next commit would leave records written about which that says something wrong.
func (p *partition) announced(work context.Context) error {
	if p.last == nil || !p.last.Over && p.last.Reader == p.reader {
		return nil
	}
	p.announcing.Store(true)
	defer p.announcing.Store(false)
	p.soon.ask()
	select {
	case <-p.opened:
		return nil
	case <-work.Done():
		return work.Err()
	}
}

// open lets the partition be read: a commit says who reads it.
func (p *partition) open() { p.opening.Do(func() { close(p.opened) }) }

// reach returns the offset from which on no record has been submitted, as far as is known.
func (p *partition) reach() int64 { return max(p.former.Load(), p.submitted(p.id)) }

// waiting reports why the partition waits: a request to a broker failed and will be retried, or it is not admitted yet.
func (p *partition) waiting(reason event.Reason, err error) {
	p.progress.waits(reason, err)
	p.Hooks.Waiting(WaitingInfo{Partition: p.id, Reason: reason, Err: err})
	p.Logger.Warn("partition is waiting", "topic", p.Topic, "partition", p.id, "reason", reason, "error", err)
}

// stream is one uninterrupted run over a partition: it fetches from the watermark on, decodes, submits and settles.
//
//	fetch ──chunks──▶ submit ──a goroutine per flight──▶ settle
type stream struct {
	*partition
	work  context.Context // ends when nothing more may be submitted
	drain context.Context // ends when pending flights must be given up
	halt  func(error)     // ends both, before it returns

	chunks  chan *broker.Chunk // from fetch, which closes it, to submit
	free    chan *flight       // flights not in use; when empty, the window is full
	flights sync.WaitGroup
	decoder *event.Decoder // for the era in reading
	reading int
	batch   event.Batch // of the flight that is being submitted
	fetcher *broker.Fetcher
}

// stream runs until work ends (nil, or a *haltError), p.until is settled (nil), a flight halts (a *haltError), or the log has gone back
// (errMoved). It leaves nothing behind past the watermark.
func (p *partition) stream(work, drain context.Context) error {
	drain, halt := context.WithCancelCause(drain)
	defer halt(nil)
	work, stop := context.WithCancel(work)
	defer stop()
	defer context.AfterFunc(drain, stop)()
	s := &stream{partition: p, work: work, drain: drain, halt: func(err error) { halt(err); stop() },
		chunks: make(chan *broker.Chunk), free: make(chan *flight, p.Window), decoder: event.NewDecoder(p.Schema),
		reading: eras.Present}
	for range p.Window {
		s.free <- &flight{}
	}
	p.progress.state(Running, "", nil)
	fetched := make(chan error, 1)
	go func() {
		defer close(s.chunks)
		fetched <- s.fetch()
	}()
	for began := time.Now(); ; began = time.Now() {
		c, ok := <-s.chunks
		if !ok {
			break
		}
		waited := time.Since(began)
		s.Hooks.Awaited(AwaitedInfo{Partition: s.id, Duration: waited, Room: min(waited, c.Blocked)})
		s.submit(c)
	}
	s.Writer.Release()
	s.flights.Wait()
	err := <-fetched
	if h, ok := context.Cause(drain).(*haltError); ok { //nolint:errorlint // our own, never wrapped
		err = h
	}
	p.mark.reset(p.mark.edge())
	if to, ok := err.(errMoved); ok { //nolint:errorlint // our own, never wrapped
		p.rewound.Store(true)
		p.mark.reset(int64(to))
	}
	return err
}

// readingOf returns how the records of an era become events.
func (r *runner) readingOf(i int) eras.Reading {
	if i != eras.Present {
		return r.eras.Readings[i]
	}
	return eras.Reading{Schema: r.Schema, Conditions: r.Conditions}
}

// pauses returns new pauses between attempts to write or to fetch.
func (r *runner) pauses() *backoff.Pauses {
	return &backoff.Pauses{Base: r.RetryMin, Limit: r.RetryMax}
}
