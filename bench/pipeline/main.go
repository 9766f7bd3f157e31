// Command pipeline measures the whole of brine, from a real Kafka to a real HBase, beside HBase's own Java client, which writes as many
// rows of the same shape without Kafka. `make bench-pipeline` runs it; nothing imports it.
//
// brine runs as a user runs it: the built binary with examples/scans.yaml, a new group in each round. The order alternates, two
// loads before the first round warm the server. It ends with one line per target, `name value target ok|short`, and exits with 1 when one is short.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	ours, theirs = "brine", "java"

	configuration = "examples/scans.yaml"
	table         = "logistics:scans" // its
	topic         = "courier.scans"   // its
	listen        = "127.0.0.1:0"
	columns       = 3 // its
	threads       = 4 // of Java
	buffer        = 2 << 20
)

type bench struct {
	events, rounds int
	cluster        *measure.Cluster
	kafka, connect string // addresses
	server         int    // HBase's process
	admin          *hbase.Client
	brine          string // our binary
	shape          measure.Shape
	report         *measure.Report
}

func main() {
	var b bench
	flag.IntVar(&b.events, "events", 2_000_000, "events of a load")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds")
	heap := flag.String("heap", "4g", "heap of the HBase server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, *heap); err != nil {
		fmt.Fprintln(os.Stderr, "bench-pipeline:", err)
		stop()
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, heap string) (err error) {
	b.report = measure.NewReport("pipeline")
	if b.cluster, err = measure.StartCluster(ctx, heap, "kafka", "hbase"); err != nil {
		return err
	}
	defer b.cluster.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer func() { _ = b.admin.Close() }()
	if err := b.load(ctx, ours, 0); err != nil {
		return err
	}
	if b.shape, err = b.shapeOf(ctx); err != nil {
		return err
	}
	if err := b.load(ctx, theirs, 0); err != nil {
		return err
	}
	for round := 1; round <= b.rounds; round++ {
		order := []string{ours, theirs}
		if round%2 == 0 {
			slices.Reverse(order)
		}
		for _, client := range order {
			if err := b.load(ctx, client, round); err != nil {
				return err
			}
		}
	}
	b.judge()
	return b.report.Finish(b.text())
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.brine, err = b.cluster.Build(ctx, "./cmd/brine"); err != nil {
		return err
	}
	if err := b.cluster.BuildJava(ctx); err != nil {
		return err
	}
	if b.kafka, err = b.cluster.Address("BRINE_REAL_KAFKA"); err != nil {
		return err
	}
	if b.connect, err = b.cluster.Address("BRINE_REAL_HBASE"); err != nil {
		return err
	}
	if b.server, err = b.cluster.PID("hbase"); err != nil {
		return err
	}
	if b.admin, err = hbase.Open(ctx, hbase.Options{Connect: b.connect}); err != nil {
		return err
	}
	return b.publish(ctx)
}

// publish puts the events into the topic, once for all rounds.
func (b *bench) publish(ctx context.Context) error {
	file := b.cluster.Path("scans.jsonl")
	if err := writeEvents(file, b.events); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }() // else Close removes it
	return b.command(ctx, "", "publish", "--topic", topic, "--key", "waybill", file).Run()
}

// command is brine with the example's configuration, on this run's servers.
func (b *bench) command(ctx context.Context, group string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.brine, append(args, "-c", configuration)...)
	cmd.Env = append(os.Environ(), "BRINE_KAFKA_BROKERS="+b.kafka, "BRINE_HBASE_CONNECT="+b.connect, "BRINE_HTTP_LISTEN="+listen)
	if group != "" {
		cmd.Env = append(cmd.Env, "BRINE_KAFKA_GROUP="+group)
	}
	cmd.Stderr = os.Stderr
	return cmd
}

// load runs brine or Java into a new table.
func (b *bench) load(ctx context.Context, client string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := b.renew(ctx); err != nil {
		return err
	}
	var l measure.Load
	var err error
	if client == ours {
		l, err = b.runBrine(ctx, fmt.Sprintf("bench-%d", round))
	} else {
		l, err = measure.Run(b.cluster.Java(ctx, b.connect, b.shape, threads, buffer), client, b.shape, b.server)
	}
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-5s: %6.0f events/s, CPU %5.2f µs/event, server %5.2f µs/event, %4.0f MiB\n",
		round, client, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Peak())
	return nil
}

// renew makes the table new, as the configuration says, and waits until the server has nothing left to do of the last one.
func (b *bench) renew(ctx context.Context) error {
	if err := measure.Drop(ctx, b.admin, table); err != nil {
		return err
	}
	if err := b.command(ctx, "", "tables", "apply").Run(); err != nil {
		return fmt.Errorf("brine tables apply: %w", err)
	}
	return measure.Pause(b.server)
}

// shapeOf counts brine's rows and gives Java theirs: the mean sizes of a key and of a row's values. Each event must be a row.
func (b *bench) shapeOf(ctx context.Context) (measure.Shape, error) {
	n, keys, values := 0, 0, 0
	for row, err := range b.admin.Scan(ctx, table, hbase.Scan{}) {
		if err != nil {
			return measure.Shape{}, err
		}
		n++
		keys += len(row.Row)
		for _, c := range row.Cells {
			values += len(c.Value)
		}
	}
	if n != b.events {
		return measure.Shape{}, fmt.Errorf("%d events gave %d rows", b.events, n)
	}
	if n == 0 {
		return measure.Shape{}, errors.New("no events")
	}
	return measure.Shape{Table: table, Rows: n, Columns: columns, KeyBytes: (keys + n/2) / n, ValueBytes: (values + n/2) / n}, nil
}
