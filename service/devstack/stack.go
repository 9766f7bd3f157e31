// Package devstack runs the servers of brine dev in one process: Kafka, HBase and the search index on one data folder, which only one
// process can use at a time, with sample data to publish. It starts, fills, repairs and closes the servers; the pipelines that use them
// belong to a service.
package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// Partitions is the number of partitions of a stack's topics.
const Partitions = 4

// held limits what the embedded HBase holds for its clients, because all of brine dev must fit into 256 MiB.
const held = 16 << 20

// processors is the minimum GOMAXPROCS of a process with a stack. Its servers run long computations: the index merges segments, HBase's
// store compacts files. Go lets a goroutine that computes keep its processor for 10 ms while others wait, so on a machine with two cores a
// query waited for each of them. With more processors than cores, the operating system shares the cores among the threads instead, and runs
// a thread that has just been woken by the network at once.
const processors = 8

// Options configure the data folder and ports of a stack. Port 0 is a free port.
type Options struct {
	Dir          string // empty: a temporary folder, which Close removes
	KafkaPort    int
	HBasePort    int
	HTTPPort     int           // of the service's admin port
	ServePort    int           // of the HTTP API
	HBaseNodes   int           // number of region servers
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
	damage stores.Damage // to HBase's folder, found while it is read
}

// Start locks the folder and starts the servers. It raises GOMAXPROCS to 8, unless the environment sets it. Its errors have fault kinds: a
// folder in use, newer or damaged, or a port in use.
func Start(o Options) (_ *Stack, err error) {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < processors {
		runtime.GOMAXPROCS(processors)
	}
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

// startKafka starts a broker in this process. The broker keeps records and group offsets in a folder across restarts.
func startKafka(port int, dir string, log *slog.Logger) (*brokers.Broker, error) {
	var refused error // why the port could not be opened; the broker's own error does not wrap it
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

// Kafka returns the broker, with its faults.
func (s *Stack) Kafka() *brokers.Broker { return s.kafka }

// HBaseAddr returns the address of HBase's master.
func (s *Stack) HBaseAddr() string { return s.hbase.Addr() }

// HBase returns HBase's server, with its faults.
func (s *Stack) HBase() *embedded.Server { return s.hbase }

// requestTimeout is the timeout of requests to the broker, whose disk may be slow.
const requestTimeout = time.Minute

func (s *Stack) broker() ingest.Kafka { return ingest.Kafka{Brokers: []string{s.KafkaAddr()}} }

// Offsets returns a client for offsets. The caller closes it.
func (s *Stack) Offsets() *offsets.Client { return offsets.Open(s.broker(), requestTimeout) }

// Getenv looks up environment variables that override a configuration with the addresses of the servers.
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

// Servers returns the servers whose health counts for a service on the stack.
func (s *Stack) Servers() []service.Server {
	return []service.Server{{Name: "the embedded Kafka", Broken: s.kafka.Broken}, {Name: "the embedded HBase", Broken: s.hbase.Broken}}
}

// Guard returns a context that is canceled when HBase's folder is found damaged; see stores.Damage.Guard.
func (s *Stack) Guard(ctx context.Context) (context.Context, func(error) error) {
	return s.damage.Guard(ctx)
}

// Prepare creates the missing topics, tables and indexes of a configuration. The groups that feed what it creates will read their topics
// from the start, as somebody may have deleted a store's folder alone: what they have committed was written to what is gone.
func (s *Stack) Prepare(ctx context.Context, cfg *config.Config) error {
	client := s.Offsets()
	defer client.Close()
	if err := CreateTopics(ctx, cfg, client); err != nil {
		return err
	}
	return create(ctx, cfg, s.opts.Log, func(changes *schema.Changes) error { return s.readAgain(ctx, cfg, changes, client) })
}

// readAgain deletes the commits of the groups that feed the tables and indexes that are about to be created.
func (s *Stack) readAgain(ctx context.Context, cfg *config.Config, changes *schema.Changes, client *offsets.Client) error {
	halves := slices.DeleteFunc(cfg.Halves(), func(half config.Half) bool { return fed(half, changes) == "" })
	if len(halves) == 0 {
		return nil
	}
	groups, err := client.Groups(ctx)
	if err != nil {
		return fmt.Errorf("the offsets of the pipelines: %w", err)
	}
	for _, half := range halves {
		if !slices.Contains(groups, half.Group()) {
			continue
		}
		s.opts.Log.Warn("the data folder has lost what a pipeline had written; it is written again from Kafka's records",
			"pipeline", half.Name(), "missing", fed(half, changes))
		if err := client.Forget(ctx, half.Group()); err != nil {
			return fmt.Errorf("the offsets of %s: %w", half.Name(), err)
		}
	}
	return nil
}

// fed returns a table or index that the half writes and the changes create, or "".
func fed(half config.Half, changes *schema.Changes) string {
	if half.Kind == "rows" {
		for _, t := range changes.Tables {
			if t.Action == schema.Create && half.Pipeline.Writes(t.Table) {
				return t.Table
			}
		}
		return ""
	}
	for _, m := range half.Pipeline.Indexer().Mappings() {
		for _, x := range changes.Indexes {
			if x.Action == schema.Create && x.Index == m.Index {
				return x.Index
			}
		}
	}
	return ""
}

// CreateTopics creates the missing topics of a configuration, with Partitions each.
func CreateTopics(ctx context.Context, cfg *config.Config, client *offsets.Client) error {
	for _, p := range cfg.Pipelines {
		for _, topic := range p.Named() { // topics that match a pattern appear by themselves
			if err := client.CreateTopic(ctx, topic, Partitions); err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateMissing creates the missing tables and indexes of a configuration in its stores.
func CreateMissing(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	return create(ctx, cfg, log, func(*schema.Changes) error { return nil })
}

// create calls first before it creates anything.
func create(ctx context.Context, cfg *config.Config, log *slog.Logger, first func(*schema.Changes) error) error {
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
	if err == nil {
		err = first(changes)
	}
	if err != nil {
		return err
	}
	return changes.Create(ctx, in)
}

// Close stops the servers and removes a temporary folder.
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

// closer is an io.Closer for a function that cannot fail.
type closer func()

func (c closer) Close() error { c(); return nil }
