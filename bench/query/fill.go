package query

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"time"

	"brine/bench/measure"
	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/internal/sample"
	"brine/sink"
)

const (
	fillBatch  = 1000
	fillWindow = 8
)

// fill decodes events as the pipeline does, and writes them with the pipeline's own writer.
func fill(ctx context.Context, schema event.Schema, to event.Writer, lines iter.Seq2[[]byte, error]) (n int, err error) {
	decoder := event.NewDecoder(schema)
	var flights []event.Flight
	settle := func(keep int) error {
		for len(flights) > keep {
			failed, err := event.Settle(ctx, flights[0])
			if err == nil && len(failed) > 0 {
				err = fmt.Errorf("%d events of a batch: %w", len(failed), failed[0].Err)
			}
			if err != nil {
				return err
			}
			flights = flights[1:]
		}
		return nil
	}
	b := &event.Batch{}
	submit := func() error {
		flights = append(flights, to.Submit(ctx, b))
		decoder.Reset(b)
		return settle(fillWindow)
	}
	for line, err := range lines {
		if err != nil {
			return n, err
		}
		if err := decoder.Decode(&event.Record{Value: line, Timestamp: time.Now().UnixMilli()}, b); err != nil {
			return n, err
		}
		if n++; len(b.Events) == fillBatch {
			if err := submit(); err != nil {
				return n, err
			}
		}
	}
	if err := submit(); err != nil {
		return n, err
	}
	return n, settle(0)
}

// rows returns a writer of a pipeline's rows.
func (b *bench) rows(p *config.Pipeline) (*sink.Sink, error) {
	mutator, err := b.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		return nil, err
	}
	return sink.New(sink.HBase(mutator), p.Sink())
}

// fillScans writes the scan events, and returns some of their waybills.
func (b *bench) fillScans(ctx context.Context) (waybills []string, err error) {
	file := b.Path("scans.jsonl")
	if err := measure.WriteScans(file, b.events); err != nil {
		return nil, err
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := b.cfg.Pipeline("scans")
	to, err := b.rows(p)
	if err != nil {
		return nil, err
	}
	every := max(1, b.events/50_000)
	lines := func(yield func([]byte, error) bool) {
		scanner := bufio.NewScanner(in)
		for n := 0; scanner.Scan(); n++ {
			line := append([]byte(nil), scanner.Bytes()...)
			if n%every == 0 {
				waybills = append(waybills, text(line, "waybill"))
			}
			if !yield(line, nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, err)
		}
	}
	b.detail.Events, err = fill(ctx, p.Schema(), to, lines)
	return waybills, err
}

const ordersFile = "data/orders.jsonl.gz" // of `make data`

// changes yields the first changes of orders.
func (b *bench) changes(yield func([]byte, error) bool) {
	file, err := os.Open(ordersFile)
	if err != nil {
		yield(nil, fmt.Errorf("%w (`make data` brings it)", err))
		return
	}
	defer file.Close()
	n := 0
	for line, err := range sample.Read(file) {
		if n++; n > b.orders || !yield(line, err) || err != nil {
			return
		}
	}
}

// fillOrders writes the rows and documents of the orders.
func (b *bench) fillOrders(ctx context.Context) error {
	p := b.cfg.Pipeline("orders")
	rows, err := b.rows(p)
	if err != nil {
		return err
	}
	if b.detail.Orders, err = fill(ctx, p.Schema(), rows, b.changes); err != nil {
		return err
	}
	docs, err := indexer.New(b.engine, p.Indexer())
	if err != nil {
		return err
	}
	defer func() { _ = docs.Close() }() // everything is settled
	began := time.Now()
	n, err := fill(ctx, p.Schema(), docs, b.changes)
	b.detail.FullRate = float64(n) / time.Since(began).Seconds()
	if err != nil {
		return err
	}
	return b.engine.Refresh(ctx, ordersIndex)
}
