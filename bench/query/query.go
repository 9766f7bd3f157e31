// Package query measures how fast what brine has written is read: timelines by key, from a real HBase with five million events; a user's
// orders by a word, from a real Elasticsearch and HBase; and how soon a search finds an event while half of what can be indexed arrives.
// `make bench-query` runs it.
//
// It sends queries at a fixed rate, whether or not earlier ones are answered, and times each from the moment at which it was due: if a
// server hangs for a second, all of that second's queries are late, as their users would see. The views are those of examples/shop.yaml. It
// ends with one line per target, `name value target ok|short|undecided`, and exits with 1 if any is short.
package query

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"brine/bench/measure"
	"brine/config"
	"brine/hbase"
	"brine/indexer/elastic"
)

const (
	configuration = "examples/shop.yaml"
	scansTable    = "centre:scans"
	ordersTable   = "centre:orders"
	ordersIndex   = "centre-orders"
	ordersTopic   = "centre.orders"

	timelineRate = 500 // queries per second
	ordersRate   = 100
)

// Command is the command line.
type Command struct {
	Events  int           `default:"5000000" help:"Number of scan events in HBase."`
	Orders  int           `default:"1073741824" help:"Maximum number of order changes to take from make data."`
	Refresh time.Duration `default:"1s" help:"Value of the setting search.refresh."`
	For     time.Duration `default:"60s" help:"How long each kind of query runs."`
	Heap    string        `default:"4g" help:"Heap of the HBase server."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{events: c.Events, orders: c.Orders, refresh: c.Refresh, asking: c.For, report: measure.NewReport("query")}
	return measure.Make("bench-query", func() error { return b.run(ctx, c.Heap) })
}

type bench struct {
	*measure.Cluster
	events, orders int
	asking         time.Duration
	refresh        time.Duration
	cfg            *config.Config
	env            []string
	brine          string // path of our binary
	client         *hbase.Client
	engine         *elastic.Engine
	report         *measure.Report
	detail         detail
}

// detail is what was measured.
type detail struct {
	Events      int           `json:"events"`
	Orders      int           `json:"order_changes"`
	Kinds       []kind        `json:"questions"`
	Read        int           `json:"timeline_rows_read"`
	Rows        int           `json:"timeline_rows"`
	Found       int           `json:"orders_found"`
	FullRate    float64       `json:"documents_per_second"` // changes indexed while nothing else was done
	LiveRate    float64       `json:"live_rate"`            // changes/s that brine run indexed while more arrived
	RefreshTime time.Duration `json:"refresh"`

	Timeline, Keyword, Searchable measure.Milliseconds `json:"-"`
}

func (b *bench) run(ctx context.Context, heap string) (err error) {
	if b.Cluster, err = measure.StartCluster(ctx, heap, "kafka", "hbase", "elasticsearch"); err != nil {
		return err
	}
	defer b.Close()
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() {
		_ = b.client.Close() // nothing is left to fail
		_ = b.engine.Close()
	}()
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{{"tables", b.tables}, {"timelines", b.timelines}, {"orders by a word", b.byWord}, {"searchable", b.searchable}} {
		fmt.Fprintln(os.Stderr, part.name)
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return b.finish()
}

// open finds the servers, and loads the example with their addresses.
func (b *bench) open(ctx context.Context) (err error) {
	set, err := b.Settings("KAFKA", "HBASE", "ELASTICSEARCH")
	if err != nil {
		return err
	}
	set["BRINE_SEARCH_REPLICAS"], set["BRINE_SEARCH_REFRESH"] = "0", b.refresh.String()
	b.env = set.Environ()
	cfg, problems := config.Load(configuration, set.Lookup)
	if err := problems.Err(); err != nil {
		return err
	}
	b.cfg = cfg
	if b.client, err = hbase.Open(ctx, cfg.HBase()); err != nil {
		return err
	}
	if b.engine, err = elastic.Open(cfg.Search.Elastic()); err != nil {
		return err
	}
	b.detail.RefreshTime = cfg.Search.Refresh
	b.brine, err = b.Build(ctx, "./cmd/brine")
	return err
}

func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.brine, append(args, "-c", configuration)...)
	cmd.Env, cmd.Stderr = b.env, os.Stderr
	return cmd
}

// tables recreates the example's tables and indexes.
func (b *bench) tables(ctx context.Context) error {
	for _, t := range b.cfg.Tables {
		if err := measure.Drop(ctx, b.client, t.Name); err != nil {
			return err
		}
	}
	for _, x := range b.cfg.Indexes {
		if names, err := b.engine.Behind(ctx, x.Name); err == nil {
			return fmt.Errorf("index %s exists from an earlier run: %s; delete it, or use a separate cluster", x.Name, strings.Join(names, ", "))
		}
	}
	out, err := b.command(ctx, "tables", "apply").Output()
	if err != nil {
		return fmt.Errorf("brine tables apply: %w: %s", err, out)
	}
	return nil
}
