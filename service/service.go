// Package service is the pipelines of a configuration at work.
//
// Open connects to what the pipelines write to and prepares what the caller's purpose needs: loops that run, writers that a replay writes
// with, or only the stores, for readers. Run works until its context ends. A Service owns its clients, writers, loops and admin port, and
// Close ends them; between the two it reports the status, the health and the summary of each half.
//
// A pipeline has two halves, its rows and its documents. They are two loops with two consumer groups, and neither waits for the other.
package service

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"brine/account"
	"brine/account/oidc"
	"brine/command"
	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest/control"
	"brine/internal/repeat"
	"brine/metrics"
	"brine/registry"
	"brine/schema"
	"brine/serve/written"
	"brine/service/admin"
	"brine/service/brokers"
	"brine/service/mapstore"
	"brine/service/reload"
	"brine/service/stores"
	"brine/skew"
	"brine/tracing"
)

// Purpose is what a service is opened for. Each includes those before it.
type Purpose int

const (
	ToRead  Purpose = iota // the stores: Client and Engine
	ToWrite                // a writer for each half as well, which ends nothing that is over by its age: a replay's
	ToRun                  // a loop for each half, the admin port and tracing: what Run needs
)

// Options say what of a configuration is opened, and for what.
type Options struct {
	For     Purpose
	Halves  []string     // names of halves, such as orders.rows; nil: all of the pipelines
	Log     *slog.Logger // required
	Version string       // of this program, for metrics and traces
	Servers []Server     // further servers in this process, whose health is the service's
	Stores  *Service     // whose stores are used, since this process has them open; it is closed later. nil: they are opened

	// Source loads the configuration again, for Reload; nil: it cannot be. The problems are those of the configuration that it returns, or
	// would have.
	Source func() (*config.Config, config.Problems, error)

	// Busy says how busy the machine is, from 0 to 1, when halves give way to others; nil: as Linux says.
	Busy func() float64

	Users, Operators fs.FS // the console of either listener of the API; nil: there is none
}

// Server is one in this process, which may be unable to write its folder.
type Server struct {
	Name   string
	Broken func() error // why it cannot write; nil: it can
}

// Service is the halves of a configuration's pipelines, as far as they were asked for.
type Service struct {
	cfg     atomic.Pointer[config.Config] // Reload changes what is of pipelines in it
	opts    Options
	topics  schema.Topics // what is asked of the brokers before a pipeline that forgets deletes writes
	log     *slog.Logger
	hbase   *stores.HBase           // nil when nothing that was asked for needs it
	engine  indexer.Engine          // nil when no half writes documents
	halves  atomic.Pointer[[]*Half] // Reload changes them
	former  []*Half                 // of earlier configurations, whose writers a replay or a repair writes with
	control *control.Topic          // nil unless opened ToRun, or asked for

	asked   atomic.Pointer[map[string]control.Entry] // by consumer group; nil until it is known
	kept    kept
	obeying sync.Mutex // held while a half is had do what is asked

	crew      atomic.Pointer[crew]          // nil before Run
	running   chan struct{}                 // closed once Run has a crew
	reloading chan struct{}                 // holds one while a reload is done
	editing   sync.Mutex                    // held while halves change
	refused   atomic.Pointer[reload.Result] // nil: the last reload was done

	registry  *prometheus.Registry
	tables    *skew.Tables
	maps      *mapstore.Store // nil: what maps show is not kept
	ingest    *metrics.Ingest
	sinks     *metrics.Sink
	indexes   *metrics.Indexer
	reloads   *metrics.Reload
	schemas   registry.Hooks // of metrics
	written   *written.Rows  // what this process writes
	resent    resent
	outages   *stores.Outages
	admin     *admin.Port
	tracer    *tracing.Tracer // nil: no record is followed
	servers   []Server        // in this process
	desk      *command.Desk   // nil while no API was opened that gives commands
	closeDesk func()
	company   *oidc.Provider // nil where people sign in by their passwords alone
	accounts  *account.Store // nil while nobody has asked for them, and where there are none
	serving   *metrics.Serve // nil while nothing is served

	operations Operations // nil while no operators' listener was opened
}

// Open opens what the options name; nothing is read from Kafka yet. What the error is about is closed again.
func Open(ctx context.Context, cfg *config.Config, opts Options) (*Service, error) {
	s := prepare(cfg, opts)
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes a service that has opened nothing yet.
func prepare(cfg *config.Config, opts Options) *Service {
	if opts.Halves != nil {
		cfg = Only(cfg, pipelinesOf(cfg, opts.Halves)...)
	}
	s := &Service{
		opts: opts, topics: brokers.Topics{Config: cfg}, log: opts.Log, registry: prometheus.NewRegistry(),
		tables: skew.NewTables(time.Now), outages: stores.NewOutages(opts.Log), servers: slices.Clone(opts.Servers),
		running: make(chan struct{}), reloading: make(chan struct{}, 1), written: &written.Rows{},
	}
	if opts.Stores != nil { // whose hooks report what fails in them, and who serves what is written
		s.outages, s.written = opts.Stores.outages, opts.Stores.written
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&metrics.Skew{Tables: s.tables, Start: s.describeStart}, metrics.Build(opts.Version))
	s.ingest = metrics.NewIngest(s.registry)
	s.sinks = metrics.NewSink(s.registry)
	s.schemas = metrics.Registry(s.registry)
	s.indexes = metrics.NewIndexer(s.registry, s.ingest)
	s.reloads = metrics.NewReload(s.registry, time.Now())
	if h, ok := s.log.Handler().(*repeat.Handler); ok {
		h.LeftOut(metrics.Logs(s.registry))
	}
	s.cfg.Store(cfg)
	halves := s.chosen(cfg)
	s.halves.Store(&halves)
	return s
}

func (s *Service) open(ctx context.Context) error {
	if s.opts.For == ToRun {
		if err := s.openTracing(); err != nil {
			return err
		}
	}
	if err := s.openStores(ctx); err != nil {
		return err
	}
	if s.opts.For >= ToWrite {
		if err := s.OpenWriters(ctx); err != nil {
			return err
		}
	}
	if s.opts.For < ToRun {
		return nil
	}
	if err := s.makeLoops(); err != nil {
		return err
	}
	return s.openPort()
}

// openPort opens the admin port of the configuration.
func (s *Service) openPort() (err error) {
	if s.admin, err = s.Port(s.Config().HTTP.Listen, "http.listen (brine dev: --http-port)", s.healthy, s.ready); err != nil {
		return err
	}
	s.admin.Handle("GET "+PipelinesPath, http.HandlerFunc(s.showPipelines))
	s.handleControl()
	s.handleReload()
	return nil
}

// Port opens a port that serves the service's metrics, what it knows of skew, and these checks of health; setting is where addr was chosen.
// The service's own port is opened by Open.
func (s *Service) Port(addr, setting string, healthy, ready admin.Health) (*admin.Port, error) {
	http := &s.Config().HTTP
	l, err := admin.ListenTLS(addr, setting, "http.tls", http.TLS.Port(), s.log)
	if err != nil {
		return nil, err
	}
	p := admin.New(l, addr, admin.Options{
		Metrics: s.registry, Healthy: healthy, Ready: ready, Notes: s.notes, Hosts: http.Hosts, Token: http.Token, Follow: http.Followed(),
		Pprof: http.Pprof, Log: s.log,
	})
	HandleSkew(p, s.tables)
	return p, nil
}

// Run works until ctx ends, and then settles and commits what was fetched; or until a loop fails or an embedded store is found damaged.
// The service was opened ToRun, and runs once.
func (s *Service) Run(ctx context.Context) error {
	ctx, end := s.Guard(ctx)
	g, ctx := errgroup.WithContext(ctx)
	loops := newCrew(ctx)
	for _, h := range s.all() {
		loops.start(h)
	}
	s.crew.Store(loops)
	close(s.running)
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(ctx)) // the port stays while the loops drain
	g.Go(func() error {
		defer stopAdmin()
		err := loops.wait()
		s.reloading <- struct{}{} // a reload that was begun is seen to its end, and none comes after it
		return err
	})
	g.Go(func() error { return s.admin.Run(adminCtx) })
	g.Go(func() error {
		s.followControl(adminCtx)
		return nil
	})
	g.Go(func() error {
		s.watchSkew(adminCtx)
		return nil
	})
	g.Go(func() error {
		if s.maps != nil {
			s.maps.Run(adminCtx)
		}
		return nil
	})
	g.Go(func() error {
		s.followRetention(adminCtx)
		return nil
	})
	g.Go(func() error {
		s.watchUndeclared(adminCtx)
		return nil
	})
	g.Go(func() error {
		s.giveWay(adminCtx)
		return nil
	})
	g.Go(func() error {
		cfg := s.Config()
		HoldHeap(adminCtx, int64(cfg.Memory), int64(cfg.ProcessMemory))
		return nil
	})
	return end(g.Wait())
}

// Guard returns a context that ends when an embedded store is found damaged. What was done within it ends with end, which takes its error
// and returns the damage instead of it if there is one. Run guards itself; who writes without it calls Guard.
func (s *Service) Guard(ctx context.Context) (guarded context.Context, end func(error) error) {
	if s.hbase == nil {
		return ctx, func(err error) error { return err }
	}
	return s.hbase.Guard(ctx)
}

// Close ends what Run does not: writers, clients and embedded servers.
func (s *Service) Close() {
	if s.operations != nil {
		s.operations.Close()
	}
	if s.closeDesk != nil {
		s.closeDesk()
	}
	if s.admin != nil {
		_ = s.admin.Close() // Run has closed it already, unless it never ran
	}
	for _, h := range append(s.former, s.all()...) {
		s.closeHalf(h)
	}
	if s.control != nil {
		s.control.Close()
	}
	with := s.opts.Stores
	if s.engine != nil && (with == nil || with.engine != s.engine) {
		stores.Close("the search engine", s.engine, s.log)
	}
	if s.hbase != nil && (with == nil || with.hbase != s.hbase) {
		s.hbase.Close()
	}
	if s.company != nil {
		s.company.Close()
	}
	if s.accounts != nil {
		stores.Close("the accounts", s.accounts, s.log)
	}
	s.closeTracing()
}

// Client returns the client of HBase; nil when no half needs it.
func (s *Service) Client() *hbase.Client {
	if s.hbase == nil {
		return nil
	}
	return s.hbase.Client
}

// Engine returns the search engine; nil when no half writes documents.
func (s *Service) Engine() indexer.Engine { return s.engine }

// Config returns the configuration, cut down to the pipelines that were asked for.
func (s *Service) Config() *config.Config { return s.cfg.Load() }

// all are the halves of now.
func (s *Service) all() []*Half { return *s.halves.Load() }

// Tables returns what is known of how rows lie over regions, servers and keys.
func (s *Service) Tables() *skew.Tables { return s.tables }

// Maps returns where what maps show is kept; nil: nowhere.
func (s *Service) Maps() *mapstore.Store { return s.maps }

// Registry returns where the metrics are registered.
func (s *Service) Registry() *prometheus.Registry { return s.registry }

// Addr returns where the admin port listens. The service was opened ToRun.
func (s *Service) Addr() string { return s.admin.Addr() }

// URL is where the paths of the admin port begin.
func (s *Service) URL() string { return s.admin.URL() }

// Handle adds a path to the admin port, before Run; see admin.Port.Handle.
func (s *Service) Handle(pattern string, h http.Handler) { s.admin.Handle(pattern, h) }

// Only returns the configuration cut down to some pipelines and the tables that they write.
func Only(cfg *config.Config, pipelines ...*config.Pipeline) *config.Config {
	only := *cfg
	only.Pipelines = pipelines
	only.Tables = slices.DeleteFunc(slices.Clone(cfg.Tables), func(t *config.Table) bool {
		return !slices.ContainsFunc(pipelines, func(p *config.Pipeline) bool { return p.Writes(t.Name) })
	})
	return &only
}
