package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/time/rate"

	"brine/internal/backoff"
)

// Transactions publishes a fixed sequence of records in transactions. Each one commits, together with its records, how many have been
// published, as the group's offset of partition 0, with a digest of them. So the committed records and the stored progress always agree,
// whatever else is published there and whenever the process ends.
type Transactions struct {
	Topic string
	Name  string        // of the transactions and the group
	Limit *rate.Limiter // nil: none
	Sent  func(n int64) // called after each transaction; nil: no call

	client *kgo.Client
	batch  int64     // most records in one transaction; 0: txnRecords
	began  time.Time // start of the open transaction; zero: none is open
	fault  error     // of its first record that failed
	open   int64     // number of records in it
}

// A transaction is short, because readers of committed records see nothing after its first record until it ends.
const (
	txnTime    = 200 * time.Millisecond
	txnRecords = 20_000
	txnTimeout = 30 * time.Second // after which brokers abort the transaction of a process that is gone
)

// errUnclearEnd means that a transaction may or may not have been committed. Only reading the progress again shows which.
var errUnclearEnd = errors.New("the end of a transaction")

var (
	// ErrOtherRecords means that other records were published under the name.
	ErrOtherRecords = errors.New("other records were published under this name")
	// ErrOptions means that no client can be made of the options.
	ErrOptions = errors.New("kafka")
)

// Publish appends the records that are not there yet, and returns how many were there and how many it added. If ctx ends, it first commits
// what is pending.
func (p *Transactions) Publish(ctx context.Context, o Options, records iter.Seq2[Record, error], again bool) (before, n int64, err error) {
	if p.client, err = newClient(&o, p.Name); err != nil {
		return 0, 0, err
	}
	defer p.client.Close()
	return p.publish(ctx, records, again)
}

func (p *Transactions) publish(ctx context.Context, records iter.Seq2[Record, error], again bool) (before, n int64, err error) {
	if _, _, err := p.client.ProducerID(ctx); err != nil { // ends the transaction of an earlier process
		return 0, 0, fmt.Errorf("beginning transactions: %w", err)
	}
	digest := ""
	if !again {
		if before, digest, err = p.progress(ctx); err != nil {
			return 0, 0, err
		}
	}
	sum, at := sha256.New(), int64(0)
	for r, err := range records {
		if err != nil {
			return before, at - before - p.open, errors.Join(err, p.abort())
		}
		if at < before {
			feed(sum, r)
			if at++; at == before && digestOf(sum) != digest {
				return before, 0, ErrOtherRecords
			}
			continue
		}
		if err := p.pace(ctx, at, sum); err != nil {
			return before, at - before - p.open, err
		}
		feed(sum, r) // now, because what pace commits is without it
		at++
		p.put(ctx, r)
		if p.open == cmp.Or(p.batch, txnRecords) || time.Since(p.began) >= txnTime || p.fault != nil || ctx.Err() != nil {
			if err := p.commit(at, sum); err != nil {
				return before, at - before - p.open, err
			}
		}
		if ctx.Err() != nil {
			return before, at - before, ctx.Err()
		}
	}
	if at < before {
		return before, 0, ErrOtherRecords
	}
	return before, at - before, p.commit(at, sum)
}

// feed adds a record to the digest.
func feed(sum hash.Hash, r Record) {
	for _, b := range [][]byte{r.Key, r.Value} {
		sum.Write(binary.AppendUvarint(nil, uint64(len(b))))
		sum.Write(b)
	}
}

func digestOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:16]) }

// pace waits until the rate allows another record. It commits an open transaction that would stay open for too long.
func (p *Transactions) pace(ctx context.Context, at int64, sum hash.Hash) error {
	if p.Limit == nil {
		return nil
	}
	delay := p.Limit.Reserve().Delay()
	if delay == 0 {
		return nil
	}
	if !p.began.IsZero() && time.Since(p.began)+delay > txnTime {
		if err := p.commit(at, sum); err != nil {
			return err
		}
	}
	if backoff.Wait(ctx, delay) != nil {
		return errors.Join(ctx.Err(), p.commit(at, sum))
	}
	return nil
}

// put hands a record to the client, within a transaction.
func (p *Transactions) put(ctx context.Context, r Record) {
	if p.began.IsZero() {
		p.began, p.fault, p.open = time.Now(), p.client.BeginTransaction(), 0
	}
	p.open++
	rec := &kgo.Record{Topic: p.Topic, Key: r.Key, Value: r.Value, Timestamp: r.Time}
	p.client.Produce(context.WithoutCancel(ctx), rec, func(_ *kgo.Record, err error) {
		if err != nil && p.fault == nil {
			p.fault = err // checked after a flush
		}
	})
}

// commit ends the open transaction, if there is one: its records and the progress at are stored together or not at all.
func (p *Transactions) commit(at int64, sum hash.Hash) error {
	if p.began.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), txnTimeout)
	defer cancel()
	err := p.client.Flush(ctx)
	if err = errors.Join(err, p.fault); err == nil {
		err = p.remember(ctx, at, digestOf(sum))
	}
	if err != nil {
		return errors.Join(err, p.abort())
	}
	if err := p.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("%w: %w", errUnclearEnd, err)
	}
	n := p.open
	p.began, p.open = time.Time{}, 0
	if p.Sent != nil {
		p.Sent(n)
	}
	return nil
}

// abort undoes the open transaction.
func (p *Transactions) abort() error {
	if p.began.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), txnTimeout)
	defer cancel()
	p.began = time.Time{}
	if err := p.client.AbortBufferedRecords(ctx); err != nil {
		return err
	}
	return p.client.EndTransaction(ctx, kgo.TryAbort)
}
