package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"brine/event"
	"brine/ingest"
)

// How much all clients ask a broker for at a time, and how long it may wait for more: brine's defaults.
const (
	fetchBytes = 1 << 20
	maxWait    = 500 * time.Millisecond
)

// clients read a topic to its end.
var clients = map[string]func(context.Context, topic) error{
	"brine": loop, "kafka-go-reader": readers, "kafka-go-fetch": fetches,
}

// scans is the schema of a scan in examples/scans.yaml.
var scans = event.Schema{Version: 1, Fields: []event.Field{
	{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text},
	{Name: "action", Type: event.Text}, {Name: "courier", Type: event.Text},
}}

// nothing is a writer and a flight that is settled at once.
type nothing struct{}

func (nothing) Submit(context.Context, *event.Batch) event.Flight { return event.Done(nil) }
func (nothing) Release()                                          {}
func (nothing) Hurry()                                            {}

// loop is brine's loop, in its own group, until all records are settled. It fails if a record cannot be decoded.
func loop(ctx context.Context, t topic) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := errors.New("done")
	var settled, decoded atomic.Int64
	err := ingest.Run(ctx, ingest.Options{
		Kafka: ingest.Kafka{Brokers: []string{t.broker}}, Topic: t.name, Group: fmt.Sprint("bench-", os.Getpid()), Schema: scans,
		Writer: nothing{}, MaxFetchBytes: fetchBytes, Logger: slog.New(slog.DiscardHandler),
		Hooks: ingest.Hooks{
			Decoded: func(i ingest.DecodedInfo) { decoded.Add(int64(i.Events)) },
			Settled: func(i ingest.SettledInfo) {
				if settled.Add(int64(i.Records)) == t.records {
					stop(done)
				}
			},
		},
	})
	if err == nil && (!errors.Is(context.Cause(ctx), done) || decoded.Load() != t.records) {
		err = fmt.Errorf("%d records settled, %d decoded, expected %d", settled.Load(), decoded.Load(), t.records)
	}
	return err
}

// readers uses one kafka-go Reader per partition.
func readers(ctx context.Context, t topic) error {
	return each(ctx, t, func(ctx context.Context, partition int, count func(int64) bool) error {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{t.broker}, Topic: t.name, Partition: partition, MinBytes: 1,
			MaxBytes: fetchBytes, QueueCapacity: 1000, MaxWait: maxWait}) // Close waits for a fetch
		for {
			if _, err := r.ReadMessage(ctx); err != nil || count(1) {
				return errors.Join(unlessDone(ctx, err), r.Close())
			}
		}
	})
}

// fetches uses kafka-go's lower level: one fetch after another per partition, and reads the bytes of each key and value.
func fetches(ctx context.Context, t topic) error {
	client := &kafka.Client{Addr: kafka.TCP(t.broker)}
	return each(ctx, t, func(ctx context.Context, partition int, count func(int64) bool) error {
		var buf []byte
		for offset := int64(0); ; {
			r, err := client.Fetch(ctx, &kafka.FetchRequest{Topic: t.name, Partition: partition, Offset: offset, MinBytes: 1, MaxBytes: fetchBytes,
				MaxWait: maxWait})
			if err == nil {
				err = r.Error
			}
			if err != nil {
				return unlessDone(ctx, err)
			}
			for n := int64(0); ; n++ {
				record, err := r.Records.ReadRecord()
				if errors.Is(err, io.EOF) {
					if count(n) {
						return nil
					}
					break
				}
				if err != nil {
					return unlessDone(ctx, err)
				}
				offset = record.Offset + 1
				for _, b := range []kafka.Bytes{record.Key, record.Value} {
					if b == nil {
						continue
					}
					if buf, err = read(buf, b); err != nil {
						return err
					}
				}
			}
		}
	})
}

func read(buf []byte, b kafka.Bytes) ([]byte, error) {
	if cap(buf) < b.Len() {
		buf = make([]byte, b.Len())
	}
	_, err := io.ReadFull(b, buf[:b.Len()])
	return buf, errors.Join(err, b.Close())
}

// each reads all partitions concurrently until all records were counted.
func each(ctx context.Context, t topic, read func(ctx context.Context, partition int, count func(int64) bool) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var counted atomic.Int64
	count := func(n int64) bool {
		done := counted.Add(n) >= t.records
		if done {
			stop()
		}
		return done
	}
	var g errgroup.Group
	for partition := range t.partitions {
		g.Go(func() error { return read(ctx, partition, count) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if n := counted.Load(); n != t.records {
		return fmt.Errorf("%d records read, expected %d", n, t.records)
	}
	return nil
}

// unlessDone ignores the error of a read that was cancelled because all records are counted.
func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
