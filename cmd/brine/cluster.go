package main

import (
	"context"
	"io"
	"log/slog"

	"brine/config"
	"brine/hbase"
	"brine/service/stores"
)

// openHBase connects to the cluster of the configuration; embedded:DIR starts it first.
func openHBase(ctx context.Context, cfg *config.Config, opts hbase.Options) (*stores.HBase, error) {
	return stores.OpenHBase(ctx, cfg, opts, slog.Default())
}

// closing closes what is no longer used.
func closing(what string, c io.Closer) { stores.Close(what, c, slog.Default()) }
