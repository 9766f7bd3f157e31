// Package hbase writes to a real HBase at a constant rate, and reads, while it breaks or upgrades that HBase. Then it counts: every
// acknowledged mutation must be there, none twice, and those of a row in the order in which they were given. `make chaos-hbase`, `make
// chaos-hbase-secure` and `make upgrade-hbase` run it.
//
// The cluster belongs to this run alone: ZooKeeper, a master and two region servers, each a process that is killed, stopped and started by
// its own id. They all end with the run, even if it fails or is interrupted. The faults come one after another, in an order that the seed
// determines; the next one waits until the cluster and every part of the load have recovered from the last.
//
// Read kinds.go and package fault (which faults, and what each does), masterless.go (what else is tested when the master dies), setting.go
// (which cluster: as it comes, one that requires TLS and tickets, or one that is upgraded; secure.go), load.go, reads.go and stalls.go (how
// long the load stalled), model.go and verify.go (what must be in the table), report.go (what is reported). It ends with a line per target,
// `name value target ok|short`, and exits with 1 if any is short.
package hbase

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/bench/measure"
)

// Command is the command line.
type Command struct {
	Seed   uint64        `default:"${seed}" help:"Seed of the plan: it decides the order of the faults and what they hit."`
	Rate   int           `default:"2000" help:"Mutations per second."`
	Faults string        `help:"Only these kinds of faults, comma-separated, in this order (default: the whole plan)."`
	Limit  time.Duration `default:"15m" help:"Time limit for everything; the last fault begins two minutes before that."`

	Secure      bool   `help:"Break a cluster with TLS and Kerberos: tickets live for a minute, connections are cut."`
	UpgradeFrom string `placeholder:"VERSION" help:"Break nothing: start the cluster as this release, and upgrade it process by process."`
}

// Run breaks HBase, and counts.
func (c *Command) Run(ctx context.Context) error {
	s, err := c.setting()
	if err != nil {
		return err
	}
	r := run{Seed: c.Seed, Rate: c.Rate, limit: c.Limit, setting: s}
	return measure.Make(s.name, func() error { return r.main(ctx, c.Faults) })
}

func (r *run) main(ctx context.Context, only string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit+2*patience) // allows for a last fault that does not heal, and a load that does not end
	defer cancel()
	if r.order, err = r.plan(only, r.Seed); err != nil {
		return err
	}
	fmt.Printf("seed %d: %s\n", r.Seed, strings.Join(r.order, ", "))
	if err := r.all(ctx); err != nil {
		return err
	}
	if only != "" {
		return measure.Judge(r.targets(len(r.order), 1))
	}
	return r.finish(r.targets(r.faults, r.of))
}
