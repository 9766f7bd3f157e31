package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
	"brine/internal/backoff"
)

// Reasons for which a partition waits or halts before its records reach the writer.
const (
	OffsetGone  event.Reason = "offset_gone"  // the next offset is not in the log
	TopicAnew   event.Reason = "topic_anew"   // the topic was deleted and recreated since the last commit
	CorruptData event.Reason = "corrupt_data" // the broker sends bytes that are no records

	DeadLettersDown event.Reason = "dead_letters_down" // rejected records cannot be kept
)

// errMoved is the offset at which the partition goes on, lower than before since the log itself is.
type errMoved int64

func (e errMoved) Error() string { return fmt.Sprintf("moved to offset %d", int64(e)) }

// fetcher is what fetching learns as it goes.
type fetcher struct {
	ask   int64   // bytes asked for next
	ratio float64 // bytes in memory per byte fetched, at least 1
}

// fetch gets chunks from the watermark on and hands them to submit, one waiting while the next is under way. It returns
// nil when work ends or p.until is reached.
func (s *stream) fetch() error {
	s.fetcher = fetcher{ask: minFetchBytes, ratio: 1}
	pauses := s.pauses()
	next := s.mark.edge()
	for s.work.Err() == nil && (s.until < 0 || next < s.until) {
		began := time.Now()
		c, err := s.fetchChunk(next)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			c, err = s.outOfRange(next)
		}
		switch err.(type) { //nolint:errorlint // our own, never wrapped
		case *haltError, errMoved:
			return err
		}
		if err != nil {
			if s.work.Err() == nil {
				s.waiting(fetchReason(err), fmt.Errorf("fetch at offset %d: %w", next, err))
				_ = pauses.wait(s.work)
			}
			continue
		}
		pauses.failures = 0
		s.progress.fetched(c.end)
		if c.next == next {
			c.release()
			if quick := fetchMaxWait / 10; time.Since(began) < quick { // brokers that do not wait with nothing to give
				_ = backoff.Wait(s.work, quick)
			}
			continue
		}
		next = c.next
		select {
		case s.chunks <- c:
		case <-s.work.Done():
			c.release()
		}
	}
	return nil
}

// fetchChunk makes one fetch. The chunk comes with its bytes charged to the budget.
func (s *stream) fetchChunk(offset int64) (*chunk, error) {
	ask := s.fetcher.ask
	reserved, err := s.Budget.fetches.acquire(s.work, int64(float64(ask)*s.fetcher.ratio))
	if err != nil {
		return nil, err
	}
	defer s.Budget.fetches.release(reserved)
	c := newChunk(s.Topic, s.id)
	began := time.Now()
	answer, err := s.call(c, offset, ask)
	if err != nil {
		return nil, err // c may still be written to by the call: it is not used again
	}
	answered := time.Now()
	if err := c.take(answer, offset, s.until); err != nil {
		c.release()
		return nil, err
	}
	s.fetcher.learn(c, len(answer.batches), s.MaxFetchBytes)
	if c.next == offset && len(answer.batches) > 0 {
		c.release()
		if ask >= max(s.Budget.size, s.MaxFetchBytes) {
			return nil, errNothingFits(offset, int(ask))
		}
		s.fetcher.ask = 2 * ask
		return s.fetchChunk(offset)
	}
	c.budget = s.Budget
	if c.charged, err = s.Budget.holds.acquire(s.work, max(c.cost, c.holding())); err != nil {
		c.release()
		return nil, err
	}
	s.Hooks.Fetched(s.id, len(c.records), len(answer.batches))
	if len(c.records) > 0 {
		s.Hooks.Took(s.work, s.id, StepFetch, answered.Sub(began))
	}
	return c, nil
}

// call sends the fetch to the partition's leader and waits for its answer.
func (s *stream) call(c *chunk, offset, ask int64) (*fetchAnswer, error) {
	ctx, cancel := context.WithTimeout(s.work, fetchMaxWait+s.RequestTimeout)
	defer cancel()
	m, err := s.cluster.RoundTrip(ctx, s.cluster.client.Addr, &fetchCall{
		topic: s.Topic, partition: s.id, offset: offset, maxBytes: int32(ask), client: s.Kafka.ClientID, into: c,
		limit: max(ask, s.Budget.size) + spareAnswerBytes,
	})
	if err != nil {
		return nil, err
	}
	return m.(*fetchAnswer), nil
}

// take reads what a broker has answered into c, up to the offset until (−1: all of it).
func (c *chunk) take(a *fetchAnswer, offset, until int64) error {
	if a.err != nil {
		return a.err
	}
	if err := c.read(a.batches, offset, a.aborted); err != nil {
		return err
	}
	c.end, c.sent = a.stable, len(a.batches)
	if until >= 0 && c.next > until {
		c.next = until
		for n := len(c.records); n > 0 && c.records[n-1].Offset >= until; n-- {
			c.cost -= int64(c.records[n-1].Size())
			c.records = c.records[:n-1]
		}
	}
	c.fit()
	return nil
}

// learn adapts the size of the next fetch: more when answers come full, less when they do not, and so that what a fetch
// becomes in memory stays within limit.
func (f *fetcher) learn(c *chunk, got int, limit int64) {
	if got > 0 {
		f.ratio = max(1, float64(c.cost)/float64(got))
	}
	switch {
	case int64(got) >= f.ask/2:
		f.ask *= 2
	case int64(got) < f.ask/8:
		f.ask /= 2
	}
	f.ask = max(minFetchBytes, min(f.ask, int64(float64(limit)/f.ratio)))
}

// outOfRange decides by policy what to do when the log has no such offset. A gap is passed as a chunk without records.
func (s *stream) outOfRange(offset int64) (*chunk, error) {
	low, err := s.cluster.offset(s.work, s.Topic, s.id, oldest)
	if err != nil {
		return nil, err
	}
	high, err := s.cluster.offset(s.work, s.Topic, s.id, newest)
	if err != nil {
		return nil, err
	}
	if low <= offset && offset <= high {
		return nil, kafka.OffsetOutOfRange // not any more, or the brokers do not agree yet: ask again
	}
	said := fmt.Errorf("next is offset %d, and the log is %d to %d", offset, low, high)
	if s.OutOfRange == StopAndSay {
		return nil, &haltError{OffsetGone, fmt.Errorf("%w; set the group's offset, or out_of_range: earliest or latest to go on", said)}
	}
	to := low
	if s.OutOfRange == FromLatest {
		to = high
	}
	s.Hooks.Skipped(s.id, offset, to)
	s.Logger.Error("offsets are gone", "topic", s.Topic, "partition", s.id, "next", offset, "log_start", low, "log_end", high, "going_on_at", to, "policy", s.OutOfRange)
	if to < offset {
		return nil, errMoved(to)
	}
	c := newChunk(s.Topic, s.id)
	c.next, c.end = to, high
	return c, nil
}

func fetchReason(err error) event.Reason {
	switch {
	case errors.Is(err, errCorrupt):
		return CorruptData
	case errors.Is(err, kafka.TopicAuthorizationFailed), errors.Is(err, kafka.SASLAuthenticationFailed):
		return event.Denied
	case errors.Is(err, kafka.OffsetOutOfRange):
		return OffsetGone
	}
	return event.Unavailable
}
