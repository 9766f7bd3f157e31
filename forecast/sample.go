package forecast

import (
	"context"
	"fmt"
	"iter"

	"brine/event"
)

// Sample is the records to forecast from. It yields the same records in the same order on every reading.
type Sample interface {
	// read emits the records in blocks, in order, each record with its place.
	read(ctx context.Context, emit func(block) error) error
	// describe formats a place.
	describe(place int64) string
}

// block is some records of a sample, for one worker.
type block struct {
	first   int64 // the number of records before it, or slightly more
	records iter.Seq2[int64, *event.Record]
}

// SampleError is an error in the named sample, such as a file that cannot be read.
type SampleError struct{ Err error }

func (e *SampleError) Error() string { return e.Err.Error() }
func (e *SampleError) Unwrap() error { return e.Err }

func badSample(format string, args ...any) error { return &SampleError{fmt.Errorf(format, args...)} }

// Each calls f with the records of a sample, in order, until f returns an error, which Each then returns. A record is valid until f
// returns.
func Each(ctx context.Context, s Sample, f func(*event.Record) error) error {
	return s.read(ctx, func(b block) error {
		for _, rec := range b.records {
			if err := f(rec); err != nil {
				return err
			}
		}
		return nil
	})
}
