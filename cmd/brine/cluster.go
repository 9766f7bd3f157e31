package main

import (
	"io"
	"log/slog"

	"brine/config"
	"brine/hbase"
	"brine/service/stores"
)

// openHBase connects to the cluster of the configuration; embedded:DIR starts it first, and ends the command when it is damaged.
func openHBase(e *env, cfg *config.Config, opts hbase.Options) (*stores.HBase, error) {
	h, err := stores.OpenHBase(e.ctx, cfg, opts, slog.Default())
	if err == nil {
		e.guard(h.Guard)
	}
	return h, err
}

// withHBase runs work on the cluster of the configuration.
func withHBase(e *env, cfg *config.Config, work func(*hbase.Client) error) error {
	cluster, err := openHBase(e, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	return work(cluster.Client)
}

// closing closes what is no longer used.
func closing(what string, c io.Closer) { stores.Close(what, c, slog.Default()) }
