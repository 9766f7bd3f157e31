package broker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Fetcher fetches one partition, and adapts how much it asks for to what comes. One goroutine at a time uses it.
type Fetcher struct {
	Topic     string
	Partition int
	Until     int64 // the offset to end before; −1: none
	Aim       int64 // bytes that the records of one fetch are to take in memory, about
	Largest   int64 // bytes that are asked for at most, for a record batch that is larger than Aim
	Answer    int64 // bytes that an answer may have beyond what was asked for because of its last batch; at least 0

	cluster *Cluster
	ask     int64   // bytes asked for next
	ratio   float64 // bytes in memory per byte fetched, at least 1
}

// ErrMore says that not even one record batch fitted: the next Fetch asks for twice as much.
var ErrMore = errors.New("the record batch is larger than what was asked for")

// Fetcher completes a fetcher. It begins with few bytes.
func (c *Cluster) Fetcher(f Fetcher) *Fetcher {
	f.cluster, f.ask, f.ratio = c, MinFetchBytes, 1
	return &f
}

// Needs is how much memory the next Fetch takes, about, in bytes.
func (f *Fetcher) Needs() int64 { return int64(float64(f.ask) * f.ratio) }

// Fetch makes one fetch. A chunk whose Next is offset says that there is nothing yet. An error is ErrMore, ErrOutOfRange, or passes.
func (f *Fetcher) Fetch(ctx context.Context, offset int64) (*Chunk, error) {
	ctx, cancel := context.WithTimeout(ctx, FetchMaxWait+f.cluster.timeout)
	defer cancel()
	c, began := NewChunk(f.Topic, f.Partition), time.Now()
	m, err := f.cluster.RoundTrip(ctx, f.cluster.client.Addr, &fetchCall{
		topic: f.Topic, partition: f.Partition, offset: offset, maxBytes: int32(f.ask), client: f.cluster.kafka.ClientID, into: c,
		limit: max(f.ask, f.Answer) + spareAnswerBytes,
	})
	if err != nil {
		return nil, err // c may still be written to by the call: it is not used again
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

// learn adapts the size of the next fetch: more when answers come full, less when they do not, and so that what a fetch
// becomes in memory stays within Aim.
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
