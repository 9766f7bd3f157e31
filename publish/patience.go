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

// MaxWait is how long a publishing waits for brokers, from the last record that was published.
const MaxWait = 5 * time.Minute

// Patience bounds how often and for how long what failed is begun again. It says on Log what is waited for.
type Patience struct {
	Limit time.Duration
	Log   io.Writer

	since    time.Time // of the first failure after the last success; zero: there is none
	failures int
}

// Moved says that something was done: Limit counts from here.
func (p *Patience) Moved() { p.since, p.failures = time.Time{}, 0 }

// Wait waits before another try, and says for what. It returns err if that will not pass, or took too long to.
func (p *Patience) Wait(ctx context.Context, err error) error {
	if !passing(err) || ctx.Err() != nil {
		return err
	}
	if p.since.IsZero() {
		p.since = time.Now()
	}
	left := p.Limit - time.Since(p.since)
	if left <= 0 {
		return fmt.Errorf("given up after %s: %w", p.Limit, err)
	}
	fmt.Fprintf(p.Log, "waiting for Kafka, for %s at most: %v\n", left.Round(time.Second), err)
	pause := backoff.Exponential(500*time.Millisecond, 10*time.Second, p.failures)
	p.failures++
	if backoff.Wait(ctx, min(pause, left)) != nil {
		return err
	}
	return nil
}

// passing reports whether an error is of brokers that are away or elect a leader or coordinator, not of what was asked of them.
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

// Attempts makes attempts until one succeeds or patience ends. Each returns how many records were there before it and how many it added. An
// attempt that publishes everything again is followed by one that goes on, if anything was published.
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
			return before, n, err // what was published before and what is published again cannot be distinguished
		}
		if err := p.Wait(ctx, err); err != nil {
			return before, n, err
		}
	}
}
