// Package hedge reads from a region and its replicas. It asks the region first and its replicas after a delay or as soon as the region has
// failed; the first answer counts. The caller gets at most one answer; the other calls end soon after.
package hedge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// Read is one read. It must not be reused.
type Read[T any] struct {
	Region  *locate.Region
	Delay   time.Duration
	Locator *locate.Locator // forgets wrong locations
	Go      func(func())    // starts a goroutine of the client

	// Call returns the call to the region or to a replica. The goroutine of Run calls it; the returned function runs in another goroutine and
	// must end soon after its context is done.
	Call func(at *locate.Region) func(context.Context) (T, error)

	Late func(at *locate.Region, answer T) // receives an answer that came too late; nil: drop it

	answers chan answer[T]
	pending int
	failed  error // error of the region, or of the replica that failed first
}

type answer[T any] struct {
	at    *locate.Region
	value T
	err   error
}

// Run returns the first answer and the region or replica that it came from. It then cancels the contexts of the other calls.
func (r *Read[T]) Run(ctx context.Context) (value T, at *locate.Region, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.answers = make(chan answer[T])
	timer := time.NewTimer(r.Delay)
	defer timer.Stop()
	ask, then := []*locate.Region{r.Region}, r.Region.Replicas
	if r.Region.Server == "" {
		ask, then, r.failed = then, nil, remote.ErrNoServer
	}
	for {
		r.begin(ctx, ask)
		ask = nil
		if r.pending == 0 && len(then) == 0 {
			return value, r.Region, r.failed
		}
		select {
		case a := <-r.answers:
			if r.pending--; a.err == nil {
				return a.value, a.at, nil
			}
			if r.note(a) {
				return value, a.at, a.err
			}
			ask, then = then, nil
		case <-timer.C:
			ask, then = then, nil
		case <-ctx.Done():
			return value, r.Region, r.interrupted(ctx)
		}
	}
}

func (r *Read[T]) begin(ctx context.Context, servers []*locate.Region) {
	for _, at := range servers {
		call := r.Call(at)
		r.pending++
		r.Go(func() {
			value, err := call(ctx)
			select {
			case r.answers <- answer[T]{at, value, err}:
			case <-ctx.Done():
				if err == nil && r.Late != nil {
					r.Late(at, value)
				}
			}
		})
	}
}

// note handles a failed call: it forgets a wrong location; locations of replicas are forgotten together with the region's. It reports
// whether asking the others is pointless because they would answer the same.
func (r *Read[T]) note(a answer[T]) (final bool) {
	d := remote.Diagnose(a.err)
	switch {
	case a.at == r.Region:
		r.Locator.Correct(r.Region, d)
		r.failed = a.err
		_, answered := errors.AsType[*remote.Exception](a.err)
		return answered && d.Final()
	case d.Remedy == remote.Relocate || d.Remedy == remote.Reconnect:
		r.Locator.Forget(r.Region)
	}
	if r.failed == nil {
		r.failed = a.err
	}
	return false
}

func (r *Read[T]) interrupted(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late := fmt.Errorf("neither it nor a replica answered in time: %w", ctx.Err())
		return &remote.ConnError{Server: r.Region.Server, Class: "timeout", Err: late}
	}
	return fmt.Errorf("neither %s nor a replica has answered yet: %w", r.Region.Server, context.Cause(ctx))
}
