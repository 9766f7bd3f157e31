// Package stores opens the stores that a configuration names: an HBase client and a search engine, each with its server in this process if
// the configuration asks for that. It reports repeated failures in them, and damage.
package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/internal/fault"
	"brine/registry"
	"brine/service/admin"
)

// HBase is a client of a cluster, with the embedded server if the configuration asks for one.
type HBase struct {
	Client *hbase.Client
	Server *embedded.Server // nil unless embedded

	damage Damage
	log    *slog.Logger
}

// OpenHBase connects to the cluster of a configuration; embedded:DIR starts it first. If opts has no Retry hook, servers that fail
// repeatedly are logged.
func OpenHBase(ctx context.Context, cfg *config.Config, opts hbase.Options, log *slog.Logger) (*HBase, error) {
	h := &HBase{damage: NewDamage(), log: log}
	if dir, ok := cfg.Cluster.Embedded(); ok {
		server, err := StartHBase(embedded.Options{Dir: dir, Damaged: h.damage.Report}, log)
		if err != nil {
			return nil, err
		}
		h.Server = server
		opts.Connect = "rpc://" + server.Addr()
	}
	if opts.Connect == "" {
		return nil, fault.Misused(errors.New("hbase.connect is not set; name the masters: rpc://host:16000"))
	}
	if opts.Hooks.Retry == nil {
		opts.Hooks = NewOutages(log, cfg.Mask().MasksKey).HBase(opts.Hooks)
	}
	if opts.Hooks.Running == nil {
		opts.Hooks.Running = func(i hbase.ProcedureInfo) { log.Info(working(i)) }
	}
	if opts.Hooks.Certificates == nil {
		opts.Hooks.Certificates = func(i hbase.CertificatesInfo) { ReadAgain(log, "hbase.tls", i.Err) }
	}
	if opts.Hooks.Renewal == nil {
		opts.Hooks.Renewal = func(i hbase.RenewalInfo) { log.Warn("hbase.kerberos: a ticket could not be renewed", "error", i.Err) }
	}
	client, err := hbase.Open(ctx, opts)
	if err != nil {
		h.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fault.New(fault.Unreachable, fmt.Errorf("hbase.connect: %w", err), fixOf(err, opts.Connect))
	}
	h.Client = client
	return h, nil
}

// ReadAgain logs the result of reading changed certificates.
func ReadAgain(log *slog.Logger, section string, err error) {
	if err != nil {
		log.Warn(section+": its files have changed but cannot be used", "error", err)
		return
	}
	log.Info(section + ": its files have changed, and new connections use them")
}

// working describes a change that the master is working on.
func working(i hbase.ProcedureInfo) string {
	return fmt.Sprintf("%s %s: the master has been working on it for %v, as procedure %d", i.Op, i.Table, i.For.Round(time.Second), i.ID)
}

// fixOf returns what to do about an HBase that could not be opened, or "" if the error says so.
func fixOf(err error, connect string) string {
	var says interface{ Advice() string }
	if errors.As(err, &says) {
		return ""
	}
	return connectFix(connect)
}

// connectFix returns what to check if no HBase answers at hbase.connect.
func connectFix(connect string) string {
	if strings.HasPrefix(strings.TrimPrefix(connect, "hbase+"), "zk://") {
		return "start HBase, or name its ZooKeeper servers in hbase.connect (port 2181 by default), with HBase's zookeeper.znode.parent as " +
			"the path"
	}
	return "start HBase, or name its servers in hbase.connect: masters (port 16000 by default) or region servers (16020)"
}

// Untested returns the warning about a cluster's release.
func Untested(version string) string {
	return fmt.Sprintf("the cluster runs HBase %s, which this brine has not been tested with; it has been with %s", version,
		strings.Join(hbase.TestedVersions(), ", "))
}

// Guard returns a context that is canceled when the embedded server finds its folder damaged; see Damage.Guard.
func (h *HBase) Guard(ctx context.Context) (context.Context, func(error) error) {
	return h.damage.Guard(ctx)
}

// Close closes the client, then the server.
func (h *HBase) Close() {
	if h.Client != nil {
		Close("the HBase client", h.Client, h.log)
	}
	if h.Server != nil {
		Close("the embedded HBase", h.Server, h.log)
	}
}

// StartHBase starts the embedded server. Errors outside of calls are logged.
func StartHBase(opts embedded.Options, log *slog.Logger) (*embedded.Server, error) {
	opts.Warn = func(err error) { log.Warn("the embedded HBase", "error", err) }
	server, err := embedded.Start(opts)
	if known, is := errors.AsType[*fault.Error](err); is { // from the listen function of the process
		return nil, known
	}
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return nil, fault.New(fault.Data, fmt.Errorf("embedded HBase: %w", err), "stop the process that uses it, or choose another folder")
	case errors.Is(err, embedded.ErrNewerFormat):
		return nil, fault.New(fault.Data, fmt.Errorf("embedded HBase: %w", err),
			"use the brine that wrote it, or a newer one, or choose another folder")
	case errors.Is(err, embedded.ErrDamaged):
		return nil, Damaged("embedded HBase", err)
	case errors.Is(err, syscall.EADDRINUSE) || admin.InvalidPort(err):
		return nil, admin.PortError(fmt.Errorf("embedded HBase: %w", err), "--hbase-port") // elsewhere the port is a free one
	case err != nil:
		return nil, fmt.Errorf("embedded HBase: %w", err)
	}
	return server, nil
}

// OpenSearch opens the search engine of a configuration: a client, or the embedded engine.
func OpenSearch(cfg *config.Config) (indexer.Engine, error) {
	if dir, ok := cfg.Search.Embedded(); ok {
		engine, err := bleve.Open(bleve.Options{Dir: dir})
		if errors.Is(err, bleve.ErrDamaged) {
			return nil, Damaged("search.connect", err)
		}
		if err != nil {
			return nil, fault.New(fault.Data, fmt.Errorf("search.connect: %w", err), "stop the process that uses the folder, or choose another one")
		}
		return engine, nil
	}
	engine, err := elastic.Open(cfg.Search.Elastic())
	if err != nil {
		return nil, fault.Misused(err)
	}
	return engine, nil
}

// Registry is a client of the schema registry whose errors have fault kinds.
type Registry struct{ *registry.Client }

// OpenRegistry opens the schema registry of a configuration without connecting, or returns nil if none is configured.
func OpenRegistry(cfg *config.Config) (*Registry, error) {
	o, ok := cfg.Registry()
	if !ok {
		return nil, nil
	}
	client, err := registry.New(o)
	if err != nil {
		return nil, fault.New(fault.Data, fmt.Errorf("registry.cache: %w", err), "choose a folder that brine can write to")
	}
	return &Registry{client}, nil
}

// Check checks that the registry answers and accepts the credentials.
func (r *Registry) Check(ctx context.Context) error {
	return registryError(r.Client.Check(ctx))
}

// Newest returns the newest schema of a subject, or nil if there is no such subject.
func (r *Registry) Newest(ctx context.Context, subject string) (*registry.Schema, error) {
	s, err := r.Client.Newest(ctx, subject)
	return s, registryError(err)
}

func registryError(err error) error {
	if e, ok := errors.AsType[*registry.Error](err); ok {
		kind := fault.Unreachable
		if e.Status != 0 {
			kind = fault.Failed
		}
		return fault.New(kind, fmt.Errorf("registry.url: %w", err), "") // the text has the fix
	}
	return err
}

// closeTime is the longest time to wait for one Close: a disk or a peer may not respond any more.
const closeTime = 15 * time.Second

// Close closes c, and waits at most closeTime. An error loses nothing that was acknowledged, but is logged.
func Close(what string, c io.Closer, log *slog.Logger) {
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			log.Warn("closing "+what, "error", err)
		}
	case <-time.After(closeTime):
		log.Warn("closing "+what+" did not end", "after", closeTime)
	}
}
