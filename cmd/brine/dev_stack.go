package main

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/hbase/embedded"
	"brine/indexer"
	brokers "brine/ingest/embedded"
	"brine/internal/sample"
	"brine/publish"
)

// devPartitions is how many partitions the topics of brine dev have.
const devPartitions = 4

// devHeld bounds what the embedded HBase holds for its clients, since all of brine dev is to do with 256 MiB.
const devHeld = 24 << 20

// The bundled samples, each for its topic: what is generated comes behind what is real.
const (
	devTrails = 500
	devOrders = 2000
)

var bundled = []struct {
	topic, key string
	events     func() iter.Seq[[]byte]
}{
	{"courier.scans", "waybill", devScans},
	{"shop.orders", "order", func() iter.Seq[[]byte] { return sample.Orders(devOrders) }},
}

func devScans() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, seq := range []iter.Seq[[]byte]{sample.Scans(), sample.Trail(devTrails)} {
			for event := range seq {
				if !yield(event) {
					return
				}
			}
		}
	}
}

// devStack is the embedded servers of brine dev and their folder.
type devStack struct {
	dir    string
	keep   bool
	unlock func()
	kafka  *brokers.Broker
	hbase  *embedded.Server
	http   string
	damage chan error // of HBase's folder, found while it is read
}

func (c *devCmd) start() (_ *devStack, err error) {
	s := &devStack{dir: c.Data, keep: c.Data != "", http: "127.0.0.1:" + strconv.Itoa(c.HTTPPort), damage: make(chan error, 1)}
	if !s.keep {
		if s.dir, err = os.MkdirTemp("", "brine-dev-"); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.unlock, err = lockData(s.dir); err != nil {
		return nil, err
	}
	if s.kafka, err = startKafka(c.KafkaPort, filepath.Join(s.dir, "kafka")); err != nil {
		return nil, err
	}
	s.hbase, err = startHBase(embedded.Options{
		Dir: filepath.Join(s.dir, "hbase"), Addr: "127.0.0.1:" + strconv.Itoa(c.HBasePort), Servers: c.HBaseNodes, ScannerLease: c.ScannerLease,
		MaxHeld: devHeld, Damaged: func(err error) {
			select {
			case s.damage <- err:
			default: // the first one ends brine
			}
		},
	})
	return s, err
}

// whole ends a context, with the damage as its cause, when HBase's folder turns out to be damaged.
func (s *devStack) whole(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-s.damage:
			cancel(damaged("embedded HBase", err))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (s *devStack) kafkaAddr() string { return s.kafka.ListenAddrs()[0] }

func (s *devStack) client() *kafka.Client { return &kafka.Client{Addr: kafka.TCP(s.kafkaAddr())} }

// getenv lays the addresses of the embedded servers over the bundled configuration.
func (s *devStack) getenv(name string) (string, bool) {
	v, ok := map[string]string{
		"BRINE_KAFKA_BROKERS":  s.kafkaAddr(),
		"BRINE_HBASE_CONNECT":  "rpc://" + s.hbase.Addr(),
		"BRINE_SEARCH_CONNECT": "embedded:" + filepath.Join(s.dir, "search"),
		"BRINE_HTTP_LISTEN":    s.http,
	}[name]
	return v, ok
}

// prepare makes the topics and tables that are missing.
func (s *devStack) prepare(ctx context.Context, cfg *config.Config) error {
	client := s.client()
	for _, p := range cfg.Pipelines {
		if err := createTopic(ctx, client, p.Topic, devPartitions); err != nil {
			return err
		}
	}
	cluster, err := openHBase(ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	steps, err := planTables(ctx, cfg, cluster.client)
	if err != nil {
		return err
	}
	if err := createTables(ctx, cluster.client, steps); err != nil {
		return err
	}
	_, err = withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) {
		steps, err := planIndexes(ctx, cfg, engine)
		if err != nil {
			return nil, err
		}
		return steps, applyIndexes(ctx, engine, steps)
	})
	return err
}

// publishSamples puts the bundled events into their topics, those that are not there yet, and gives how many there are and
// how many it put.
func (s *devStack) publishSamples(ctx context.Context, log io.Writer) (total, fresh int, err error) {
	patience := publish.Patience{Limit: 24 * time.Hour, Log: log} // its disk may be full until somebody makes room
	for _, b := range bundled {
		a := appender(s.client(), b.topic)
		a.Shared = true // whoever tries brine out may be quicker
		n, err := a.Publish(ctx, publish.Keyed(certain(b.events()), b.key))
		for err != nil {
			if err = patience.Wait(ctx, err); err != nil {
				return total, fresh, err
			}
			var more int
			more, err = a.Publish(ctx, publish.Keyed(certain(b.events()), b.key))
			n += more
		}
		ends, err := a.Ends(ctx)
		if err != nil {
			return total, fresh, err
		}
		total, fresh = total+int(sum(ends)), fresh+n
	}
	return total, fresh, nil
}

// certain makes a sequence that may fail of one that does not.
func certain(events iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// close stops the servers; a folder that is not to be kept goes.
func (s *devStack) close() {
	if s.hbase != nil {
		closing("the embedded HBase", s.hbase)
	}
	if s.kafka != nil {
		closing("the embedded Kafka", closer(s.kafka.Close))
	}
	if s.unlock != nil {
		s.unlock()
	}
	if !s.keep {
		if err := os.RemoveAll(s.dir); err != nil {
			slog.Warn("removing the data folder", "error", err)
		}
	}
}
