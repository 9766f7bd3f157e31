package main

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
)

// cluster is an HBase client with, where the configuration asks for one, the server in this process.
type cluster struct {
	client *hbase.Client
	server *embedded.Server // nil unless embedded
}

// openHBase connects to the cluster of the configuration; embedded:DIR starts it first.
func openHBase(ctx context.Context, cfg *config.Config, opts hbase.Options) (*cluster, error) {
	c := &cluster{}
	if dir, ok := cfg.Cluster.Embedded(); ok {
		server, err := startHBase(embedded.Options{Dir: dir})
		if err != nil {
			return nil, err
		}
		c.server = server
		opts.Connect = "rpc://" + server.Addr()
	}
	if opts.Connect == "" {
		return nil, usage(errors.New("hbase.connect is not set; name the masters: rpc://host:16000"))
	}
	if opts.Hooks.Retry == nil {
		opts.Hooks = newOutages(slog.Default()).hbase(opts.Hooks)
	}
	client, err := hbase.Open(ctx, opts)
	if err != nil {
		c.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &exitError{exitUnreachable, fmt.Errorf("hbase.connect: %w", err), hbaseHint(opts.Connect)}
	}
	c.client = client
	return c, nil
}

// hbaseHint says what to look at when no HBase answers where hbase.connect says.
func hbaseHint(connect string) string {
	if strings.HasPrefix(connect, "zk://") {
		return "start HBase, or name its ZooKeepers in hbase.connect (port 2181 unless set otherwise), with HBase's zookeeper.znode.parent as the path"
	}
	return "start HBase, or name servers of it in hbase.connect: masters (port 16000 unless set otherwise) or region servers (16020)"
}

// untested words the client's warning of a cluster's release.
func untested(version string) string {
	return fmt.Sprintf("the cluster runs HBase %s, which this brine is not tested with; it is with %s", version, strings.Join(hbase.TestedVersions(), ", "))
}

// startHBase starts the embedded server, with its own errors told apart by exit code.
func startHBase(opts embedded.Options) (*embedded.Server, error) {
	opts.Warn = func(err error) { slog.Warn("the embedded HBase", "error", err) }
	server, err := embedded.Start(opts)
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return nil, &exitError{exitData, fmt.Errorf("embedded HBase: %w", err), "stop the process that uses it, or choose another folder"}
	case errors.Is(err, embedded.ErrNewerFormat):
		return nil, &exitError{exitData, fmt.Errorf("embedded HBase: %w", err), "use the brine that wrote it, or a newer one, or choose another folder"}
	case errors.Is(err, embedded.ErrDamaged):
		return nil, damaged("embedded HBase", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, portError(fmt.Errorf("embedded HBase: %w", err), "--hbase-port") // elsewhere the port is a free one
	case err != nil:
		return nil, fmt.Errorf("embedded HBase: %w", err)
	}
	return server, nil
}

// damaged is the error of a data folder that is not what was written.
func damaged(what string, err error) error {
	return &exitError{exitDamaged, fmt.Errorf("%s: %w", what, err),
		"brine dev --data DIR --repair saves what it can of a folder of brine dev, and says what is lost; or delete the folder and write it again"}
}

// openSearch opens the search engine of the configuration: a client, or the engine in this process.
func openSearch(cfg *config.Config) (indexer.Engine, error) {
	if dir, ok := cfg.Search.Embedded(); ok {
		engine, err := bleve.Open(bleve.Options{Dir: dir})
		if errors.Is(err, bleve.ErrDamaged) {
			return nil, damaged("search.connect", err)
		}
		if err != nil {
			return nil, &exitError{exitData, fmt.Errorf("search.connect: %w", err), "stop the process that uses the folder, or choose another one"}
		}
		return engine, nil
	}
	engine, err := elastic.Open(cfg.Search.Elastic())
	if err != nil {
		return nil, usage(err)
	}
	return engine, nil
}

// Close closes the client and then the server.
func (c *cluster) Close() {
	if c.client != nil {
		closing("the HBase client", c.client)
	}
	if c.server != nil {
		closing("the embedded HBase", c.server)
	}
}

// closeTime bounds how long one thing may take to close: a disk or a peer may answer nothing any more.
const closeTime = 15 * time.Second

// closing closes what is no longer used. An error loses nothing that was acknowledged, but is worth a line.
func closing(what string, c io.Closer) {
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			slog.Warn("closing "+what, "error", err)
		}
	case <-time.After(closeTime):
		slog.Warn("closing "+what+" did not end", "after", closeTime)
	}
}

// closer makes an io.Closer of what cannot fail to close.
type closer func()

func (c closer) Close() error { c(); return nil }
