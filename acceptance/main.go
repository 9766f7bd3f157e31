// Command acceptance writes the orders and scans of examples/shop.yaml to a real Kafka, HBase and Elasticsearch, as a user would, with the
// built binary. Then it queries every view, and compares each answer with what it counted from the input itself. `make shop` runs it.
//
// --scale multiplies the orders: a number of copies, or full for 13,920,352 orders of 215,091 users. It prints how long the load took, how
// the rows lie over the regions, and how long the queries took, stores that in bench/results/shop.json, and exits with 1 if any answer is
// wrong. With DEVCLUSTER_RUN in the environment, it uses the servers of that folder, and leaves them up: what is already there is not
// written again, but checked again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"brine/bench/measure"
	"brine/config"
	"brine/hbase"
	"brine/indexer/elastic"
	"brine/query"
)

const (
	configuration = "examples/shop.yaml"
	ordersFile    = "data/orders.jsonl.gz"
	scansFile     = "internal/sample/scans-2013-01.jsonl.gz"
)

// shop is the servers, with their actual and expected contents.
type shop struct {
	*measure.Cluster
	brine  string // path of our binary
	set    measure.Settings
	in     *input
	scans  *scans
	cfg    *config.Config
	hbase  *hbase.Client
	engine *elastic.Engine

	out   outcome
	wrong int // answers
}

// cli is the command line.
type cli struct {
	Scale string `default:"1" help:"Copies of the orders, 1 to 99, or full."`
	Heap  string `default:"2g" help:"Heap of the HBase server."`
	Asks  int    `default:"1000" help:"Number of timed questions of each kind."`
}

func main() {
	var c cli
	kong.Parse(&c, kong.Name("acceptance"), kong.Description("The order centre of examples/shop.yaml, whole, on real servers."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure.Make("bench-shop", func() error { return run(ctx, c.Scale, c.Heap, c.Asks) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, scale, heap string, asks int) (err error) {
	s := &shop{}
	if s.in, err = scaled(ordersFile, scale); err != nil {
		return err
	}
	if s.scans, err = readScans(); err != nil {
		return err
	}
	s.out.Orders, s.out.Users, s.out.Scans = s.in.total, s.in.people, s.scans.count
	fmt.Printf("input: %d orders of %d users, %d scans\n", s.in.total, s.in.people, s.scans.count)
	if s.Cluster, err = measure.StartCluster(ctx, heap, "kafka", "hbase", "elasticsearch"); err != nil {
		return err
	}
	defer s.Close()
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.load(ctx, scale); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	defer s.disconnect()
	for _, part := range []func(context.Context) error{s.checkTables, s.checkUsers, s.checkStatuses, s.checkWaybills, s.checkStations} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if err := s.time(ctx, asks); err != nil {
		return err
	}
	return s.out.record(scale, s.wrong)
}

// open builds brine and finds the servers.
func (s *shop) open(ctx context.Context) (err error) {
	if s.brine, err = s.Build(ctx, "./cmd/brine"); err != nil {
		return err
	}
	s.set, err = s.Settings("KAFKA", "HBASE", "ELASTICSEARCH")
	return err
}

// connect opens what the views read from, once everything that was written can be found.
func (s *shop) connect(ctx context.Context) (err error) {
	var problems config.Problems
	s.cfg, problems = config.Load(configuration, s.set.Lookup)
	if s.cfg == nil {
		return problems.Err()
	}
	if s.engine, err = elastic.Open(s.cfg.Search.Elastic()); err != nil {
		return err
	}
	for _, x := range s.cfg.Indexes {
		if err := s.engine.Refresh(ctx, x.Name); err != nil {
			return err
		}
	}
	s.hbase, err = hbase.Open(ctx, s.cfg.HBase())
	return err
}

func (s *shop) disconnect() {
	_, _ = s.hbase.Close(), s.engine.Close() // only read from
}

// view opens one of the configuration's views.
func (s *shop) view(name string) (*query.Reader, error) {
	declared := s.cfg.View(name)
	if declared == nil {
		return nil, fmt.Errorf("%s has no view %s", configuration, name)
	}
	v, err := declared.Query(s.cfg)
	if err != nil {
		return nil, err
	}
	return query.Open(v, s.hbase, s.engine)
}

// differs reports an answer that differs from the input; it prints the first few in full.
func (s *shop) differs(view string, args []string, format string, of ...any) {
	const most = 20
	if s.wrong++; s.wrong <= most {
		fmt.Fprintf(os.Stderr, "wrong: %s %s: %s\n", view, strings.Join(args, " "), fmt.Sprintf(format, of...))
	}
}

func since(begin time.Time) time.Duration { return time.Since(begin).Round(10 * time.Millisecond) }
