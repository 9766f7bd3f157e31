package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"

	"brine/internal/backoff"
)

// MaxWait is how long publishing waits for brokers, from the last published record.
const MaxWait = 5 * time.Minute

// Patience bounds how often and for how long failed work is retried. It reports on Log what it waits for.
type Patience struct {
	Limit time.Duration
	Log   io.Writer

	since    time.Time // the first failure after the last success; zero: none
	failures int
}

// Moved notes progress: Limit counts from here.
func (p *Patience) Moved() { p.since, p.failures = time.Time{}, 0 }

// Wait waits before another attempt and reports why. It returns err if the error will not pass, or has lasted too long.
func (p *Patience) Wait(ctx context.Context, err error) error {
	if !passing(err) || ctx.Err() != nil {
		return err
	}
	if p.since.IsZero() {
		p.since = time.Now()
	}
	left := p.Limit - time.Since(p.since)
	if left <= 0 {
		return fmt.Errorf("giving up after %s: %w", p.Limit, err)
	}
	fmt.Fprintf(p.Log, "waiting for Kafka, for at most %s: %v\n", left.Round(time.Second), err)
	pause := backoff.Exponential(500*time.Millisecond, 10*time.Second, p.failures)
	p.failures++
	if backoff.Wait(ctx, min(pause, left)) != nil {
		return err
	}
	return nil
}

// passing reports whether an error means that brokers are away, or elect a leader or coordinator, as opposed to a faulty request.
func passing(err error) bool {
	if code, ok := errors.AsType[*kerr.Error](err); ok {
		return code.Retriable
	}
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return code.Temporary()
	}
	_, unreachable := errors.AsType[net.Error](err)
	return unreachable || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// Attempts repeats an attempt until one succeeds or patience ends. Each returns how many records were there before it and how many it
// added. After an attempt to publish everything again, the next one resumes if anything was published.
func (p *Patience) Attempts(ctx context.Context, again bool,
	attempt func(again bool) (before, n int64, err error)) (before, n int64, err error) {
	for first := true; ; {
		at, added, err := attempt(again)
		if first && at+added > 0 {
			before, first = at, false
		}
		n = max(n, at+added-before)
		if err == nil {
			return before, n, nil
		}
		again = again && added == 0
		if again && errors.Is(err, errUnclearEnd) {
			return before, n, err // cannot distinguish what was published before from what is published again
		}
		if err := p.Wait(ctx, err); err != nil {
			return before, n, err
		}
	}
}
