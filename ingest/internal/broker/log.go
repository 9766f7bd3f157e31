package broker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"brine/event"
	"brine/internal/backoff"
)

// logAim is roughly how much memory one fetch of a range should take.
const logAim = 1 << 20

// Records reads the records of one partition at offsets from up to, but not including, to, without those of aborted transactions. It skips
// what has left the log. It retries failed requests until nothing has arrived for the request timeout. A record is valid until the next.
func (c *Cluster) Records(ctx context.Context, topic string, partition int, from, to int64) iter.Seq2[*event.Record, error] {
	return func(yield func(*event.Record, error) bool) {
		f := c.Fetcher(Fetcher{Topic: topic, Partition: partition, Until: to, Aim: logAim, Largest: MaxFetchBytes})
		pauses, came := backoff.Pauses{Base: 50 * time.Millisecond, Limit: time.Second}, time.Now()
		for from < to {
			chunk, err := f.Fetch(ctx, from)
			switch {
			case errors.Is(err, ErrMore):
				continue
			case errors.Is(err, ErrOutOfRange):
				if from, err = c.pastGap(ctx, topic, partition, from, to); err == nil {
					continue
				}
			case err == nil && chunk.Next == from:
				chunk.Release()
				err = errNothingCame
			}
			if err != nil {
				if ctx.Err() == nil && time.Since(came) < c.timeout && pauses.Wait(ctx) == nil {
					continue
				}
				yield(nil, fmt.Errorf("topic %q, partition %d, offset %d: %w", topic, partition, from, errors.Join(ctx.Err(), err)))
				return
			}
			if !chunk.each(yield) {
				return
			}
			from, came, pauses.Failures = chunk.Next, time.Now(), 0
			chunk.Release()
		}
	}
}

var errNothingCame = errors.New("no records arrived")

// each yields the chunk's records. It releases the chunk if no more are wanted.
func (c *Chunk) each(yield func(*event.Record, error) bool) bool {
	for i := range c.Records {
		if !yield(&c.Records[i], nil) {
			c.Release()
			return false
		}
	}
	return true
}

// pastGap returns where to continue when offsets have left the log since the range was requested.
func (c *Cluster) pastGap(ctx context.Context, topic string, partition int, from, to int64) (int64, error) {
	low, _, err := c.Ends(ctx, topic, partition)
	switch {
	case err != nil:
		return from, err
	case low <= from:
		return from, ErrOutOfRange // the brokers do not agree yet
	}
	return min(low, to), nil
}

// TimeAt returns the timestamp in ms of the first record at or after an offset; found is false if there is none yet.
func (c *Cluster) TimeAt(ctx context.Context, topic string, partition int, offset int64) (ms int64, found bool, err error) {
	f := c.Fetcher(Fetcher{Topic: topic, Partition: partition, Until: -1, Aim: MinFetchBytes, Largest: MaxFetchBytes})
	for {
		chunk, err := f.Fetch(ctx, offset)
		switch {
		case errors.Is(err, ErrMore):
			continue
		case err != nil:
			return 0, false, err
		}
		if found = len(chunk.Records) > 0; found {
			ms = chunk.Records[0].Timestamp
		}
		empty := chunk.Next == offset
		offset = chunk.Next
		chunk.Release()
		if found || empty {
			return ms, found, nil
		}
	}
}

// BytesPerOffset estimates the bytes of keys and values, uncompressed, per offset in a range of a partition, from its first records. It
// returns 0 if they cannot be read: an estimate is not worth an error.
func (c *Cluster) BytesPerOffset(ctx context.Context, topic string, partition int, from, to int64) float64 {
	if from >= to {
		return 0
	}
	f := c.Fetcher(Fetcher{Topic: topic, Partition: partition, Until: to, Aim: MinFetchBytes, Largest: MaxFetchBytes})
	chunk, err := f.Fetch(ctx, from)
	for errors.Is(err, ErrMore) {
		chunk, err = f.Fetch(ctx, from)
	}
	if err != nil {
		return 0
	}
	defer chunk.Release()
	bytes := 0
	for i := range chunk.Records {
		bytes += len(chunk.Records[i].Key) + len(chunk.Records[i].Value)
	}
	return float64(bytes) / float64(max(1, chunk.Next-from))
}
