package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
	"brine/internal/backoff"
)

// fetch gets chunks from the watermark on and hands them to submit; one waits while the next is being fetched. It returns nil when work
// ends or s.until is reached.
func (s *stream) fetch() error {
	s.fetcher = s.cluster.Fetcher(broker.Fetcher{Topic: s.Topic, Partition: s.id, Until: s.until, Aim: s.MaxFetchBytes,
		Largest: min(max(s.Budget.size, s.MaxFetchBytes), broker.MaxFetchBytes), Answer: s.Budget.size})
	pauses := s.pauses()
	next := s.mark.edge()
	for s.work.Err() == nil && (s.until < 0 || next < s.until) {
		s.Pace.WhilePaused(s.work, pausedLook, s.lookAtEnd)
		began := time.Now()
		c, err := s.fetchChunk(next)
		switch {
		case errors.Is(err, broker.ErrMore):
			continue
		case errors.Is(err, broker.ErrOutOfRange):
			c, err = s.outOfRange(next)
		}
		switch err.(type) { //nolint:errorlint // our own, never wrapped
		case *haltError, errMoved:
			return err
		}
		if err != nil {
			if s.work.Err() == nil {
				s.waiting(fetchReason(err), fmt.Errorf("fetch at offset %d: %w", next, err))
				_ = pauses.Wait(s.work)
			}
			continue
		}
		pauses.Failures = 0
		s.progress.fetched(c.End)
		if c.Next == next {
			c.Release()
			if quick := broker.FetchMaxWait / 10; time.Since(began) < quick { // for brokers that answer at once when they have nothing
				_ = backoff.Wait(s.work, quick)
			}
			continue
		}
		next = c.Next
		select {
		case s.chunks <- c:
		case <-s.work.Done():
			c.Release()
		}
	}
	return nil
}

// pausedLook is how often the end of a partition is looked up for its lag while its loop is paused, or it must not be read yet.
const pausedLook = 15 * time.Second

// lookAtEnd notes how far the partition has grown, and how old its unread records are.
func (s *stream) lookAtEnd() {
	end, err := s.cluster.Offset(s.work, s.Topic, s.id, broker.Newest)
	if err == nil {
		s.progress.grown(end)
		next := s.mark.edge()
		if _, pending := s.mark.oldest(); !pending {
			err = s.lookAtNext(s.work, next, end)
		}
	}
	if err != nil && s.work.Err() == nil {
		s.waiting(fetchReason(err), fmt.Errorf("finding the end of the log while paused: %w", err))
	}
}

// lookAtNext notes the timestamp of the first unread record, once per watermark: retention deletes by it.
func (p *partition) lookAtNext(ctx context.Context, next, end int64) error {
	if next >= end || p.progress.knowsNext(next) {
		return nil
	}
	reserved, err := p.Budget.fetches.Acquire(ctx, broker.MinFetchBytes)
	if err != nil {
		return err
	}
	defer p.Budget.fetches.Release(reserved)
	at, found, err := p.cluster.TimeAt(ctx, p.Topic, p.id, next)
	if err == nil && found {
		p.progress.nextIs(next, at)
	}
	return err
}

// lookWhileHeld does for a partition that must not be read yet, until ctx ends, what lookAtEnd does while the loop is paused.
func (p *partition) lookWhileHeld(ctx context.Context, from int64) {
	for {
		end, err := p.cluster.Offset(ctx, p.Topic, p.id, broker.Newest)
		if err == nil {
			p.progress.heldUntil(end)
			err = p.lookAtNext(ctx, from, end)
		}
		if err != nil && ctx.Err() == nil {
			p.Logger.Debug("finding the end of the log of a waiting partition failed", "topic", p.Topic, "partition", p.id, "error", err)
		}
		if backoff.Wait(ctx, pausedLook) != nil {
			return
		}
	}
}

// fetchChunk makes one fetch. It charges the chunk's bytes to the budget.
func (s *stream) fetchChunk(offset int64) (*broker.Chunk, error) {
	began := time.Now()
	reserved, err := s.Budget.fetches.Acquire(s.work, s.fetcher.Needs())
	if err != nil {
		return nil, err
	}
	defer s.Budget.fetches.Release(reserved)
	blocked := time.Since(began)
	c, err := s.fetcher.Fetch(s.work, offset)
	if err != nil {
		return nil, err
	}
	began = time.Now()
	charged, err := s.Budget.holds.Acquire(s.work, max(c.Cost, c.Memory()))
	if err != nil {
		c.Release()
		return nil, err
	}
	c.Charge(s.Budget.holds, charged)
	c.Blocked = blocked + time.Since(began)
	s.Hooks.Fetched(FetchedInfo{Partition: s.id, Records: len(c.Records), Bytes: c.Sent})
	if len(c.Records) > 0 {
		s.Hooks.Took(TookInfo{Flight: s.work, Partition: s.id, Step: StepFetch, Duration: c.Took})
	}
	return c, nil
}

func fetchReason(err error) event.Reason {
	switch {
	case errors.Is(err, broker.ErrCorrupt):
		return CorruptData
	case broker.Denied(err):
		return event.Denied
	case errors.Is(err, broker.ErrOutOfRange):
		return OffsetGone
	}
	return event.Unavailable
}
