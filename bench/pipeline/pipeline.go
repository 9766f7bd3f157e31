// Package pipeline measures the whole of brine, from a real Kafka to a real HBase, in comparison with HBase's own Java client, which writes
// as many rows of the same shape without Kafka. `make bench-pipeline` runs it, as do `make bench-delay`, which measures the delay from
// producing an event to reading its row, and `make bench-outage`, which measures the cost of an HBase that hangs for minutes.
//
// brine runs as a user runs it: the built binary with examples/scans.yaml, and with examples/scans-packed.yaml, with a new group in each
// round. A replay writes the whole topic to an empty table too. The order alternates; two loads before the first round warm the server. It
// ends with one line per target, `name value target ok|short|undecided`, and exits with 1 if any is short.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	ours, small, packed, replayed, theirs = "brine", "small", "packed", "replay", "java"

	command = "./cmd/brine"

	topic      = "courier.scans" // the examples'
	eventsFile = "scans.jsonl"
	listen     = "127.0.0.1:0"
	threads    = 4 // of Java
	buffer     = 2 << 20
	smallMiB   = 64 // that a small process may have of its own
)

// example is one of our configurations, and the shape of the rows that it makes of a scan.
type example struct {
	file, table string
	columns     int
	env         []string // settings
}

var (
	scans       = example{file: "examples/scans.yaml", table: "logistics:scans", columns: 3}
	scansPacked = example{file: "examples/scans-packed.yaml", table: "logistics:scans_packed", columns: 1}
	scansSmall  = example{file: scans.file, table: scans.table, columns: scans.columns,
		env: []string{"BRINE_MEMORY=20MiB", fmt.Sprintf("BRINE_PROCESS_MEMORY=%dMiB", smallMiB)}}

	examples = map[string]example{
		ours: scans, ours + measure.Again: scans, measure.Before: scans, small: scansSmall, packed: scansPacked, replayed: scans,
	}
)

// Command is the command line.
type Command struct {
	Events int           `default:"2000000" help:"Number of events of a load."`
	Rounds int           `default:"3" help:"Number of rounds."`
	Heap   string        `default:"4g" help:"Heap of the HBase server."`
	Delay  bool          `help:"Measure only the delay from producing an event to reading its row."`
	Outage time.Duration `default:"0" help:"Measure only the cost of freezing HBase for this long."`
	Before string        `placeholder:"COMMIT" help:"Compare brine only with itself as of this commit."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{events: c.Events, rounds: c.Rounds, outage: c.Outage, commit: c.Before}
	name, run := "pipeline", b.rates
	switch {
	case c.Before != "":
		name, run = "pipeline-before", b.besideBefore
	case c.Delay:
		name, run = "delay", b.settings
	case c.Outage > 0:
		name, run = interrupted, b.interruptions
	}
	b.report = measure.NewReport(name)
	return measure.Make("bench-"+name, func() error { return run(ctx, c.Heap) })
}

type bench struct {
	*measure.Stage
	events, rounds int
	kafka          string // address
	brine          string // path of our binary
	commit         string // an earlier one
	earlier        string // its binary
	shape          measure.Shape
	delays         []delay
	outage         time.Duration
	aways          []away
	report         *measure.Report
}

// on starts its own servers, fills the topic, and calls do.
func (b *bench) on(ctx context.Context, heap string, do func(context.Context) error) (err error) {
	if b.Stage, err = measure.StartStage(ctx, heap, "kafka", "hbase"); err != nil {
		return err
	}
	defer b.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// rates measures how fast the whole topic is written, in comparison with Java.
func (b *bench) rates(ctx context.Context, heap string) error {
	err := b.on(ctx, heap, func(ctx context.Context) (err error) {
		if err := b.load(ctx, ours, 0); err != nil {
			return err
		}
		if b.shape, err = b.shapeOf(ctx); err != nil {
			return err
		}
		if err := b.load(ctx, theirs, 0); err != nil {
			return err
		}
		return measure.Alternate(b.rounds, []string{ours, small, packed, replayed, theirs, ours + measure.Again},
			func(client string, round int) error { return b.load(ctx, client, round) })
	})
	if err != nil {
		return err
	}
	b.judge()
	return b.report.Finish(b.text())
}

// besideBefore compares brine with itself at an earlier commit, with today's configuration.
func (b *bench) besideBefore(ctx context.Context, heap string) error {
	err := b.on(ctx, heap, func(ctx context.Context) (err error) {
		if b.earlier, err = b.BuildOf(ctx, b.commit, command); err != nil {
			return err
		}
		for _, client := range []string{ours, measure.Before} { // warms the servers
			if err := b.load(ctx, client, 0); err != nil {
				return err
			}
		}
		return measure.Alternate(b.rounds, []string{ours, measure.Before, ours + measure.Again},
			func(client string, round int) error { return b.load(ctx, client, round) })
	})
	if err != nil {
		return err
	}
	b.report.Targets = measure.BesideBefore("pipeline.", b.counted, ours)
	return b.report.FinishBesideBefore(b.commit, b.rounds, b.events, "events")
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.brine, err = b.Build(ctx, command); err != nil {
		return err
	}
	if b.kafka, err = b.Address("BRINE_REAL_KAFKA"); err != nil {
		return err
	}
	file := b.Path(eventsFile)
	if err := measure.WriteScans(file, b.events); err != nil {
		return err
	}
	return b.command(ctx, examples[ours].file, "", "publish", "--alone", "--topic", topic, "--key", "waybill", file).Run()
}

// command returns brine with a configuration, on this run's servers.
func (b *bench) command(ctx context.Context, configuration, group string, args ...string) *exec.Cmd {
	return b.commandOf(ctx, b.brine, configuration, group, args...)
}

func (b *bench) commandOf(ctx context.Context, binary, configuration, group string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, append(args, "-c", configuration)...)
	cmd.Env = append(os.Environ(), "BRINE_KAFKA_BROKERS="+b.kafka, "BRINE_HBASE_CONNECT="+b.HBase, "BRINE_HTTP_LISTEN="+listen)
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
	x, isOurs := examples[client]
	if !isOurs {
		x = examples[ours]
	}
	if err := b.renew(ctx, x); err != nil {
		return err
	}
	var l measure.Load
	var err error
	switch {
	case client == replayed:
		l, err = b.runReplay(ctx, x, fmt.Sprintf("bench-%d", round))
	case client == measure.Before:
		l, err = b.runBrine(ctx, b.earlier, x, fmt.Sprintf("bench-%s-%d", client, round))
	case isOurs:
		l, err = b.runBrine(ctx, b.brine, x, fmt.Sprintf("bench-%s-%d", client, round))
	default:
		l, err = measure.Run(b.Java(ctx, b.HBase, b.shape, threads, buffer), client, b.shape, b.Server)
	}
	if err != nil {
		return err
	}
	l.Client, l.Round = client, round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-6s: %6.0f events/s, CPU %5.2f µs/event, server %5.2f µs/event, %4.0f MiB, %4.0f of its own\n",
		round, client, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Peak(), l.Own())
	return nil
}

// renew recreates the example's table according to its configuration, and waits until the server has finished its work on the last one.
func (b *bench) renew(ctx context.Context, x example) error {
	if err := measure.Drop(ctx, b.Admin, x.table); err != nil {
		return err
	}
	if err := b.command(ctx, x.file, "", "tables", "apply").Run(); err != nil {
		return fmt.Errorf("brine tables apply: %w", err)
	}
	return measure.Pause(b.Server)
}

// shapeOf counts brine's rows and sets the shape of Java's: the mean sizes of a key and of a row's values. Each event must be a row.
func (b *bench) shapeOf(ctx context.Context) (measure.Shape, error) {
	n, keys, values := 0, 0, 0
	for row, err := range b.Admin.Scan(ctx, examples[ours].table, hbase.Scan{}) {
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
	return measure.Shape{Table: examples[ours].table, Rows: n, Columns: examples[ours].columns, KeyBytes: (keys + n/2) / n,
		ValueBytes: (values + n/2) / n}, nil
}
