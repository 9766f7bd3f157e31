package broker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Fetcher fetches one partition and adapts the size of its requests to what arrives. Only one goroutine at a time may use it.
type Fetcher struct {
	Topic     string
	Partition int
	Until     int64 // the offset to end before; −1: none
	Aim       int64 // approximate memory in bytes for the records of one fetch
	Largest   int64 // the most bytes to request, for a record batch larger than Aim
	Answer    int64 // bytes by which an answer may exceed the request because of its last batch; at least 0

	cluster *Cluster
	ask     int64   // bytes to request next
	ratio   float64 // bytes in memory per byte fetched, at least 1
}

// ErrMore means that not even one record batch fitted. The next Fetch requests twice as much.
var ErrMore = errors.New("the record batch is larger than the fetch limit")

// Fetcher completes a fetcher. Its first requests are small.
func (c *Cluster) Fetcher(f Fetcher) *Fetcher {
	f.cluster, f.ask, f.ratio = c, MinFetchBytes, 1
	return &f
}

// Needs returns the approximate memory in bytes that the next Fetch takes.
func (f *Fetcher) Needs() int64 { return int64(float64(f.ask) * f.ratio) }

// Fetch makes one fetch. A chunk whose Next is offset means that there is nothing yet. An error is ErrMore, ErrOutOfRange, or temporary.
func (f *Fetcher) Fetch(ctx context.Context, offset int64) (*Chunk, error) {
	ctx, cancel := context.WithTimeout(ctx, FetchMaxWait+f.cluster.timeout)
	defer cancel()
	c, began := NewChunk(f.Topic, f.Partition), time.Now()
	m, err := f.cluster.RoundTrip(ctx, f.cluster.client.Addr, &fetchCall{
		topic: f.Topic, partition: f.Partition, offset: offset, maxBytes: int32(f.ask), client: f.cluster.kafka.ClientID, into: c,
		limit: max(f.ask, f.Answer) + spareAnswerBytes,
	})
	if err != nil {
		return nil, err // the call may still write to c: it is not reused
	}
	answer := m.(*fetchAnswer)
	c.Took = time.Since(began)
	if err := c.take(answer, offset, f.Until); err != nil {
		c.Release()
		return nil, err
	}
	asked := f.ask
	f.learn(c)
	if c.Next > offset || c.Sent == 0 {
		return c, nil
	}
	c.Release()
	if asked >= f.Largest {
		return nil, fmt.Errorf("no whole record batch at offset %d within %d bytes", offset, asked)
	}
	f.ask = min(2*asked, f.Largest)
	return nil, ErrMore
}

// learn adapts the size of the next fetch: larger when answers come full, smaller when they do not, and such that the memory of a fetch
// stays within Aim.
func (f *Fetcher) learn(c *Chunk) {
	if c.Sent > 0 {
		f.ratio = max(1, float64(c.Cost)/float64(c.Sent))
	}
	switch {
	case int64(c.Sent) >= f.ask/2:
		f.ask *= 2
	case int64(c.Sent) < f.ask/8:
		f.ask /= 2
	}
	f.ask = max(MinFetchBytes, min(f.ask, int64(float64(f.Aim)/f.ratio)))
}
