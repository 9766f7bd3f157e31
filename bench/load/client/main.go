// Command client writes rows with package hbase and reports its time and cost. bench/load runs it in comparison with bench/java, which
// writes the same rows; nothing imports it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"brine/bench/measure"
	"brine/hbase"

	"golang.org/x/sync/errgroup"
)

type loader struct {
	rows
	connect, table string
	n              int
	writers        int
	batch          int
	window         int
}

func main() {
	l := loader{}
	flag.StringVar(&l.connect, "connect", "", "rpc://host:port of the master")
	flag.StringVar(&l.table, "table", "", "table, with the family e")
	flag.IntVar(&l.n, "rows", 2_000_000, "rows")
	flag.IntVar(&l.columns, "columns", 4, "columns of a row")
	flag.IntVar(&l.keyBytes, "key-bytes", 30, "length of a key")
	flag.IntVar(&l.valueBytes, "value-bytes", 150, "bytes of all values of a row")
	flag.IntVar(&l.writers, "goroutines", 4, "goroutines that submit")
	flag.IntVar(&l.batch, "batch", 1000, "rows of a batch")
	flag.IntVar(&l.window, "window", 2, "batches of a goroutine that may be on their way")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := l.main(*profile); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func (l *loader) main(profile string) (err error) {
	if l.keyBytes < minKeyBytes || l.keyBytes > maxKeyBytes {
		return fmt.Errorf("-key-bytes is %d, must be from %d to %d", l.keyBytes, minKeyBytes, maxKeyBytes)
	}
	stop, err := measure.Profile(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	ctx := context.Background()
	c, err := hbase.Open(ctx, hbase.Options{Connect: l.connect})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing is left to fail
	if _, err := c.Regions(ctx, l.table); err != nil {
		return err
	}
	l.fill()
	return measure.Say(func() error { return l.run(ctx, c) })
}

// run loads all rows.
func (l *loader) run(ctx context.Context, c *hbase.Client) error {
	g, ctx := errgroup.WithContext(ctx)
	for w := range l.writers {
		g.Go(func() error { return l.write(ctx, c, l.n*w/l.writers, l.n*(w+1)/l.writers) })
	}
	return g.Wait()
}

// write loads rows from (inclusive) to (exclusive): it fills a batch while window others are pending.
func (l *loader) write(ctx context.Context, c *hbase.Client, from, to int) error {
	batches := make([]*hbase.Batch, l.window+1)
	flights := make([]*hbase.Flight, len(batches))
	for i := range batches {
		batches[i] = hbase.NewBatch(l.table)
	}
	for turn := 0; from < to; turn = (turn + 1) % len(batches) {
		if err := landed(ctx, flights[turn]); err != nil {
			return err
		}
		b := batches[turn]
		b.Reset(l.table)
		for ; from < to && b.Len() < l.batch; from++ {
			l.add(b, from)
		}
		flights[turn] = c.Submit(ctx, b)
	}
	for _, f := range flights {
		if err := landed(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// landed waits for a flight, all of whose mutations must be durable.
func landed(ctx context.Context, f *hbase.Flight) error {
	if f == nil {
		return nil
	}
	failed, err := f.Wait(ctx)
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("%d mutations failed, the first with: %w", len(failed), failed[0].Err)
	}
	return err
}
