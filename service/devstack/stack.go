// Package devstack is the servers of brine dev in one process: Kafka, HBase and the search index on one data folder, which one process
// has at a time, with sample data to publish. It starts, fills, repairs and closes them; the pipelines that read and write them are a
// service's.
package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"brine/config"
	"brine/hbase/embedded"
	"brine/ingest"
	brokers "brine/ingest/embedded"
	"brine/ingest/offsets"
	"brine/schema"
	"brine/service"
	"brine/service/admin"
	"brine/service/stores"
)

// Partitions is how many partitions the topics of a stack have.
const Partitions = 4

// held bounds what the embedded HBase holds for its clients, since all of brine dev is to do with 256 MiB.
const held = 16 << 20

// Options say where a stack keeps its data and listens. Port 0 is a free one.
type Options struct {
	Dir          string // empty: a temporary one, which goes with Close
	KafkaPort    int
	HBasePort    int
	HTTPPort     int           // of the service's admin port
	ServePort    int           // of the HTTP API
	HBaseNodes   int           // region servers
	ScannerLease time.Duration // of HBase
	Log          *slog.Logger  // required
}

// Stack is the embedded servers and their folder.
type Stack struct {
	opts   Options
	dir    string
	unlock func()

	kafka  *brokers.Broker
	hbase  *embedded.Server
	damage stores.Damage // of HBase's folder, found while it is read
}

// Start takes the folder for this process and starts the servers. An error says its kind: a folder in use, newer or damaged, a port in use.
func Start(o Options) (_ *Stack, err error) {
	s := &Stack{opts: o, dir: o.Dir, damage: stores.NewDamage()}
	if o.Dir == "" {
		if s.dir, err = os.MkdirTemp("", "brine-dev-"); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.unlock, err = lock(s.dir); err != nil {
		return nil, err
	}
	if s.kafka, err = startKafka(o.KafkaPort, s.path("kafka"), o.Log); err != nil {
		return nil, err
	}
	s.hbase, err = stores.StartHBase(embedded.Options{
		Dir: s.path("hbase"), Addr: "127.0.0.1:" + strconv.Itoa(o.HBasePort), Servers: o.HBaseNodes, ScannerLease: o.ScannerLease,
		MaxHeld: held, Damaged: s.damage.Report,
	}, o.Log)
	return s, err
}

// startKafka runs a broker in this process. It keeps records and group offsets in a folder across restarts.
func startKafka(port int, dir string, log *slog.Logger) (*brokers.Broker, error) {
	var refused error // why the port cannot be had; the broker's own error does not wrap it
	listen := func(_, addr string) (net.Listener, error) {
		_, p, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		l, err := admin.Listen(net.JoinHostPort("127.0.0.1", p), "--kafka-port", log)
		refused = err
		return l, err
	}
	broker, err := brokers.StartIn(dir, listen, func(err error) { log.Warn("the embedded Kafka", "error", err) },
		kfake.NumBrokers(1), kfake.Ports(port), kfake.DefaultNumPartitions(Partitions))
	switch {
	case errors.Is(err, brokers.ErrDamaged):
		return nil, stores.Damaged("embedded Kafka", err)
	case err != nil && refused != nil:
		return nil, refused
	case err != nil:
		return nil, fmt.Errorf("embedded Kafka on port %d: %w", port, err)
	}
	return broker, nil
}

func (s *Stack) path(name string) string { return filepath.Join(s.dir, name) }

// Dir returns the data folder.
func (s *Stack) Dir() string { return s.dir }

// KafkaAddr returns the address of the broker.
func (s *Stack) KafkaAddr() string { return s.kafka.ListenAddrs()[0] }

// HBaseAddr returns the address of HBase's master.
func (s *Stack) HBaseAddr() string { return s.hbase.Addr() }

// requestTimeout is for one answer of the broker, whose disk may be slow.
const requestTimeout = time.Minute

func (s *Stack) broker() ingest.Kafka { return ingest.Kafka{Brokers: []string{s.KafkaAddr()}} }

// Offsets returns a client that asks the broker for offsets. The caller closes it.
func (s *Stack) Offsets() *offsets.Client { return offsets.Open(s.broker(), requestTimeout) }

// Getenv is an environment that lays the addresses of the servers over a configuration.
func (s *Stack) Getenv(name string) (string, bool) {
	v, ok := map[string]string{
		config.EnvPrefix + "KAFKA_BROKERS":  s.KafkaAddr(),
		config.EnvPrefix + "HBASE_CONNECT":  "rpc://" + s.hbase.Addr(),
		config.EnvPrefix + "SEARCH_CONNECT": "embedded:" + s.path("search"),
		config.EnvPrefix + "MAP_HISTORY":    "brine:maps",
		config.EnvPrefix + "HTTP_LISTEN":    "127.0.0.1:" + strconv.Itoa(s.opts.HTTPPort),
		config.EnvPrefix + "SERVE_LISTEN":   "127.0.0.1:" + strconv.Itoa(s.opts.ServePort),

		config.EnvPrefix + "SERVE_OPS_LISTEN": "127.0.0.1:0",
		config.EnvPrefix + "ACCOUNTS_CONNECT": "embedded:" + s.path("accounts"),
	}[name]
	return v, ok
}

// Servers are the servers whose health is that of a service on the stack.
func (s *Stack) Servers() []service.Server {
	return []service.Server{{Name: "the embedded Kafka", Broken: s.kafka.Broken}, {Name: "the embedded HBase", Broken: s.hbase.Broken}}
}

// Guard returns a context that ends when HBase's folder is found damaged; see stores.Damage.Guard.
func (s *Stack) Guard(ctx context.Context) (context.Context, func(error) error) {
	return s.damage.Guard(ctx)
}

// Prepare makes the topics, tables and indexes of a configuration that are missing.
func (s *Stack) Prepare(ctx context.Context, cfg *config.Config) error {
	client := s.Offsets()
	defer client.Close()
	for _, p := range cfg.Pipelines {
		for _, topic := range p.Named() { // those that a pattern will match come by themselves
			if err := client.CreateTopic(ctx, topic, Partitions); err != nil {
				return err
			}
		}
	}
	return CreateMissing(ctx, cfg, s.opts.Log)
}

// CreateMissing makes the tables and indexes of a configuration that are missing in its stores, whatever these are.
func CreateMissing(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	cluster, err := stores.OpenHBase(ctx, cfg, cfg.HBase(), log)
	if err != nil {
		return err
	}
	defer cluster.Close()
	engine, err := stores.OpenSearch(cfg)
	if err != nil {
		return err
	}
	defer stores.Close("the search engine", engine, log)
	in := schema.Stores{Cluster: cluster.Client, Search: engine}
	changes, err := schema.Plan(ctx, cfg, in)
	if err != nil {
		return err
	}
	return changes.Create(ctx, in)
}

// Close stops the servers; a temporary folder goes.
func (s *Stack) Close() {
	if s.hbase != nil {
		stores.Close("the embedded HBase", s.hbase, s.opts.Log)
	}
	if s.kafka != nil {
		stores.Close("the embedded Kafka", closer(s.kafka.Close), s.opts.Log)
	}
	if s.unlock != nil {
		s.unlock()
	}
	if s.opts.Dir == "" {
		if err := os.RemoveAll(s.dir); err != nil {
			s.opts.Log.Warn("removing the data folder", "error", err)
		}
	}
}

// closer makes an io.Closer of what cannot fail to close.
type closer func()

func (c closer) Close() error { c(); return nil }
