// Command client writes documents with brine's indexer and reports its time and cost. bench/index runs it in comparison with
// bench/index/peer, which writes the same documents; nothing imports it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"brine/bench/index/orders"
	"brine/bench/measure"
	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
)

const (
	batch  = 1000 // events; read.max_batch_records
	window = 8    // pending batches; read.window
)

func main() {
	address := flag.String("address", "", "http://host:port")
	n := flag.Int("documents", 200_000, "changes")
	changes := flag.String("changes", "whole", "whole or partial")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := run(*address, *n, indexer.Changes(*changes), *profile); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func run(address string, n int, changes indexer.Changes, profile string) (err error) {
	stop, err := measure.Profile(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	engine, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas})
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }() // nothing is left to fail
	opts, err := orders.Options(changes)
	if err != nil {
		return err
	}
	w, err := indexer.New(engine, opts)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // everything has landed
	return measure.Say(func() error { return load(context.Background(), w, changes, n) })
}

// load writes all changes.
func load(ctx context.Context, w *indexer.Writer, changes indexer.Changes, n int) error {
	var flights [window]event.Flight
	for from, turn := 0, 0; from < n; from, turn = from+batch, (turn+1)%window {
		if err := landed(ctx, flights[turn]); err != nil {
			return err
		}
		b := &event.Batch{}
		for i := from; i < min(from+batch, n); i++ {
			b.Events = append(b.Events, orders.Event(changes, i, n))
		}
		flights[turn] = w.Submit(ctx, b)
	}
	for _, f := range flights {
		if err := landed(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// landed waits for a flight, all of whose documents must be durable.
func landed(ctx context.Context, f event.Flight) error {
	if f == nil {
		return nil
	}
	failures, err := event.Settle(ctx, f)
	if err == nil && len(failures) > 0 {
		err = fmt.Errorf("%d documents failed, the first with: %w", len(failures), failures[0].Err)
	}
	return err
}
