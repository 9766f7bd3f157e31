// Package index compares brine's indexer with go-elasticsearch's BulkIndexer, at the best of three settings. Each is a separate process,
// against a real Elasticsearch that belongs to this run alone. `make bench-index` runs it.
//
// Both write equal documents with equal versions in each round, in alternating order, each to a new index; two loads before the first round
// warm the server. In addition, brine writes partial changes, four to each document, far apart. It ends with one line per target, `name
// value target ok|short`, and exits with 1 if any is short.
package index

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/bench/index/orders"
	"brine/bench/measure"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/search"
)

const (
	ours    = "brine"
	partial = "brine-partial"
	columns = 6
)

// settings are the settings of the BulkIndexer that are tried.
var settings = []struct {
	name           string
	workers, flush int
}{{"esutil-2x5MB", 2, 5_000_000}, {"esutil-4x1MB", 4, 1_000_000}, {"esutil-3x4MB", 3, 4_000_000}}

// Command is the command line.
type Command struct {
	Documents int    `default:"300000" help:"Number of changes of a load."`
	Rounds    int    `default:"3" help:"Number of rounds."`
	Client    string `help:"Flags for our client, such as --client='-cpuprofile FILE'."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{documents: c.Documents, rounds: c.Rounds, flags: strings.Fields(c.Client), report: measure.NewReport("index")}
	return measure.Make("bench-index", func() error { return b.run(ctx) })
}

type bench struct {
	*measure.Cluster
	documents, rounds int
	client, peer      string // binaries
	flags             []string
	address           string
	server            int // process id
	engine            *elastic.Engine
	report            *measure.Report
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.Cluster, err = measure.StartCluster(ctx, "1g", "elasticsearch"); err != nil {
		return err
	}
	defer b.Close()
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { _ = b.engine.Close() }() // nothing is left to fail
	clients := []string{ours, partial, ours + measure.Again}
	for _, s := range settings {
		clients = append(clients, s.name)
	}
	for _, warm := range []string{settings[0].name, ours} {
		if err := b.load(ctx, warm, 0); err != nil {
			return err
		}
	}
	if err := measure.Alternate(b.rounds, clients, func(client string, round int) error { return b.load(ctx, client, round) }); err != nil {
		return err
	}
	b.judge()
	return b.report.Finish(b.text())
}

func (b *bench) open(ctx context.Context) (err error) {
	if b.client, err = b.Build(ctx, "./bench/index/client"); err != nil {
		return err
	}
	if err := b.buildPeer(ctx); err != nil {
		return err
	}
	if b.address, err = b.Address("BRINE_REAL_ELASTICSEARCH"); err != nil {
		return err
	}
	if b.server, err = b.PID("elasticsearch"); err != nil {
		return err
	}
	b.engine, err = elastic.Open(elastic.Options{Addresses: []string{b.address}, Replicas: elastic.NoReplicas})
	return err
}

// buildPeer compiles the peer, which is a separate module.
func (b *bench) buildPeer(ctx context.Context) error {
	b.peer = b.Path("peer")
	cmd := exec.CommandContext(ctx, "go", "-C", "bench/index/peer", "build", "-o", b.peer, ".")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build bench/index/peer: %w", err)
	}
	return nil
}

// load runs one client against a new index, and counts its documents.
func (b *bench) load(ctx context.Context, client string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	changes := indexer.Whole
	if client == partial {
		changes = indexer.Partial
	}
	if err := b.renew(ctx, changes); err != nil {
		return err
	}
	l, err := measure.Run(b.command(ctx, client, changes), client, measure.Shape{Rows: b.documents, Columns: columns}, b.server)
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-13s %6.0f changes/s, client %5.2f µs/change, server %6.2f µs/change, %4.0f MiB\n",
		round, client, l.RowsPerSecond(), l.ClientMicros(), l.ServerMicros(), l.Peak())
	return b.check(ctx, orders.Documents(changes, b.documents))
}

func (b *bench) command(ctx context.Context, client string, changes indexer.Changes) *exec.Cmd {
	args := []string{"-address", b.address, "-documents", strconv.Itoa(b.documents)}
	for _, s := range settings {
		if s.name == client {
			return exec.CommandContext(ctx, b.peer, append(args, "-workers", strconv.Itoa(s.workers), "-flush", strconv.Itoa(s.flush))...)
		}
	}
	return exec.CommandContext(ctx, b.client, slices.Concat(args, []string{"-changes", string(changes)}, b.flags)...)
}

// renew recreates the index and waits until the server has finished its work on the last one.
func (b *bench) renew(ctx context.Context, changes indexer.Changes) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.address+"/"+orders.Index+"-000001?ignore_unavailable=true", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("delete the index: %s", resp.Status)
	}
	opts, err := orders.Options(changes)
	if err != nil {
		return err
	}
	if err := b.engine.EnsureIndex(ctx, opts.Mappings()[0]); err != nil {
		return err
	}
	return measure.Pause(b.server)
}

// check counts the documents, all of which must be there.
func (b *bench) check(ctx context.Context, want int) error {
	if err := b.engine.Refresh(ctx, orders.Index); err != nil {
		return err
	}
	page, err := b.engine.Search(ctx, search.Query{Index: orders.Index, Size: 1, Count: true})
	if err != nil {
		return err
	}
	if page.Total != int64(want) {
		return fmt.Errorf("the index holds %d documents, not %d", page.Total, want)
	}
	return nil
}
