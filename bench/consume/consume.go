// Package consume measures the first half of brine alone, from a real Kafka to events, without a store: the whole loop, including its group
// and its commits, with a writer that accepts everything at once. It compares this with kafka-go, which only reads the records and decodes
// nothing. `make bench-consume` runs it.
//
// Every load is a process over the same topic, in alternating order. The measure is CPU time: events per second of one core. It ends with
// one line per target, `name value target ok|short`, and exits with 1 if any is short.
package consume

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/bench/measure"
)

const (
	partitions = 4
	eventsFile = "scans.jsonl"
)

// clients are the readers of the topics, by their names in bench/consume/client.
var clients = []string{"brine", "kafka-go-reader", "kafka-go-fetch"}

// codecs are the topics, by the compression of their batches.
var codecs = map[string]kgo.CompressionCodec{"plain": kgo.NoCompression(), "lz4": kgo.Lz4Compression()}

// Command is the command line.
type Command struct {
	Events int `default:"2000000" help:"Number of events in a topic."`
	Rounds int `default:"3" help:"Number of rounds."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{events: c.Events}
	return measure.Make("bench-consume", func() error { return b.run(ctx, c.Rounds) })
}

type bench struct {
	*measure.Cluster
	events int
	kafka  string // address
	broker int    // process id
	client string // program that runs a load
	report *measure.Report
}

func (b *bench) run(ctx context.Context, rounds int) (err error) {
	b.report = measure.NewReport("consume")
	if b.Cluster, err = measure.StartCluster(ctx, "", "kafka"); err != nil {
		return err
	}
	defer b.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	var loads []string
	for codec := range codecs {
		for _, client := range clients {
			loads = append(loads, client+" "+codec)
			if err := b.load(ctx, client+" "+codec, 0); err != nil { // warms the broker's page cache and compiled code
				return err
			}
		}
	}
	if err := measure.Alternate(rounds, loads, func(load string, round int) error { return b.load(ctx, load, round) }); err != nil {
		return err
	}
	b.judge()
	return b.report.Finish(b.text())
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.client, err = b.Build(ctx, "./bench/consume/client"); err != nil {
		return err
	}
	if b.kafka, err = b.Address("BRINE_REAL_KAFKA"); err != nil {
		return err
	}
	if b.broker, err = b.PID("kafka"); err != nil {
		return err
	}
	if err := measure.WriteScans(b.Path(eventsFile), b.events); err != nil {
		return err
	}
	for name, codec := range codecs {
		if err := b.publish(ctx, name, codec); err != nil {
			return fmt.Errorf("topic %s: %w", name, err)
		}
	}
	return nil
}

// publish fills a topic with the events.
func (b *bench) publish(ctx context.Context, topic string, codec kgo.CompressionCodec) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.kafka), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return err
	}
	defer client.Close()
	create := kmsg.NewCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}
	r, err := create.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(r.Topics[0].ErrorCode); err != nil {
		return err
	}
	file, err := os.Open(b.Path(eventsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	var failed error
	for lines := bufio.NewScanner(file); lines.Scan(); {
		client.Produce(ctx, kgo.StringRecord(lines.Text()), func(_ *kgo.Record, err error) { // callbacks do not overlap
			if err != nil {
				failed = err
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	return failed
}

// load runs a client over a topic, as a process.
func (b *bench) load(ctx context.Context, load string, round int) error {
	var client, topic string
	if _, err := fmt.Sscan(load, &client, &topic); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.client, "-client", client, "-kafka", b.kafka, "-topic", topic, "-partitions", strconv.Itoa(partitions),
		"-events", strconv.Itoa(b.events))
	l, err := measure.Run(cmd, load, measure.Shape{Rows: b.events}, b.broker)
	if err != nil {
		return err
	}
	l.Round = round
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-16s: %6.0f events/s, CPU %5.2f µs/event, %4.0f MiB\n", round, load, l.RowsPerSecond(),
		l.ClientMicros(), l.Peak())
	return nil
}
