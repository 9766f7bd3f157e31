// Package load compares our HBase client with HBase's own: bench/load/client with bench/java and, with one column, HBase's
// PerformanceEvaluation. Each is a separate process, against a real HBase that belongs to this run alone. `make bench-load` runs it.
//
// They write equal rows in each round, in alternating order, each to a new table of 16 regions with the write-ahead log on; two loads
// before the first round warm the server. It ends with one line per target, `name value target ok|short|undecided`, and exits with 1 if any
// is short.
package load

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	ours, theirs, evaluation = "brine", "java", "pe"

	clientPackage = "./bench/load/client"

	table      = "load"
	regions    = 16
	keyBytes   = 30
	valueBytes = 150
	threads    = 4 // of each client
)

// buffers is the write buffer of each of Java's mutators, by number of columns, at its best size.
var buffers = map[int]int{4: 2 << 20, 1: 4 << 20}

// Command is the command line.
type Command struct {
	Rows   int    `default:"2000000" help:"Number of rows of a load."`
	Rounds int    `default:"3" help:"Number of rounds of each shape."`
	Heap   string `default:"4g" help:"Heap of the HBase server."`
	Client string `help:"Flags for our loader, such as --client='-cpuprofile FILE'."`
	Before string `placeholder:"COMMIT" help:"Compare with our client as of this commit instead of with HBase's own."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{rows: c.Rows, rounds: c.Rounds, flags: strings.Fields(c.Client)}
	if c.Before != "" {
		b.report = measure.NewReport("load-before")
		return measure.Make("bench-load-before", func() error { return b.besideBefore(ctx, c.Heap, c.Before) })
	}
	b.report = measure.NewReport("load")
	return measure.Make("bench-load", func() error { return b.run(ctx, c.Heap) })
}

type bench struct {
	*measure.Stage
	rows, rounds int
	client       string   // our loader
	earlier      string   // our loader at an earlier commit
	flags        []string // for the loader
	report       *measure.Report
}

func (b *bench) run(ctx context.Context, heap string) (err error) {
	if err := measure.FetchEvaluation(ctx); err != nil {
		return err
	}
	if err := b.start(ctx, heap); err != nil {
		return err
	}
	defer b.Close()
	for _, client := range []string{theirs, ours} {
		if err := b.load(ctx, client, 4, 0); err != nil {
			return err
		}
	}
	for _, columns := range []int{4, 1} {
		clients := []string{ours, theirs, ours + measure.Again}
		if columns == 1 {
			clients = append(clients, evaluation)
		}
		err := measure.Alternate(b.rounds, clients, func(client string, round int) error { return b.load(ctx, client, columns, round) })
		if err != nil {
			return err
		}
	}
	b.judge()
	return b.report.Finish(b.text())
}

// start starts this run's HBase, and compiles our loader.
func (b *bench) start(ctx context.Context, heap string) (err error) {
	if b.Stage, err = measure.StartStage(ctx, heap, "hbase"); err != nil {
		return err
	}
	if b.client, err = b.Build(ctx, clientPackage); err != nil {
		b.Close()
	}
	return err
}

// besideBefore compares our client with itself at an earlier commit.
func (b *bench) besideBefore(ctx context.Context, heap, commit string) (err error) {
	if err := b.start(ctx, heap); err != nil {
		return err
	}
	defer b.Close()
	if b.earlier, err = b.BuildOf(ctx, commit, clientPackage); err != nil {
		return err
	}
	for range 2 { // warms the server
		if err := b.load(ctx, ours, 4, 0); err != nil {
			return err
		}
	}
	for _, columns := range []int{4, 1} {
		err := measure.Alternate(b.rounds, []string{ours, measure.Before, ours + measure.Again},
			func(client string, round int) error { return b.load(ctx, client, columns, round) })
		if err != nil {
			return err
		}
	}
	for _, columns := range []int{4, 1} {
		of := func(client string) []measure.Load { return measure.Counted(b.report.Loads, client, columns) }
		b.report.Targets = append(b.report.Targets, measure.BesideBefore(fmt.Sprintf("load.%dcolumns.", columns), of, ours)...)
	}
	return b.report.FinishBesideBefore(commit, b.rounds, b.rows, "rows")
}

// load runs one client against a new table.
func (b *bench) load(ctx context.Context, client string, columns, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := b.renew(ctx, client); err != nil {
		return err
	}
	l, err := b.write(ctx, client, measure.Shape{Table: table, Rows: b.rows, Columns: columns, KeyBytes: keyBytes, ValueBytes: valueBytes})
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-5s %d columns: %6.0f rows/s, client %5.2f µs/row, server %5.2f µs/row, %4.0f MiB\n",
		round, client, columns, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Peak())
	return b.check(ctx, client, columns)
}

// write runs one client, which writes all rows.
func (b *bench) write(ctx context.Context, client string, s measure.Shape) (measure.Load, error) {
	switch client {
	case ours, ours + measure.Again:
		return measure.Run(b.ours(ctx, b.client, s), client, s, b.Server)
	case measure.Before:
		return measure.Run(b.ours(ctx, b.earlier, s), client, s, b.Server)
	case theirs:
		return measure.Run(b.Java(ctx, b.HBase, s, threads, buffers[s.Columns]), client, s, b.Server)
	}
	cmd, err := measure.Evaluation(ctx, b.Path(""), b.HBase, s, threads)
	if err != nil {
		return measure.Load{}, err
	}
	return measure.RunEvaluation(cmd, client, s, threads, b.Server)
}

func (b *bench) ours(ctx context.Context, binary string, s measure.Shape) *exec.Cmd {
	args := []string{"-connect", b.HBase, "-table", s.Table, "-rows", strconv.Itoa(s.Rows), "-columns", strconv.Itoa(s.Columns),
		"-key-bytes", strconv.Itoa(s.KeyBytes), "-value-bytes", strconv.Itoa(s.ValueBytes), "-goroutines", strconv.Itoa(threads)}
	return exec.CommandContext(ctx, binary, append(args, b.flags...)...)
}

// renew recreates the table, split to match the client's keys, and waits until the server has finished its work on the last one.
func (b *bench) renew(ctx context.Context, client string) error {
	if err := measure.Drop(ctx, b.Admin, table); err != nil {
		return err
	}
	family := hbase.Family{Name: "e", Values: map[string]string{"VERSIONS": "1"}}
	if client == evaluation {
		family.Name = measure.EvaluationFamily
	}
	var splits [][]byte
	for i := 1; i < regions; i++ {
		if client == evaluation {
			splits = append(splits, fmt.Appendf(nil, measure.EvaluationKey, i*b.rows/regions))
		} else {
			splits = append(splits, fmt.Appendf(nil, "%02x", i*256/regions))
		}
	}
	if err := b.Admin.CreateTable(ctx, hbase.Table{Name: table, Families: []hbase.Family{family}}, splits); err != nil {
		return err
	}
	return measure.Pause(b.Server)
}

// check counts the rows, all of which must be there with all columns. PerformanceEvaluation draws its keys with repetition: of n keys, it
// misses one in e.
func (b *bench) check(ctx context.Context, client string, columns int) error {
	n := 0
	for row, err := range b.Admin.Scan(ctx, table, hbase.Scan{}) {
		if err != nil {
			return err
		}
		if len(row.Cells) != columns {
			return fmt.Errorf("row %q has %d columns, not %d", row.Row, len(row.Cells), columns)
		}
		n++
	}
	if client == evaluation && n > b.rows/2 {
		return nil
	}
	if n != b.rows {
		return fmt.Errorf("the table holds %d rows, not %d", n, b.rows)
	}
	return nil
}
