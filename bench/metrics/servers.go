package metrics

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/bench/measure"
	"brine/config"
	"brine/examples"
	"brine/hbase"
	"brine/hbase/embedded"
	brokers "brine/ingest/embedded"
)

const (
	topic      = "courier.scans" // of examples/dev.yaml, as the pipeline
	pipeline   = "scans"
	partitions = 8
)

// Servers is the other process: it prints the servers' addresses and ends with its standard input.
type Servers struct {
	Dir string `arg:"" help:"Folder of HBase's data."`
}

// Run serves.
func (c *Servers) Run() error {
	kafka, err := brokers.Start(kfake.NumBrokers(1), kfake.Ports(0), kfake.SeedTopics(partitions, topic))
	if err != nil {
		return err
	}
	defer kafka.Close()
	server, err := embedded.Start(embedded.Options{Dir: c.Dir})
	if err != nil {
		return err
	}
	fmt.Println(kafka.ListenAddrs()[0], "rpc://"+server.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return server.Close()
}

// servers is this process's view of the other one.
type servers struct {
	dir    string
	stop   func()
	kafka  string
	hbase  string
	cfg    *config.Config
	groups int // that have read the topic
}

func startServers(ctx context.Context) (_ *servers, err error) {
	s := &servers{}
	if s.dir, err = os.MkdirTemp("", "brine-bench-"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addresses, stop, err := measure.Serve(exec.CommandContext(ctx, self, "metrics-servers", filepath.Join(s.dir, "hbase")))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	s.stop, s.kafka, s.hbase = stop, addresses[0], addresses[1]
	env := map[string]string{"BRINE_KAFKA_BROKERS": s.kafka, "BRINE_HBASE_CONNECT": s.hbase}
	cfg, problems := config.Parse("examples/dev.yaml", examples.Dev, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	s.cfg = cfg
	if err := problems.Err(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *servers) close() {
	s.stop()
	_ = os.RemoveAll(s.dir)
}

// fill creates the table and publishes the events to all partitions in turn.
func (s *servers) fill(ctx context.Context, events int) error {
	client, err := hbase.Open(ctx, s.cfg.HBase())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing is pending any more
	table := s.table()
	splits, err := table.SplitPoints()
	if err != nil {
		return err
	}
	namespace, _, _ := strings.Cut(table.Name, ":")
	if err := client.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	if err := client.CreateTable(ctx, table.HBase(), splits); err != nil {
		return err
	}
	file := filepath.Join(s.dir, "scans.jsonl")
	if err := measure.WriteScans(file, events); err != nil {
		return err
	}
	return s.publish(ctx, file)
}

func (s *servers) publish(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(s.kafka), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer producer.Close()
	lines := bufio.NewScanner(f)
	var batch []*kgo.Record
	send := func() error {
		sent := producer.ProduceSync(ctx, batch...)
		batch = nil
		return sent.FirstErr()
	}
	for n := int32(0); lines.Scan(); n++ {
		batch = append(batch, &kgo.Record{Topic: topic, Partition: n % partitions, Value: append([]byte(nil), lines.Bytes()...)})
		if len(batch) == 10_000 {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return errors.Join(lines.Err(), send())
}

func (s *servers) table() *config.Table {
	return s.cfg.Table(s.cfg.Pipeline(pipeline).Rows[0].Table)
}
