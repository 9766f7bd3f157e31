// Package service runs the pipelines of a configuration.
//
// Open connects to the stores that the pipelines write to and prepares what the caller's purpose needs: loops to run, writers for a replay,
// or only the stores for readers. Run runs the loops until its context is done. A Service owns its clients, writers, loops and admin port,
// which Close releases. In between, the Service reports the status, health and summary of each half.
//
// A pipeline has two halves, rows and documents. They are two loops with two consumer groups, and neither waits for the other.
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
	"golang.org/x/sync/singleflight"

	"brine/account"
	"brine/account/oidc"
	"brine/command"
	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
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

// Purpose is what a service is opened for. Each purpose includes the ones before it.
type Purpose int

const (
	ToRead  Purpose = iota // the stores: Client and Engine
	ToWrite                // also a writer for each half, as for a replay; the writers drop nothing that has expired
	ToRun                  // also a loop for each half, the admin port and tracing, as Run needs
)

// Options select what Open opens of a configuration, and for what purpose.
type Options struct {
	For     Purpose
	Halves  []string     // names of halves, such as orders.rows; nil: every half of every pipeline
	Log     *slog.Logger // required
	Version string       // program version, for metrics and traces
	Servers []Server     // further servers in this process, included in the service's health
	Stores  *Service     // stores that this process already has open; closed after this service; nil: open them

	// Source loads the configuration again for Reload; nil: Reload always fails. The problems are those of the loaded configuration, even if
	// it is invalid.
	Source func() (*config.Config, config.Problems, error)

	// Busy returns how busy the machine is, from 0 to 1, to decide when halves give way to others; nil: measured on Linux.
	Busy func() float64

	Users, Operators fs.FS // consoles of the two API listeners; nil: none
}

// Server is a server in this process that may be unable to write to its folder.
type Server struct {
	Name   string
	Broken func() error // returns why it cannot write, or nil if it can
}

// Service runs the selected halves of a configuration's pipelines.
type Service struct {
	cfg     atomic.Pointer[config.Config] // Reload replaces its pipelines
	opts    Options
	topics  schema.Topics // queried before a pipeline that purges deletes writes
	log     *slog.Logger
	hbase   *stores.HBase           // nil if no selected half needs it
	engine  indexer.Engine          // nil if no half writes documents
	halves  atomic.Pointer[[]*Half] // Reload replaces them
	memory  *ingest.Memory          // of all loops, whatever Reload makes of them
	former  []*Half                 // halves of earlier configurations, whose writers a replay or a repair uses
	control *control.Topic          // nil unless opened ToRun or requested
	marks   marks                   // kept in control; nil unless opened ToRun

	storedReads singleflight.Group // of marks, by partitions that wait for what is stored
	storing     sync.Mutex         // held while configurations are being stored

	asked   atomic.Pointer[map[string]control.Entry] // by consumer group; nil until first read
	kept    kept
	obeying sync.Mutex // held while an order is applied to a half

	crew      atomic.Pointer[crew]          // nil before Run
	running   chan struct{}                 // closed once Run has set crew
	reloading chan struct{}                 // holds one element during a reload
	readLast  *config.Config                // by the last Reload, even a refused one; nil: there was none. Guarded by reloading
	editing   sync.Mutex                    // held while halves changes
	refused   atomic.Pointer[reload.Result] // nil if the last reload succeeded

	registry  *prometheus.Registry
	tables    *skew.Tables
	maps      *mapstore.Store       // nil if map history is not kept
	loadsErr  atomic.Pointer[error] // of the last TakeLoads; nil before
	ingest    *metrics.Ingest
	sinks     *metrics.Sink
	indexes   *metrics.Indexer
	reloads   *metrics.Reload
	schemas   registry.Hooks // registry metrics
	written   *written.Rows  // the rows that this process writes
	resent    resent
	outages   *stores.Outages
	admin     *admin.Port
	tracer    *tracing.Tracer // nil if tracing is off
	servers   []Server        // servers in this process
	desk      *command.Desk   // nil until an API that takes commands is opened
	closeDesk func()
	company   *oidc.Provider // nil if people sign in only with passwords
	accounts  *account.Store // nil until first used, or if there are none
	serving   *metrics.Serve // nil until an API is opened

	operations Operations // nil until the operators' listener is opened
}

// Open opens what opts select. It does not read from Kafka yet. If Open fails, it closes what it has opened.
func Open(ctx context.Context, cfg *config.Config, opts Options) (*Service, error) {
	s := prepare(cfg, opts)
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// renewed logs that the files of certificates have changed.
func (s *Service) renewed(section string, err error) { stores.ReadAgain(s.log, section, err) }

// prepare returns a service that has opened nothing yet.
func prepare(cfg *config.Config, opts Options) *Service {
	if opts.Halves != nil {
		cfg = Only(cfg, pipelinesOf(cfg, opts.Halves)...)
	}
	s := &Service{
		opts: opts, topics: brokers.Topics{Config: cfg}, log: opts.Log, registry: prometheus.NewRegistry(),
		tables: skew.NewTables(time.Now), servers: slices.Clone(opts.Servers),
		running: make(chan struct{}), reloading: make(chan struct{}, 1), written: &written.Rows{}, memory: cfg.LoopMemory(),
	}
	s.outages = stores.NewOutages(opts.Log, func(table string) bool { return s.Config().Mask().MasksKey(table) })
	cfg.Renewed(s.renewed)
	if opts.Stores != nil { // its hooks report store failures, and it serves what is written
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

// openPort opens the configured admin port.
func (s *Service) openPort() (err error) {
	if s.admin, err = s.Port(s.Config().HTTP.Listen, "http.listen (brine dev: --http-port)", s.healthy, s.ready); err != nil {
		return err
	}
	s.admin.Handle("GET "+PipelinesPath, http.HandlerFunc(s.showPipelines))
	s.handleControl()
	s.handleReload()
	return nil
}

// Port opens an admin port that serves the service's metrics, its skew data and the given health checks. setting names the setting that
// addr comes from. Open opens the service's own port.
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

// Run runs the loops until ctx is done, then settles and commits what was fetched. It returns early if a loop fails or an embedded store is
// found damaged. The service must have been opened ToRun, and Run must be called only once.
func (s *Service) Run(ctx context.Context) error {
	ctx, end := s.Guard(ctx)
	g, ctx := errgroup.WithContext(ctx)
	loops := newCrew(ctx)
	for _, h := range s.all() {
		loops.start(h)
	}
	s.crew.Store(loops)
	close(s.running)
	adminCtx, stopAdmin := context.WithCancel(context.WithoutCancel(ctx)) // the port keeps serving while the loops drain
	g.Go(func() error {
		defer stopAdmin()
		err := loops.wait()
		s.reloading <- struct{}{} // waits for a running reload, and blocks later ones
		return err
	})
	g.Go(func() error { return s.admin.Run(adminCtx) })
	for _, run := range []func(context.Context){
		s.followControl, s.storeAtStart, s.checkControl, s.reportMembers, s.watchSkew, s.keepMaps, s.followRetention, s.watchUndeclared,
		s.giveWay, s.holdHeap,
	} {
		g.Go(func() error {
			run(adminCtx)
			return nil
		})
	}
	return end(g.Wait())
}

// Guard returns a context that is canceled when an embedded store is found damaged. The caller passes the error of its work to end, which
// returns the damage instead if there is any. Run guards itself; a caller that writes without Run calls Guard.
func (s *Service) Guard(ctx context.Context) (guarded context.Context, end func(error) error) {
	if s.hbase == nil {
		return ctx, func(err error) error { return err }
	}
	return s.hbase.Guard(ctx)
}

// Close closes what Run leaves open: writers, clients and embedded servers.
func (s *Service) Close() {
	if s.operations != nil {
		s.operations.Close()
	}
	if s.closeDesk != nil {
		s.closeDesk()
	}
	if s.admin != nil {
		_ = s.admin.Close() // already closed, unless Run was never called
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

// Client returns the HBase client, or nil if no half needs it.
func (s *Service) Client() *hbase.Client {
	if s.hbase == nil {
		return nil
	}
	return s.hbase.Client
}

// Engine returns the search engine, or nil if no half writes documents.
func (s *Service) Engine() indexer.Engine { return s.engine }

// Config returns the configuration, reduced to the selected pipelines.
func (s *Service) Config() *config.Config { return s.cfg.Load() }

// all returns the current halves.
func (s *Service) all() []*Half { return *s.halves.Load() }

// Tables returns how rows are distributed over regions, servers and keys.
func (s *Service) Tables() *skew.Tables { return s.tables }

// Maps returns the store of map history, or nil if none is kept.
func (s *Service) Maps() *mapstore.Store { return s.maps }

// Registry returns the metrics registry.
func (s *Service) Registry() *prometheus.Registry { return s.registry }

// Addr returns the address of the admin port. The service must have been opened ToRun.
func (s *Service) Addr() string { return s.admin.Addr() }

// URL returns the base URL of the admin port.
func (s *Service) URL() string { return s.admin.URL() }

// Handle adds a path to the admin port. It must be called before Run; see admin.Port.Handle.
func (s *Service) Handle(pattern string, h http.Handler) { s.admin.Handle(pattern, h) }

// Only returns cfg reduced to the given pipelines and the tables that they write.
func Only(cfg *config.Config, pipelines ...*config.Pipeline) *config.Config {
	only := *cfg
	only.Pipelines = pipelines
	only.Tables = slices.DeleteFunc(slices.Clone(cfg.Tables), func(t *config.Table) bool {
		return !slices.ContainsFunc(pipelines, func(p *config.Pipeline) bool { return p.Writes(t.Name) })
	})
	return &only
}
