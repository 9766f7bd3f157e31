package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"brine/config"
	"brine/examples"
	"brine/internal/term"
	"brine/service"
	"brine/service/brokers"
	"brine/service/devstack"
)

type devCmd struct {
	For       time.Duration `help:"Stop after this long."`
	Data      string        `type:"path" placeholder:"DIR" help:"Folder for all data, which is kept across restarts (default: a temporary one, deleted when brine stops)."`
	Repair    bool          `help:"Recover what can be recovered from a damaged --data folder, report what is lost, and exit."`
	KafkaPort int           `help:"Port of the embedded Kafka (default: any free port)."`
	HBasePort int           `name:"hbase-port" help:"Port of the embedded HBase (default: any free port)."`
	HTTPPort  int           `name:"http-port" help:"Admin port (default: any free port)."`
	ServePort int           `help:"Port of the HTTP API (default: any free port)."`
	JSON      bool          `help:"Print progress as JSON lines."`

	HBaseNodes   int           `name:"hbase-nodes" default:"1" placeholder:"N" help:"Number of region servers of the embedded HBase (default 1)."`
	ScannerLease time.Duration `default:"1m" help:"Time after which the embedded HBase closes a scanner that is not used (default 1m)."`
}

// devGroup is brine dev: it starts the servers, and controls those that run.
type devGroup struct {
	Start devCmd     `cmd:"" default:"withargs" help:"Run everything on embedded servers with sample data (the default subcommand)."`
	Node  devNodeCmd `cmd:"" help:"List, stop, start or add region servers of a running brine dev."`
}

// Help returns the detailed help of the command.
func (devGroup) Help() string {
	return devCmd{}.Help() + `

brine dev start --help lists the flags.`
}

// Help returns the detailed help of the command.
func (devCmd) Help() string {
	return `Starts Kafka, HBase and brine in one process, publishes one month of real events, writes them and shows them.

Examples:
  brine dev
  brine dev --for 20s
  brine dev --data ./data/dev --kafka-port 9092 --hbase-port 16000 --http-port 8765
  brine dev --data ./data/dev --repair`
}

// AfterApply rejects numbers that would be taken for the defaults, or with which no server starts.
func (c devCmd) AfterApply() error {
	switch {
	case c.HBaseNodes < 1:
		return usage(fmt.Errorf("--hbase-nodes is %d; it must be at least 1", c.HBaseNodes))
	case c.ScannerLease <= 0:
		return usage(fmt.Errorf("--scanner-lease is %v; it must be more than 0", c.ScannerLease))
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
	stack, err := devstack.Start(devstack.Options{Dir: c.Data, KafkaPort: c.KafkaPort, HBasePort: c.HBasePort, HTTPPort: c.HTTPPort,
		ServePort:  c.ServePort,
		HBaseNodes: c.HBaseNodes, ScannerLease: c.ScannerLease, Log: slog.Default()})
	if err != nil {
		return err
	}
	defer stack.Close()
	ctx, end := stack.Guard(ctx)
	return end(c.run(ctx, e, stack))
}

// run runs the bundled pipelines on the stack until ctx is done.
func (c *devCmd) run(ctx context.Context, e *env, stack *devstack.Stack) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg, problems := config.Parse("examples/dev.yaml", examples.Dev, stack.Getenv)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("BUG: the bundled configuration is wrong: %w", err)
	}
	if err := stack.Prepare(ctx, cfg); err != nil {
		return unlessStopped(ctx, err)
	}
	log, done := newLog(e, slog.LevelWarn)
	defer done()
	opts := serviceOptions(service.ToRun, log)
	opts.Servers = stack.Servers()
	s, err := service.Open(ctx, cfg, opts)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer s.Close()
	api, err := openAPIs(ctx, s, log)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	stack.HandleNodes(s)
	served := api.start(ctx, log)
	defer func() { cancel(); served() }() // before the stores are closed
	if !c.JSON {
		fmt.Fprintf(e.stdout, "Kafka on %s, HBase on rpc://%s, http://%s/metrics, all in this process", stack.KafkaAddr(),
			stack.HBaseAddr(), s.Addr())
		fmt.Fprintf(e.stdout, "; console on http://%s, HTTP API on http://%[1]s/api/v1/docs", api.users.Addr())
		fmt.Fprintf(e.stdout, "; data in %s%s\n", stack.Dir(), map[bool]string{true: " until brine stops"}[c.Data == ""])
		if err := showAccounts(ctx, e.stdout, s, api.ops.URL()); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	line := newLive(e.stdout, c.JSON, s.Status)
	published := make(chan error, 1)
	go func() {
		err := unlessStopped(ctx, c.show(ctx, e, stack, s, api.users.Addr(), line))
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

// show publishes the sample, waits until it is written, and prints what was stored and what to try next.
func (c *devCmd) show(ctx context.Context, e *env, stack *devstack.Stack, s *service.Service, api string, line *live) error {
	began := time.Now()
	offsets := brokers.Offsets{Client: stack.Offsets()}
	defer offsets.Close()
	total, fresh, err := stack.PublishSamples(ctx, offsets, e.stderr)
	if err != nil {
		return err
	}
	if err := s.UntilEnd(ctx, offsets); err != nil {
		return err
	}
	took := time.Since(began)
	if c.JSON {
		return nil
	}
	line.pauseFor(func() {
		fmt.Fprintf(e.stdout, "\n%s events are in Kafka, and as rows and documents in HBase and the index; %s of them new, after %.1f s.\n",
			term.Thousands(int64(total)), term.Thousands(int64(fresh)), took.Seconds())
		err = showSamples(ctx, e.stdout, s)
		showSkew(e.stdout, s)
		fmt.Fprintf(e.stdout, goOn, s.Addr(), stack.KafkaAddr(), stack.HBaseAddr(), sampleWaybill, api)
		if c.For == 0 {
			fmt.Fprintf(e.stdout, "Ctrl-C stops.\n\n")
		}
	})
	return err
}

const goOn = `
Next:
  curl -s http://%[1]s/metrics | grep ^brine_
  curl -s http://%[1]s/healthz
  brine skew --http %[1]s
  curl -s 'http://%[5]s/api/v1/views/waybill?waybill=%[4]s'
  BRINE_KAFKA_BROKERS=%[2]s BRINE_HBASE_CONNECT=rpc://%[3]s brine query -c examples/scans.yaml scans waybill=%[4]s
  brine run -c examples/scans.yaml runs the same pipeline on your own Kafka and HBase.
`
