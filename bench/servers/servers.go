// Package servers runs an embedded Kafka and an embedded HBase in a process of its own for benchmarks, and is examples/dev.yaml with them.
package servers

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
	subcommand = "servers" // of bench, which is Command

	topic      = "courier.scans"
	partitions = 8

	// Pipeline is the pipeline of examples/dev.yaml that reads the topic of the servers.
	Pipeline = "scans"
)

// Command is the process of an embedded Kafka and an embedded HBase: it prints their addresses and ends with its standard input.
type Command struct {
	Dir string `arg:"" help:"Folder of HBase's data."`
}

// Run serves.
func (c *Command) Run() error {
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

// Dev is examples/dev.yaml with the servers, as seen from another process.
type Dev struct {
	Config *config.Config

	dir   string
	stop  func()
	kafka string
	hbase string
}

// Start starts the servers.
func Start(ctx context.Context) (_ *Dev, err error) {
	s := &Dev{}
	if s.dir, err = os.MkdirTemp("", "brine-bench-"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addresses, stop, err := measure.Serve(exec.CommandContext(ctx, self, subcommand, filepath.Join(s.dir, "hbase")))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	s.stop, s.kafka, s.hbase = stop, addresses[0], addresses[1]
	cfg, problems := config.Parse("examples/dev.yaml", examples.Dev, func(name string) (string, bool) { v, ok := s.env()[name]; return v, ok })
	s.Config = cfg
	if err := problems.Err(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Dev) env() map[string]string {
	return map[string]string{"BRINE_KAFKA_BROKERS": s.kafka, "BRINE_HBASE_CONNECT": s.hbase}
}

// Environ returns the environment of a brine that uses the servers.
func (s *Dev) Environ() []string {
	all := os.Environ()
	for name, value := range s.env() {
		all = append(all, name+"="+value)
	}
	return all
}

// Close ends the servers and deletes their data.
func (s *Dev) Close() {
	s.stop()
	_ = os.RemoveAll(s.dir)
}

// Fill creates the table and publishes scan events.
func (s *Dev) Fill(ctx context.Context, events int) error {
	client, err := hbase.Open(ctx, s.Config.HBase())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing is pending any more
	table := s.Table()
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
	return s.Publish(ctx, events)
}

// Publish publishes scan events to all partitions in turn, each time the same.
func (s *Dev) Publish(ctx context.Context, events int) error {
	file := filepath.Join(s.dir, "scans.jsonl")
	if err := measure.WriteScans(file, events); err != nil {
		return err
	}
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

// Table returns the table of the pipeline.
func (s *Dev) Table() *config.Table {
	return s.Config.Table(s.Config.Pipeline(Pipeline).Rows[0].Table)
}
