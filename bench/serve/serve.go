// Package serve measures the cost of the HTTP API: timelines while events arrive, in comparison with the same queries through package query
// without the API, and beside clients that do not read what they asked for; the latest event of many waybills in one call; orders by word
// and status; a point query in SQL in comparison with its view, with and without the audit; timelines per second, by HTTP and by HBase's
// Java client; and the cost of idle event streams. `make bench-serve` runs it.
//
// The API, its pipelines and, on the embedded stack, the servers are in a different process from the queries. Queries are sent at a fixed
// rate, whether or not earlier ones are answered, and each is timed from the moment at which it was due. It runs on the embedded stack, and
// on real servers if those of DEVCLUSTER_RUN are up. Only the audit is measured with accounts.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"time"

	"brine/bench/measure"
	"brine/config"
	"brine/hbase"
	"brine/query"
	"brine/serve/client"
)

const (
	configuration = "examples/shop.yaml"

	timelineRate = 500 // queries per second
	eventRate    = 5_000
	latestRate   = 20
	ordersRate   = 50
)

// Command is the command line.
type Command struct {
	Events  int           `default:"150000" help:"Number of scan events stored before the first query."`
	Orders  int           `default:"60000" help:"Number of order changes stored before the first query."`
	For     time.Duration `default:"15s" help:"How long each kind of query runs."`
	Streams int           `default:"10000" help:"Number of event streams open at the same time."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{Command: *c, report: measure.NewReport("serve")}
	return measure.Make("bench-serve", func() error { return b.run(ctx) })
}

type bench struct {
	Command
	report *measure.Report
	stacks []*stack
}

func (b *bench) run(ctx context.Context) error {
	kinds := []string{"embedded"}
	if os.Getenv("DEVCLUSTER_RUN") != "" {
		kinds = append(kinds, "real")
	} else {
		fmt.Fprintln(os.Stderr, "DEVCLUSTER_RUN is not set: no real servers are measured")
	}
	for _, kind := range kinds {
		fmt.Fprintln(os.Stderr, kind)
		s := &stack{kind: kind, bench: b}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		b.stacks = append(b.stacks, s)
	}
	return b.finish()
}

// stack is one kind of servers, and what was measured on it.
type stack struct {
	*bench
	kind string

	dir      string
	brine    string
	process  *exec.Cmd
	env      []string
	api      *client.Client
	audited  *client.Client // the same with accounts and the audit
	connect  string         // of HBase
	table    *config.Table  // of waybills
	hbase    *hbase.Client
	waybills []string
	orders   []url.Values
	reader   *query.Reader

	detail detail
}

func (s *stack) run(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "brine-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	stop, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer s.hbase.Close() //nolint:errcheck // only read from
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{{"fill", s.fill}, {"timelines", s.timelines}, {"slow readers", s.besideSlow}, {"latest events", s.latest}, {"orders", s.byWord},
		{"sql", s.sql}, {"saturation", s.saturation}, {"streams", s.streams}} {
		began := time.Now()
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(os.Stderr, "  %s: %v\n", part.name, time.Since(began).Round(time.Second))
	}
	return nil
}

// start builds brine, and starts the process that is measured.
func (s *stack) start(ctx context.Context) (stop func(), err error) {
	if s.brine, err = measure.Build(ctx, s.dir, "./cmd/brine"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s.process = exec.CommandContext(ctx, self, "serve-stack", s.kind, s.dir+"/data")
	s.process.Env = append(os.Environ(), "BRINE_SERVE_STREAMS="+strconv.Itoa(s.Streams+100), "BRINE_SERVE_IN_FLIGHT=4096",
		"BRINE_SERVE_TIMEOUT=30s", // late answers are measured, and do not fail
		"BRINE_KAFKA_GROUP=bench-serve-"+strconv.Itoa(os.Getpid()))
	at, stop, err := measure.Serve(s.process)
	if err != nil {
		return nil, err
	}
	if len(at) != 6 {
		stop()
		return nil, fmt.Errorf("the servers named %q", at)
	}
	s.env = append(os.Environ(), "BRINE_KAFKA_BROKERS="+at[2])
	connections := &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096}
	s.api = &client.Client{Base: at[0], HTTP: &http.Client{Timeout: 30 * time.Second, Transport: connections}}
	s.audited = &client.Client{Base: at[4], HTTP: &http.Client{Timeout: 30 * time.Second, Transport: signed{at[5], connections}}}
	s.detail.admin, s.connect = at[1], at[3]
	if s.hbase, err = hbase.Open(ctx, hbase.Options{Connect: at[3]}); err != nil {
		stop()
		return nil, err
	}
	cfg, problems := config.Load(configuration, os.LookupEnv)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.table = cfg.Table(cfg.View("waybill").Table)
	v, err := cfg.View("waybill").Query(cfg)
	if err == nil {
		s.reader, err = query.Open(v, s.hbase, nil)
	}
	return stop, err
}
