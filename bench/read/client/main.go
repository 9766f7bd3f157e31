// Command client reads rows with package hbase and reports its time and cost. bench/read runs it in comparison with bench/java/Reads.java,
// which reads the same rows; nothing imports it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"brine/bench/measure"
	"brine/hbase"

	"golang.org/x/sync/errgroup"
)

type reader struct {
	c              *hbase.Client
	connect, table string
	rows, columns  int
	keyBytes       int
	goroutines     int
	count          int
}

func main() {
	r := reader{}
	flag.StringVar(&r.connect, "connect", "", "rpc://host:port of the master")
	flag.StringVar(&r.table, "table", "", "table")
	flag.IntVar(&r.rows, "rows", 1_000_000, "rows of the table")
	flag.IntVar(&r.columns, "columns", 4, "columns of a row")
	flag.IntVar(&r.keyBytes, "key-bytes", 30, "length of a key")
	flag.IntVar(&r.goroutines, "goroutines", 4, "goroutines that read")
	flag.IntVar(&r.count, "count", 100_000, "gets in all")
	kind := flag.String("kind", "get", "get or scan")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := r.main(*kind, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func (r *reader) main(kind, profile string) (err error) {
	ctx := context.Background()
	if r.c, err = hbase.Open(ctx, hbase.Options{Connect: r.connect}); err != nil {
		return err
	}
	defer func() { _ = r.c.Close() }() // nothing is left to fail
	if _, err := r.c.Warm(ctx, r.table); err != nil {
		return err
	}
	run := r.gets
	if kind == "scan" {
		run = r.scans
	}
	if _, err := run(ctx, true); err != nil {
		return err
	}
	stop, err := measure.Profile(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return measure.SayTimes(func() (measure.Milliseconds, error) { return run(ctx, false) })
}

// gets reads random rows and returns the time of each, or only a tenth of them to warm up.
func (r *reader) gets(ctx context.Context, warming bool) (measure.Milliseconds, error) {
	n, seed := r.count/r.goroutines, uint64(1)
	if warming {
		n, seed = n/10, 2
	}
	times := make([]measure.Milliseconds, r.goroutines)
	g, ctx := errgroup.WithContext(ctx)
	for w := range r.goroutines {
		g.Go(func() error {
			times[w] = make(measure.Milliseconds, 0, n)
			return r.get(ctx, rand.New(rand.NewPCG(seed, uint64(w))), n, &times[w])
		})
	}
	err := g.Wait()
	return slices.Concat(times...), err
}

func (r *reader) get(ctx context.Context, random *rand.Rand, n int, times *measure.Milliseconds) error {
	key := make([]byte, r.keyBytes)
	for range n {
		measure.FillKey(key, random.IntN(r.rows))
		start := time.Now()
		row, err := r.c.Get(ctx, r.table, hbase.Get{Row: key})
		if err != nil {
			return err
		}
		times.Add(time.Since(start))
		if len(row.Cells) != r.columns {
			return fmt.Errorf("row %q has %d columns, not %d", key, len(row.Cells), r.columns)
		}
	}
	return nil
}

// scans reads the whole table, with each goroutine a part of it, or only four of 64 prefixes of each part to warm up.
func (r *reader) scans(ctx context.Context, warming bool) (measure.Milliseconds, error) {
	var seen atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for w := range r.goroutines {
		from, to := 256*w/r.goroutines, 256*(w+1)/r.goroutines
		if warming {
			to = from + 4
		}
		g.Go(func() error {
			n, err := r.scan(ctx, from, to)
			seen.Add(n)
			return err
		})
	}
	err := g.Wait()
	if err == nil && !warming && seen.Load() != int64(r.rows) {
		err = fmt.Errorf("the scans found %d rows, not %d", seen.Load(), r.rows)
	}
	return nil, err
}

func (r *reader) scan(ctx context.Context, from, to int) (n int64, err error) {
	s := hbase.Scan{Start: fmt.Appendf(nil, "%02x", from)}
	if to < 256 {
		s.Stop = fmt.Appendf(nil, "%02x", to)
	}
	for row, err := range r.c.Scan(ctx, r.table, s) {
		if err != nil {
			return n, err
		}
		if len(row.Cells) != r.columns {
			return n, fmt.Errorf("row %q has %d columns, not %d", row.Row, len(row.Cells), r.columns)
		}
		n++
	}
	return n, nil
}
