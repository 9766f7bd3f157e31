package hbase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/bench/chaos/fault"
	"brine/hbase"
)

// aside is the table for writes other than the load's, which knows everything in its own table.
const aside = "chaos_aside"

// killMaster kills the master. While it is away, new clients that are given the region servers or ZooKeeper must be able to open, write and
// read.
func killMaster(s *fault.Scene) error {
	ways, err := waysIn(s.Procs)
	if err != nil {
		return err
	}
	s.Hits("until clients have worked without it")
	if err := s.Procs.Kill(fault.Master); err != nil {
		return err
	}
	for _, connect := range ways {
		if failed := worksWithoutMaster(s.Ctx, s.Client(connect)); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s, without a master: %w", connect, failed))
		}
	}
	return errors.Join(err, s.Procs.Up(s.Ctx, fault.Master))
}

// waysIn returns the addresses by which the cluster is found without its master.
func waysIn(p fault.Processes) ([]string, error) {
	zooKeeper, err := p.Address("BRINE_REAL_HBASE_ZK")
	if err != nil {
		return nil, err
	}
	var servers []string
	for _, name := range fault.RegionServers {
		addr, err := p.RegionServer(name)
		if err != nil {
			return nil, err
		}
		servers = append(servers, addr)
	}
	return []string{"rpc://" + strings.Join(servers, ","), zooKeeper}, nil
}

const masterless = 30 * time.Second // for everything that one client does

// worksWithoutMaster opens a client, which must notice that there is no master, and writes and reads a row all the same.
func worksWithoutMaster(ctx context.Context, o hbase.Options) (err error) {
	ctx, cancel := context.WithTimeout(ctx, masterless)
	defer cancel()
	c, err := hbase.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	row, now := []byte(o.Connect), time.Now().UnixMilli()
	b := hbase.NewBatch(aside)
	b.Mutate(row)
	b.Put(family, version, now, fmt.Append(nil, now))
	failed, err := c.Submit(ctx, b).Wait(ctx)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return &failed[0]
	}
	got, err := c.Get(ctx, aside, hbase.Get{Row: row})
	if err != nil {
		return err
	}
	if len(got.Cells) != 1 || string(got.Cells[0].Value) != fmt.Sprint(now) {
		return fmt.Errorf("read %v, wrote %d", got.Cells, now)
	}
	switch addr, err := c.Master(ctx); {
	case err == nil:
		return fmt.Errorf("the master that was killed answers at %s", addr)
	case !errors.Is(err, hbase.ErrNoMaster):
		return err
	}
	return nil
}
