package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const besideConfig = "deploy/pictures/pictures.yaml"

// prometheusConfig scrapes everything that runs; it is all gone after the run.
const prometheusConfig = `
global: { scrape_interval: %v, evaluation_interval: %v }
rule_files: [%q]
scrape_configs:
  - job_name: brine
    static_configs: [{ targets: [%s] }]
`

// stage runs everything for the length of the run, and takes the pictures: those of the terminal while the busy courier makes a region hot.
func (o *options) stage(ctx context.Context) (err error) {
	dir := o.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "brine-pictures-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		_ = g.Wait() // the processes were told to end
	}()
	dev, err := start(ctx, g, `Kafka on (\S+?), HBase on (rpc://\S+?), http://(\S+?)/metrics`, nil,
		o.brine, "dev", "--data", filepath.Join(dir, "dev"))
	if err != nil {
		return err
	}
	env := []string{"BRINE_KAFKA_BROKERS=" + dev[0], "BRINE_HBASE_CONNECT=" + dev[1], "BRINE_HTTP_LISTEN=127.0.0.1:0"}
	if err := finish(ctx, env, o.brine, "tables", "apply", "--yes", "-c", besideConfig); err != nil {
		return err
	}
	beside, err := start(ctx, g, `health on http://(\S+?) `, env, o.brine, "run", "-c", besideConfig, "--quiet")
	if err != nil {
		return err
	}
	verify, err := start(ctx, g, `health on http://(\S+)`, env, o.brine, "verify", "-c", besideConfig, "--follow", "--every", "15s",
		"--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if o.prometheus, err = startPrometheus(ctx, g, dir, dev[2], beside[0], verify[0]); err != nil {
		return err
	}
	o.from = time.Now().Add(6 * scrape) // rates need a few
	fmt.Printf("Prometheus on %s until %s\n", o.prometheus, o.from.Add(o.length).Format("15:04"))
	traffic := &traffic{broker: dev[0], rate: o.rate, length: o.length}
	g.Go(func() error { return traffic.run(ctx) })
	if err := wait(ctx, time.Until(o.from.Add(o.length*9/10))); err != nil {
		return err
	}
	if err := o.terminals(ctx, dev[2], beside[0]); err != nil {
		return err
	}
	if err := wait(ctx, time.Until(o.from.Add(o.length))); err != nil {
		return err
	}
	return o.draw(ctx)
}

func startPrometheus(ctx context.Context, g *errgroup.Group, dir string, targets ...string) (url string, err error) {
	rules, err := filepath.Abs("deploy/prometheus/*.rules.yaml")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(prometheusConfig, scrape, scrape, rules, strings.Join(targets, ", "))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	at, err := start(ctx, g, `msg="Listening on" address=(\S+)`, nil, "prometheus", "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(dir, "prometheus"), "--web.listen-address=127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("%w; apt-get install prometheus has it", err)
	}
	return "http://" + at[0], nil
}

// wait waits for a duration.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
