// Package failingregion measures the cost of one failing region among 16 to the other 15 in the whole pipeline: brine, in its own process,
// reads from a Kafka in this process and writes to an embedded HBase in it, which for ten seconds refuses every mutation of one region.
// Then it does the same from a real Kafka to a real HBase, one region of which is split. `make bench-failing-region` runs it.
package failingregion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"brine/bench/measure"
	"brine/hbase/embedded"
	brokers "brine/ingest/embedded"
)

const (
	configuration = "examples/scans.yaml"
	table         = "logistics:scans" // of the configuration
	topic         = "courier.scans"   // of the configuration
	events        = 1_300_000         // more than are published
	eventsFile    = "scans.jsonl"
	regions       = 16

	healthyFor = 5 * time.Second
	failingFor = 10 * time.Second
)

// stage is the servers of one fault, and the fault.
type stage struct {
	kafka, hbase string
	rate         int           // events/s published; the pipeline's full rate depends on the machine's other load
	settle       time.Duration // until everything runs normally
	fail         func(context.Context) (end func() error, err error)
	close        func()
}

// Command is the command line.
type Command struct {
	Rate      int `default:"40000" help:"Events per second into the embedded servers."`
	SplitRate int `default:"25000" help:"Events per second into the real ones, where a region is split."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{rate: c.Rate, split: c.SplitRate, report: measure.NewReport("failing-region")}
	return measure.Make("bench-failing-region", func() error { return b.run(ctx) })
}

type bench struct {
	rate   int // events/s for the embedded servers
	split  int // events/s for the real ones
	dir    string
	brine  string
	report *measure.Report
	rows   strings.Builder // of the page's table
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "brine-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }() // it is a temporary folder
	if b.brine, err = measure.Build(ctx, b.dir, "./cmd/brine"); err != nil {
		return err
	}
	if err := measure.WriteScans(filepath.Join(b.dir, eventsFile), events); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		stage func(context.Context) (*stage, error)
	}{
		{"too_busy", b.refusing("too_busy", "org.apache.hadoop.hbase.RegionTooBusyException")},
		{"not_serving", b.refusing("not_serving", "org.apache.hadoop.hbase.NotServingRegionException")},
		{"split", b.splitting},
	} {
		if err := b.one(ctx, f.name, f.stage); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	text := b.report.Heading() + fmt.Sprintf(" %d events/s are published (split: %d, into real servers); one region of %d fails for %v "+
		"(split: for as long as it takes).\n\n",
		b.rate, b.split, regions, failingFor) +
		"| one region | rows/s before | rows/s of the others meanwhile | of theirs before | all settled after |\n|---|---|---|---|---|\n" +
		b.rows.String() +
		"\n" + measure.TargetTable(b.report.Targets)
	return b.report.Finish(text)
}

// one measures one fault on its own servers.
func (b *bench) one(ctx context.Context, name string, start func(context.Context) (*stage, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	s, err := start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	env := append(os.Environ(), "BRINE_KAFKA_BROKERS="+s.kafka, "BRINE_HBASE_CONNECT="+s.hbase, "BRINE_HTTP_LISTEN=127.0.0.1:0")
	if out, err := b.command(ctx, env, "tables", "apply").CombinedOutput(); err != nil {
		return fmt.Errorf("brine tables apply: %w: %s", err, out)
	}
	publish := b.command(ctx, env, "publish", "--alone", "--topic", topic, "--key", "waybill", "--rate", strconv.Itoa(s.rate),
		filepath.Join(b.dir, eventsFile))
	if err := publish.Start(); err != nil {
		return err
	}
	defer func() {
		_ = publish.Process.Kill() // it may have more events than needed
		_ = publish.Wait()
	}()
	time.Sleep(time.Second)
	run := b.command(ctx, env, "run", "--quiet")
	address, ended, err := measure.StartBrine(run)
	if err != nil {
		return err
	}
	err = b.measure(ctx, name, s, "http://"+address+"/metrics")
	return errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
}

// refusing starts embedded servers, one region of which will refuse every mutation.
func (b *bench) refusing(name, class string) func(context.Context) (*stage, error) {
	return func(context.Context) (*stage, error) {
		kafka, err := brokers.Start(kfake.NumBrokers(1), kfake.Ports(0), kfake.DefaultNumPartitions(8))
		if err != nil {
			return nil, err
		}
		server, err := embedded.Start(embedded.Options{Dir: filepath.Join(b.dir, name)})
		if err != nil {
			kafka.Close()
			return nil, err
		}
		s := &stage{kafka: kafka.ListenAddrs()[0], hbase: "rpc://" + server.Addr(), rate: b.rate, settle: 2 * time.Second}
		s.close = func() { _ = server.Close(); kafka.Close() }
		s.fail = func(context.Context) (func() error, error) {
			failing := server.Regions(table)[regions/2]
			remove := server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
				r.Keep()
				fault := &embedded.Exception{Class: class, Message: "as bench-failing-region wants it"}
				return &embedded.Outcome{Regions: map[string]*embedded.Exception{failing.Encoded: fault}}
			})
			return func() error { remove(); return nil }, nil
		}
		return s, nil
	}
}

// splitting starts real servers, one region of which will be split.
func (b *bench) splitting(ctx context.Context) (*stage, error) {
	real, err := measure.StartStage(ctx, "4g", "kafka", "hbase")
	if err != nil {
		return nil, err
	}
	s := &stage{hbase: real.HBase, rate: b.split, settle: 20 * time.Second, close: real.Close}
	if s.kafka, err = real.Address("BRINE_REAL_KAFKA"); err != nil {
		real.Close()
		return nil, err
	}
	s.fail = func(ctx context.Context) (func() error, error) {
		all, err := real.Admin.Regions(ctx, table)
		if err != nil {
			return nil, err
		}
		if len(all) != regions {
			return nil, fmt.Errorf("%s has %d regions, not %d", table, len(all), regions)
		}
		failing := all[regions/2]
		split := make(chan error, 1)
		go func() { split <- real.Admin.SplitRegion(ctx, failing, append(bytes.Clone(failing.Start), '8')) }()
		return func() error { return <-split }, nil
	}
	return s, nil
}

func (b *bench) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.brine, append(args, "-c", configuration)...)
	cmd.Env = env
	return cmd
}

// measure compares the rate of acknowledged rows while one region is failing with the rate before.
func (b *bench) measure(ctx context.Context, name string, s *stage, metrics string) error {
	time.Sleep(s.settle)
	healthy, err := rate(metrics, healthyFor)
	if err != nil {
		return err
	}
	end, err := s.fail(ctx)
	if err != nil {
		return err
	}
	meanwhile, err := rate(metrics, failingFor)
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	began := time.Now()
	if err := drained(metrics); err != nil {
		return err
	}
	share := meanwhile.Over(healthy).Times(regions / float64(regions-1))
	fmt.Fprintf(os.Stderr, "%s: %.0f rows/s, then %.0f rows/s: the others keep %.2f\n", name, healthy.Value, meanwhile.Value, share.Value)
	fmt.Fprintf(&b.rows, "| %s | %.0f | %.0f | %.2f | %.1f s |\n", name, healthy.Value, meanwhile.Value, share.Value,
		time.Since(began).Seconds())
	b.report.Targets = append(b.report.Targets, measure.AtLeast("failing_region."+name+".others_rate", share, 0.9))
	return nil
}
