// Package embedded measures the embedded HBase server, as a separate process, with the rows and the client of `make bench-load`. `make
// bench-embedded` runs it.
//
// On durability: with fsync, an acknowledgement waits for the disk. Without it, it waits for the operating system (a killed process loses
// nothing, a power failure may), which is also the default of HBase's write-ahead log. Both are measured, in alternating order.
package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"brine/bench/measure"
	"brine/hbase"
)

const (
	cached, synced = "cached", "fsync" // the kinds of durability
	wide           = "cached-4"        // cached, with four columns

	table   = "load"
	regions = 16
)

// Command is the command line.
type Command struct {
	Rows   int `default:"2000000" help:"Number of rows of a load."`
	Rounds int `default:"3" help:"Number of rounds of each form."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{rows: c.Rows, rounds: c.Rounds, report: measure.NewReport("embedded")}
	return measure.Make("bench-embedded", func() error { return b.run(ctx) })
}

type bench struct {
	rows, rounds   int
	dir            string
	server, client string // binaries
	report         *measure.Report
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "brine-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }() // it is a temporary folder
	if b.server, err = measure.Build(ctx, b.dir, "./bench/embedded/server"); err != nil {
		return err
	}
	if b.client, err = measure.Build(ctx, b.dir, "./bench/load/client"); err != nil {
		return err
	}
	err = measure.Alternate(b.rounds, []string{cached, synced, wide}, func(form string, round int) error { return b.load(ctx, form, round) })
	if err != nil {
		return err
	}
	b.judge()
	return b.report.Finish(b.text())
}

// load starts a server on an empty folder and loads all rows into it.
func (b *bench) load(ctx context.Context, form string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	dir := filepath.Join(b.dir, "data")
	defer func() { _ = os.RemoveAll(dir) }() // it is a temporary folder
	server := exec.CommandContext(ctx, b.server, "-dir", dir, "-fsync="+strconv.FormatBool(form == synced))
	addresses, stop, err := measure.Serve(server)
	if err != nil {
		return err
	}
	defer stop()
	return b.fill(ctx, addresses[0], server.Process.Pid, form, round)
}

// fill loads all rows into the server at an address, and counts them.
func (b *bench) fill(ctx context.Context, address string, server int, form string, round int) error {
	s := measure.Shape{Table: table, Rows: b.rows, Columns: 1, KeyBytes: 30, ValueBytes: 150}
	if form == wide {
		s.Columns = 4
	}
	admin, err := hbase.Open(ctx, hbase.Options{Connect: address})
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }()
	var splits [][]byte
	for i := 1; i < regions; i++ {
		splits = append(splits, fmt.Appendf(nil, "%02x", i*256/regions))
	}
	if err := admin.CreateTable(ctx, hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, splits); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.client, "-connect", address, "-table", table, "-rows", strconv.Itoa(s.Rows), "-columns",
		strconv.Itoa(s.Columns))
	l, err := measure.Run(cmd, form, s, server)
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	peak, err := measure.PeakMiB(strconv.Itoa(server))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "round %d: %-8s: %6.0f rows/s, client %5.2f µs/row, server %5.2f µs/row, %4.0f MiB\n",
		round, form, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), peak)
	return count(ctx, admin, b.rows)
}

// count checks that every row is there.
func count(ctx context.Context, c *hbase.Client, want int) error {
	n := 0
	for _, err := range c.Scan(ctx, table, hbase.Scan{}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != want {
		return fmt.Errorf("the table holds %d rows, not %d", n, want)
	}
	return nil
}
