// Package read compares the reads of our HBase client with those of HBase's own: bench/read/client with bench/java/Reads.java. Each is a
// separate process, against a real HBase that belongs to this run alone. `make bench-read` runs it.
//
// Both get the same number of random rows with few callers and with many, and scan the whole table in each round, in alternating order,
// from a table of 16 regions that our client has loaded. It ends with one line per target, `name value target ok|short|undecided`, and
// exits with 1 if any is short.
package read

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
	ours, theirs = "brine", "java"

	regions = 16
	writers = 4 // of the rows that are read
)

// kind is what a client reads, and how many of its goroutines or threads do so at a time.
type kind struct {
	name    string // the readers' own word
	callers int
}

var (
	gets     = kind{"get", 4}
	manyGets = kind{"get", 16} // as many as there are regions: a server's answers to several may come together
	scans    = kind{"scan", 4} // each of a part of the table
	kinds    = []kind{gets, manyGets, scans}
)

func (k kind) String() string { return fmt.Sprintf("%s by %d", k.name, k.callers) }

// Command is the command line.
type Command struct {
	Rows   int    `default:"1000000" help:"Number of rows in the table."`
	Gets   int    `default:"120000" help:"Number of gets of a client in a round."`
	Rounds int    `default:"5" help:"Number of rounds."`
	Heap   string `default:"4g" help:"Heap of the HBase server."`
	Client string `help:"Flags for our reader, such as --client='-cpuprofile FILE'."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{Command: c, flags: strings.Fields(c.Client)}
	return measure.Make("bench-read", func() error { return b.run(ctx) })
}

type bench struct {
	*measure.Stage
	*Command
	shape  measure.Shape
	reader string   // ours
	flags  []string // for the reader
	report *measure.Report
}

func (b *bench) run(ctx context.Context) (err error) {
	b.report = measure.NewReport("read")
	b.shape = measure.Shape{Table: "read", Rows: b.Rows, Columns: 4, KeyBytes: 30, ValueBytes: 150}
	if b.Stage, err = measure.StartStage(ctx, b.Heap, "hbase"); err != nil {
		return err
	}
	defer b.Close()
	if err := b.load(ctx); err != nil {
		return err
	}
	if b.reader, err = b.Build(ctx, "./bench/read/client"); err != nil { // replaces the writer
		return err
	}
	for _, client := range []string{theirs, ours} { // warms the server's caches and its compiler for both
		if err := b.read(ctx, client, 0); err != nil {
			return err
		}
	}
	clients := []string{ours, theirs, ours + measure.Again}
	err = measure.Alternate(b.Rounds, clients, func(client string, round int) error { return b.read(ctx, client, round) })
	if err != nil {
		return err
	}
	b.judge()
	return b.report.Finish(b.text())
}

// load writes the rows.
func (b *bench) load(ctx context.Context) error {
	writer, err := b.Build(ctx, "./bench/load/client")
	if err != nil {
		return err
	}
	var splits [][]byte
	for i := 1; i < regions; i++ {
		splits = append(splits, fmt.Appendf(nil, "%02x", i*256/regions))
	}
	if err := b.Admin.CreateTable(ctx, hbase.Table{Name: b.shape.Table, Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		return err
	}
	cmd := b.command(ctx, writer, writers)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := b.Admin.FlushTable(ctx, b.shape.Table); err != nil { // otherwise it would be flushed during a measurement
		return err
	}
	return measure.Pause(b.Server)
}

// command returns one of our programs for the table.
func (b *bench) command(ctx context.Context, program string, goroutines int, more ...string) *exec.Cmd {
	s := b.shape
	args := []string{"-connect", b.HBase, "-table", s.Table, "-rows", strconv.Itoa(s.Rows), "-columns", strconv.Itoa(s.Columns),
		"-key-bytes", strconv.Itoa(s.KeyBytes), "-goroutines", strconv.Itoa(goroutines)}
	return exec.CommandContext(ctx, program, append(args, more...)...)
}

// read runs one client for each kind in turn.
func (b *bench) read(ctx context.Context, client string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for _, k := range kinds {
		s := b.shape
		if k.name == gets.name {
			s.Rows = b.Gets / k.callers * k.callers
		}
		l, err := measure.Run(b.reads(ctx, client, k), loads(k, client), s, b.Server)
		if err != nil {
			return err
		}
		l.Round = round
		b.report.Loads = append(b.report.Loads, l)
		fmt.Fprintf(os.Stderr, "round %d: %-9s %-11s %7.0f rows/s, client %6.2f µs/row, server %6.2f µs/row, p99 %5.2f ms, %4.0f MiB\n",
			round, k, client, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Late(), l.Peak())
	}
	return nil
}

// loads is the name of a client's loads of a kind.
func loads(k kind, client string) string { return k.String() + " " + client }

func (b *bench) reads(ctx context.Context, client string, k kind) *exec.Cmd {
	if client == theirs {
		return b.JavaReads(ctx, b.HBase, k.name, b.shape, k.callers, b.Gets)
	}
	return b.command(ctx, b.reader, k.callers, append([]string{"-kind", k.name, "-count", strconv.Itoa(b.Gets)}, b.flags...)...)
}
