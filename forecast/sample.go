package forecast

import (
	"context"
	"fmt"
	"iter"

	"brine/event"
)

// Sample is records to forecast from. It yields the same records in the same order whenever it is read.
type Sample interface {
	// read emits the records in blocks, in order, each record with its place.
	read(ctx context.Context, emit func(block) error) error
	// describe words a place.
	describe(place int64) string
}

// block is some records of a sample, for one worker.
type block struct {
	first   int64 // number of records before it, or a little more
	records iter.Seq2[int64, *event.Record]
}

// SampleError is an error of what was named as the sample, as a file that cannot be read.
type SampleError struct{ Err error }

func (e *SampleError) Error() string { return e.Err.Error() }
func (e *SampleError) Unwrap() error { return e.Err }

func badSample(format string, args ...any) error { return &SampleError{fmt.Errorf(format, args...)} }

// Each passes f the records of a sample, in order, until it returns an error, which Each returns then. A record lasts until f returns.
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
