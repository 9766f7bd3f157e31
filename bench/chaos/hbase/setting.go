package hbase

import (
	"context"
	"errors"
	"fmt"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/hbase"
)

// setting is what a run tests.
type setting struct {
	name       string   // of the record, and of its make target
	cluster    string   // description on the page
	env        []string // for deploy/devcluster
	kinds      fault.Kinds
	faults, of int // least number of faults, and of kinds
	ready      func(*run) error
	options    func(*run, *hbase.Options)
	from       string // first release of the cluster, if it is upgraded
}

// plain is the cluster as it comes.
var plain = setting{name: "chaos-hbase", cluster: "HBase 2.6.4", kinds: kinds, faults: 30, of: 8}

// secured is a cluster that refuses clients without TLS, a certificate and a ticket.
var secured = setting{
	name: "chaos-hbase-secure", env: []string{"DEVCLUSTER_SECURE=yes"}, kinds: kinds, faults: 30, of: 8,
	cluster: fmt.Sprintf("HBase 2.6.4 with TLS, certificates of clients and Kerberos, tickets of %v, connections cut every %v",
		ticketLife, cutEvery),
	ready: (*run).logIn, options: (*run).secure,
}

// upgraded is a cluster of one release that is upgraded to the next.
func upgraded(from string) setting {
	return setting{
		name: "upgrade-hbase", cluster: "HBase " + from + ", upgraded to 2.6.4", from: from, env: []string{"HBASE_VERSION=" + from},
		kinds: upgrades, faults: len(upgrades), of: len(upgrades), ready: (*run).begins,
	}
}

// setting returns the setting that the command line asks for.
func (c *Command) setting() (setting, error) {
	switch {
	case c.Secure && c.UpgradeFrom != "":
		return setting{}, errors.New("--secure and --upgrade-from need separate runs: set one of them")
	case c.Secure:
		return secured, nil
	case c.UpgradeFrom != "":
		return upgraded(c.UpgradeFrom), nil
	}
	return plain, nil
}

// plan returns the faults in order: those of a list, or else all.
func (s *setting) plan(list string, seed uint64) ([]string, error) {
	switch {
	case list != "":
		return s.kinds.Parse(list)
	case s.from != "":
		return s.kinds.Names(), nil // the master comes first
	}
	return s.kinds.Plan(seed), nil
}

// processes are those with their own release: HDFS and ZooKeeper stay as they are.
var processes = append([]string{fault.Master}, fault.RegionServers...)

// begins checks that all processes have the old release; whatever starts from now on has the new one.
func (r *run) begins() error {
	for _, name := range processes {
		jars, err := r.procs.Jars(name)
		if err != nil {
			return err
		}
		if jars != "hbase-"+r.from {
			return fmt.Errorf("%s runs on the jars of %s, and is to be upgraded from %s", name, jars, r.from)
		}
	}
	r.procs.Set("HBASE_VERSION=", "DEVCLUSTER_UPGRADE=yes")
	return nil
}

// upgradedProcesses returns the number of processes with the new release.
func (r *run) upgradedProcesses() (n int) {
	for _, name := range processes {
		if jars, err := r.procs.Jars(name); err == nil && jars == "hbase" {
			n++
		}
	}
	return n
}

// client returns the options of a client of the cluster.
func (r *run) client(connect string) hbase.Options {
	o := hbase.Options{Connect: connect}
	if r.options != nil {
		r.options(r, &o)
	}
	return o
}

// start starts the cluster.
func (r *run) start(ctx context.Context) (*measure.Cluster, error) {
	cluster, err := measure.StartClusterWith(ctx, "768m", r.env, "hbase-cluster")
	if err != nil {
		return nil, err
	}
	r.procs = fault.Processes{Cluster: cluster}
	if r.ready == nil {
		return cluster, nil
	}
	if err := r.ready(r); err != nil {
		cluster.Close()
		return nil, err
	}
	return cluster, nil
}
