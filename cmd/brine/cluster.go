package main

import (
	"io"
	"log/slog"

	"brine/config"
	"brine/hbase"
	"brine/service/stores"
)

// openHBase connects to the cluster of the configuration. With embedded:DIR it starts the cluster first, and ends the command if the
// cluster's folder is damaged.
func openHBase(e *env, cfg *config.Config, opts hbase.Options) (*stores.HBase, error) {
	h, err := stores.OpenHBase(e.ctx, cfg, opts, slog.Default())
	if err == nil {
		e.guard(h.Guard)
	}
	return h, err
}

// withHBase runs work with a client of the configuration's cluster.
func withHBase(e *env, cfg *config.Config, work func(*hbase.Client) error) error {
	cluster, err := openHBase(e, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	return work(cluster.Client)
}

// closing closes c and logs a failure.
func closing(what string, c io.Closer) { stores.Close(what, c, slog.Default()) }
