package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"brine/config"
	"brine/examples"
)

type devCmd struct {
	For       time.Duration `help:"Stop by itself after this long."`
	Data      string        `type:"path" placeholder:"DIR" help:"Keep everything in this folder; a second start goes on where the first was. Without it the data goes when brine stops."`
	Repair    bool          `help:"Save what can be saved of a damaged --data folder, say what is lost, and end."`
	KafkaPort int           `help:"Port of the embedded Kafka (default: a free one)."`
	HBasePort int           `name:"hbase-port" help:"Port of the embedded HBase (default: a free one)."`
	HTTPPort  int           `name:"http-port" help:"Admin port (default: a free one)."`
	JSON      bool          `help:"Print progress as JSON lines."`

	HBaseNodes   int           `name:"hbase-nodes" default:"1" placeholder:"N" help:"Region servers of the embedded HBase (default 1)."`
	ScannerLease time.Duration `default:"1m" help:"How long a scanner of the embedded HBase waits for its next call."`
}

// devGroup is brine dev: the servers, and what is asked of those that run.
type devGroup struct {
	Start devCmd     `cmd:"" default:"withargs" help:"Run everything on embedded servers with sample data; brine dev alone does that too."`
	Node  devNodeCmd `cmd:"" help:"List the region servers of a running brine dev, stop, start or add one."`
}

// Help is shown under the command's own help.
func (devGroup) Help() string {
	return devCmd{}.Help() + `

brine dev start --help lists the flags.`
}

// Help is shown under the command's own help.
func (devCmd) Help() string {
	return `Starts Kafka, HBase and brine in one process, publishes one month of real events, writes them and shows them.

Examples:
  brine dev
  brine dev --for 20s
  brine dev --data ./data/dev --kafka-port 9092 --hbase-port 16000 --http-port 8765
  brine dev --data ./data/dev --repair`
}

// AfterApply refuses numbers that would be taken for the defaults, or with which no server starts.
func (c devCmd) AfterApply() error {
	switch {
	case c.HBaseNodes < 1:
		return usage(fmt.Errorf("--hbase-nodes is %d, give at least 1", c.HBaseNodes))
	case c.ScannerLease <= 0:
		return usage(fmt.Errorf("--scanner-lease is %v, give more than 0", c.ScannerLease))
	}
	return nil
}

func (c *devCmd) Run(e *env) error {
	if c.Repair {
		return c.repair(e)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	if c.For > 0 {
		time.AfterFunc(c.For, cancel)
	}
	stack, err := c.start()
	if err != nil {
		return err
	}
	defer stack.close()
	ctx, done := stack.whole(ctx)
	defer done()
	err = c.run(ctx, e, stack)
	if damage := new(exitError); errors.As(context.Cause(ctx), &damage) {
		return damage
	}
	return err
}

// run runs the bundled pipelines on the stack until ctx ends.
func (c *devCmd) run(ctx context.Context, e *env, stack *devStack) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg, problems := config.Parse("examples/dev.yaml", examples.Dev, stack.getenv)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("BUG: the bundled configuration is wrong: %w", err)
	}
	if err := stack.prepare(ctx, cfg); err != nil {
		return unlessStopped(ctx, err)
	}
	log, done := newLog(e, slog.LevelWarn)
	defer done()
	s, err := newService(ctx, cfg, log)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer s.close()
	serveNodes(s.admin, stack.hbase)
	s.servers = append(s.servers, server{"the embedded Kafka", stack.kafka.Broken}, server{"the embedded HBase", stack.hbase.Broken})
	if !c.JSON {
		fmt.Fprintf(e.stdout, "Kafka on %s, HBase on rpc://%s, http://%s/metrics, all in this process", stack.kafkaAddr(), stack.hbase.Addr(), s.admin.Addr())
		fmt.Fprintf(e.stdout, "; data in %s%s\n", stack.dir, map[bool]string{true: " until brine stops"}[c.Data == ""])
	}
	line := newLive(e.stdout, c.JSON, s.samples)
	published := make(chan error, 1)
	go func() {
		err := unlessStopped(ctx, c.show(ctx, e.stdout, e.stderr, stack, cfg, s, line))
		if err != nil {
			cancel()
		}
		published <- err
	}()
	if err := watch(ctx, s, line); err != nil {
		return err
	}
	cancel()
	return <-published
}

// show publishes the sample, waits until it is written, and shows what is there and how to go on.
func (c *devCmd) show(ctx context.Context, out, log io.Writer, stack *devStack, cfg *config.Config, s *service, line *live) error {
	began := time.Now()
	total, fresh, err := stack.publishSamples(ctx, log)
	if err != nil {
		return err
	}
	if err := s.untilEnd(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	if c.JSON {
		return nil
	}
	line.pauseFor(func() {
		fmt.Fprintf(out, "\n%s events are in Kafka, and as rows and documents in HBase and the index; %s of them new, after %.1f s.\n",
			thousands(int64(total)), thousands(int64(fresh)), took.Seconds())
		err = showSamples(ctx, out, cfg, s)
		showSkew(out, s)
		fmt.Fprintf(out, goOn, s.admin.Addr(), stack.kafkaAddr(), stack.hbase.Addr(), sampleWaybill)
		if c.For == 0 {
			fmt.Fprintf(out, "Ctrl-C stops.\n\n")
		}
	})
	return err
}

const goOn = `
Go on:
  curl -s http://%[1]s/metrics | grep ^brine_
  curl -s http://%[1]s/healthz
  brine skew --http %[1]s
  BRINE_KAFKA_BROKERS=%[2]s BRINE_HBASE_CONNECT=rpc://%[3]s brine query -c examples/scans.yaml scans waybill=%[4]s
  brine run -c examples/scans.yaml runs the same pipeline on your own Kafka and HBase.
`

// What the first run shows: a real flight told as a waybill, and a generated trail.
const (
	sampleWaybill  = "UA-1545-20130101-EWR"
	generatedTrail = "YD310000000000"
)

func showSamples(ctx context.Context, out io.Writer, cfg *config.Config, s *service) error {
	for _, w := range []struct {
		title, table string
		where        []string
		fields       []string // nil means all
		limit        int
	}{
		{"A waybill, newest first (a real flight)", "logistics:scans", []string{"waybill=" + sampleWaybill}, nil, 0},
		{"Another one (generated)", "logistics:scans", []string{"waybill=" + generatedTrail}, nil, 0},
		{"Orders by a word and a status: keys from the index, rows from HBase", "shop:orders",
			[]string{"text=绿茶", "status=shipped"}, []string{"user", "created", "order", "status", "total", "items"}, 5},
	} {
		_, name, _ := strings.Cut(w.table, ":")
		fmt.Fprintf(out, "\n%s: brine query %s %s\n", w.title, name, strings.Join(w.where, " "))
		ask, err := newQuestion(cfg, cfg.Table(w.table), w.where)
		if err != nil {
			return err
		}
		ask.limit = w.limit
		printer := rowPrinter{out: out, fields: w.fields}
		if err := printer.print(ask.rows(ctx, s.cluster.client, s.engine)); err != nil {
			return err
		}
	}
	return nil
}

// showSkew shows how the rows lie over the regions.
func showSkew(out io.Writer, s *service) {
	state := s.tables.State()
	for _, name := range sortedKeys(state.Tables) {
		fmt.Fprintln(out)
		printSkew(out, name, state.Tables[name])
	}
}
