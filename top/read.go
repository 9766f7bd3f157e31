package top

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/hbase"
	"brine/internal/wording"
	"brine/skew"
)

// Brine is a running brine, which is asked through its admin port.
type Brine struct {
	Addr      string
	Skew      func(context.Context) (skew.State, error)
	Pipelines func(context.Context) ([]Pipeline, error)
}

// Cluster reports the load of all regions; *hbase.Client implements it.
type Cluster interface {
	ClusterStatus(context.Context) (hbase.ClusterStatus, error)
}

// Reader asks brines and their cluster. It computes rates from the changes since the previous Read. The zero value of its unexported fields
// is ready to use. It is not safe for concurrent use.
type Reader struct {
	Brines  []Brine
	Cluster Cluster // nil: only the brines are asked

	events map[string]int64 // by brine and pipeline
	loads  map[string]hbase.RegionLoad
	at     time.Time
}

// Read asks once. Problems of the snapshot lists what does not answer.
func (r *Reader) Read(ctx context.Context, now time.Time) Snapshot {
	s := Snapshot{At: now}
	seconds := now.Sub(r.at).Seconds()
	regions := map[string]*region{}
	if r.Cluster != nil {
		if err := r.readCluster(ctx, regions, seconds); err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("the cluster does not answer: %s", wording.Plain(err.Error())))
		}
	}
	for _, b := range r.Brines {
		if err := r.readBrine(ctx, b, &s, regions, seconds); err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("%s does not answer: %s", b.Addr, wording.Plain(err.Error())))
		}
	}
	s.setRegions(regions)
	r.at = now
	return s
}

// readCluster adds the regions of all tables, whichever pipeline writes them.
func (r *Reader) readCluster(ctx context.Context, regions map[string]*region, seconds float64) error {
	status, err := r.Cluster.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	loads := map[string]hbase.RegionLoad{}
	for _, server := range status.Servers {
		for _, l := range server.Regions {
			loads[l.Encoded] = l
			of := &region{name: l.Encoded, table: l.Table, server: server.Addr, start: startInName(l), mb: int64(l.StoreFileMB + l.MemStoreMB)}
			if old, ok := r.loads[l.Encoded]; ok && old.Reads <= l.Reads && old.Writes <= l.Writes {
				of.reads, of.writes = float64(l.Reads-old.Reads)/seconds, float64(l.Writes-old.Writes)/seconds
			}
			regions[l.Encoded] = of
		}
	}
	r.loads = loads
	return nil
}

// startInName parses the start key in a region's name: table,start,id.encoded.
func startInName(l hbase.RegionLoad) string {
	rest := l.Name[min(len(l.Name), len(l.Table)+1):]
	if i := strings.LastIndexByte(rest, ','); i >= 0 {
		return skew.Key(rest[:i]).String()
	}
	return ""
}

// readBrine adds what one brine reports.
func (r *Reader) readBrine(ctx context.Context, b Brine, s *Snapshot, regions map[string]*region, seconds float64) error {
	state, err := b.Skew(ctx)
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(state.Tables)) {
		t := state.Tables[table]
		for i := range t.Regions {
			addLoad(regions, table, &t.Regions[i])
		}
		s.addKeys(table, "key", t.Heavy)
		for _, field := range slices.Sorted(maps.Keys(t.HeavyFields)) {
			s.addKeys(table, field, t.HeavyFields[field])
		}
	}
	s.hot = append(s.hot, state.Hot...)
	pipelines, err := b.Pipelines(ctx)
	if err != nil {
		return err
	}
	for _, p := range pipelines {
		s.pipelines = append(s.pipelines, r.rated(b.Addr, p, seconds))
	}
	return nil
}

// rated adds the rate of a pipeline since the previous reading.
func (r *Reader) rated(brine string, p Pipeline, seconds float64) pipeline {
	if r.events == nil {
		r.events = map[string]int64{}
	}
	id := brine + " " + p.Name
	out := pipeline{Pipeline: p, brine: brine}
	if before, ok := r.events[id]; ok && p.Events >= before {
		out.rate = float64(p.Events-before) / seconds
	}
	r.events[id] = p.Events
	return out
}

// addLoad merges what a brine reports about a region with what is already known. If the cluster is not asked, it uses the cluster's numbers
// that the brine has.
func addLoad(regions map[string]*region, table string, l *skew.Load) {
	r := regions[l.Region.Name]
	if r == nil {
		r = &region{name: l.Region.Name, table: table, server: l.Region.Server, start: l.Region.Start.String()}
		if c := l.Cluster; c != nil {
			r.reads, r.writes, r.mb = c.Reads, c.Writes, c.MB
		}
		regions[r.name] = r
	}
	r.rows += l.Rate
	r.hot = r.hot || l.HotSince != nil
}
