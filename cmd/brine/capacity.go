package main

import (
	"errors"
	"time"

	"brine/config"
	"brine/plan"
)

// capacityFlags describe the load on a table and the servers that carry it.
type capacityFlags struct {
	TPS        float64         `name:"tps" placeholder:"N" help:"Show the capacity needed to write this many rows per second."`
	RowBytes   config.Bytes    `placeholder:"SIZE" help:"Size of a row in bytes, keys included, before compression (default: measured on the sample)."`
	Keep       config.Duration `placeholder:"TIME" help:"How long rows are kept, such as 92d (default: the longest ttl of the table's families)."`
	Needs      []string        `enum:"transactions,two-orders,full-scans," placeholder:"NEED" help:"Further requirements: transactions (over several rows), two-orders (the same rows read forwards and backwards), full-scans."`
	ServerHeap config.Bytes    `default:"32GiB" help:"Heap size of a region server."`
	ServerDisk config.Bytes    `default:"16TiB" help:"Disk space of a region server."`
	ServerRows float64         `default:"25000" help:"Rows per second that a region server can write, compactions included."`
}

// expected returns the load that the flags describe.
func (c *capacityFlags) expected() (plan.Load, error) {
	l := plan.Load{Rows: c.TPS, RowBytes: float64(c.RowBytes), Keep: time.Duration(c.Keep),
		Server: plan.Server{Heap: int64(c.ServerHeap), Disk: int64(c.ServerDisk), Rows: c.ServerRows}}
	for _, n := range c.Needs {
		l.Needs = append(l.Needs, plan.Need(n))
	}
	if l.Server.Heap <= 0 || l.Server.Disk <= 0 || l.Server.Rows <= 0 || l.Rows < 0 {
		return l, usage(errors.New("--tps, --server-heap, --server-disk and --server-rows must be greater than 0"))
	}
	return l, nil
}
