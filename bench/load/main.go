// Command load compares our HBase client with HBase's own: bench/load/client beside bench/java, each a process of its own, against a
// real HBase that this run alone uses. `make bench-load` runs it; nothing imports it.
//
// Both write the same rows in each round, in alternating order, each into a new table of 16 regions with the write-ahead log on; two
// loads before the first round warm the server. It ends with one line per target, `name value target ok|short`, and exits with 1 when one is short.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	ours, theirs = "brine", "java"

	table      = "load"
	regions    = 16
	keyBytes   = 30
	valueBytes = 150
	threads    = 4 // of either client
)

// buffers is the write buffer of each of Java's mutators, by columns: what is best for it.
var buffers = map[int]int{4: 2 << 20, 1: 4 << 20}

type bench struct {
	rows, rounds int
	cluster      *measure.Cluster
	connect      string
	server       int
	admin        *hbase.Client
	client       string   // our loader
	flags        []string // for it
	report       *measure.Report
}

func main() {
	var b bench
	flag.IntVar(&b.rows, "rows", 2_000_000, "rows of a load")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds of each shape")
	heap := flag.String("heap", "4g", "heap of the HBase server")
	extra := flag.String("client", "", "flags for our loader, such as '-cpuprofile FILE'")
	flag.Parse()
	b.flags = strings.Fields(*extra)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, *heap); err != nil {
		fmt.Fprintln(os.Stderr, "bench-load:", err)
		stop()
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, heap string) (err error) {
	b.report = measure.NewReport("load")
	if b.cluster, err = measure.StartCluster(ctx, heap, "hbase"); err != nil {
		return err
	}
	defer b.cluster.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer func() { _ = b.admin.Close() }()
	for _, client := range []string{theirs, ours} {
		if err := b.load(ctx, client, 4, 0); err != nil {
			return err
		}
	}
	for round := 1; round <= b.rounds; round++ {
		order := []string{ours, theirs}
		if round%2 == 0 {
			slices.Reverse(order)
		}
		for _, columns := range []int{4, 1} {
			for _, client := range order {
				if err := b.load(ctx, client, columns, round); err != nil {
					return err
				}
			}
		}
	}
	b.judge()
	return b.report.Finish(b.text())
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.client, err = b.cluster.Build(ctx, "./bench/load/client"); err != nil {
		return err
	}
	if err := b.cluster.BuildJava(ctx); err != nil {
		return err
	}
	if b.connect, err = b.cluster.Address("BRINE_REAL_HBASE"); err != nil {
		return err
	}
	if b.server, err = b.cluster.PID("hbase"); err != nil {
		return err
	}
	b.admin, err = hbase.Open(ctx, hbase.Options{Connect: b.connect})
	return err
}

// load runs one client against a new table.
func (b *bench) load(ctx context.Context, client string, columns, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := b.renew(ctx); err != nil {
		return err
	}
	shape := measure.Shape{Table: table, Rows: b.rows, Columns: columns, KeyBytes: keyBytes, ValueBytes: valueBytes}
	cmd := b.ours(ctx, shape)
	if client == theirs {
		cmd = b.cluster.Java(ctx, b.connect, shape, threads, buffers[columns])
	}
	l, err := measure.Run(cmd, client, shape, b.server)
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-5s %d columns: %6.0f rows/s, client %5.2f µs/row, server %5.2f µs/row, %4.0f MiB\n",
		round, client, columns, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Peak())
	return b.check(ctx, columns)
}

func (b *bench) ours(ctx context.Context, s measure.Shape) *exec.Cmd {
	args := []string{"-connect", b.connect, "-table", s.Table, "-rows", strconv.Itoa(s.Rows), "-columns", strconv.Itoa(s.Columns),
		"-key-bytes", strconv.Itoa(s.KeyBytes), "-value-bytes", strconv.Itoa(s.ValueBytes), "-goroutines", strconv.Itoa(threads)}
	return exec.CommandContext(ctx, b.client, append(args, b.flags...)...)
}

// renew makes the table new and waits until the server has nothing left to do of the last one.
func (b *bench) renew(ctx context.Context) error {
	if err := measure.Drop(ctx, b.admin, table); err != nil {
		return err
	}
	var splits [][]byte
	for i := 1; i < regions; i++ {
		splits = append(splits, fmt.Appendf(nil, "%02x", i*256/regions))
	}
	family := hbase.Family{Name: "e", Values: map[string]string{"VERSIONS": "1"}}
	if err := b.admin.CreateTable(ctx, hbase.Table{Name: table, Families: []hbase.Family{family}}, splits); err != nil {
		return err
	}
	return measure.Pause(b.server)
}

// check counts: every row must be there with all its columns.
func (b *bench) check(ctx context.Context, columns int) error {
	n := 0
	for row, err := range b.admin.Scan(ctx, table, hbase.Scan{}) {
		if err != nil {
			return err
		}
		if len(row.Cells) != columns {
			return fmt.Errorf("row %q has %d columns, not %d", row.Row, len(row.Cells), columns)
		}
		n++
	}
	if n != b.rows {
		return fmt.Errorf("the table holds %d rows, not %d", n, b.rows)
	}
	return nil
}
