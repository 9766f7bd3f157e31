package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/metrics"
	"brine/rowkey"
	"brine/sink"
	"brine/skew"
)

// loadsEvery is how often the cluster is asked for its regions and their loads. Hot regions are found without it.
const loadsEvery = 15 * time.Second

const adviseEvery = 5 * time.Second

// watchSkew looks for hot regions every second, says so when one comes up, and asks the cluster what it knows of its regions. It
// ends with ctx.
func (s *service) watchSkew(ctx context.Context) {
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s.watchLoads(ctx)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	said := map[string]time.Time{}
	var looked time.Time // for causes, which is dearer than to see that something is hot
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if s.tables.Observe() && time.Since(looked) > adviseEvery {
				looked = time.Now()
				s.sayHot(said)
			}
		}
	}
	<-asked
}

// sayHot logs each hot spot as it comes up, or with another cause than before, and none more than once in ten minutes.
func (s *service) sayHot(said map[string]time.Time) {
	const pause = 10 * time.Minute
	maps.DeleteFunc(said, func(_ string, at time.Time) bool { return time.Since(at) > pause })
	for _, h := range s.tables.Advise() {
		what := "server " + h.Server
		if h.Region != nil {
			what = "region " + h.Region.Name + " of " + h.Table
		}
		why := what + " " + string(h.Cause)
		if _, before := said[why]; !before {
			said[why] = time.Now()
			s.log.Warn(what+" is hot", "cause", h.Cause, "times_mean", fmt.Sprintf("%.1f", h.Times), "why", h.Why, "more", "brine skew")
		}
	}
}

// watchLoads asks at once and then every so often. That the cluster does not answer makes the loads old, which reports say.
func (s *service) watchLoads(ctx context.Context) {
	tick := time.NewTicker(loadsEvery)
	defer tick.Stop()
	failing := false
	for {
		within, cancel := context.WithTimeout(ctx, loadsEvery)
		err := s.askLoads(within)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			s.log.Warn("the cluster does not tell the loads of its regions; skew is told from what this brine writes alone", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// askLoads takes the regions of all tables, and what the cluster tells of them.
func (s *service) askLoads(ctx context.Context) error {
	status, err := s.cluster.client.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	servers := serverNames(status)
	s.tables.SetServers(servers)
	loads := loadsOf(status)
	for _, table := range s.tables.Names() {
		regions, failed := s.cluster.client.Regions(ctx, table)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		counter := s.tables.Counter(table, skew.Shape{})
		counter.SetRegions(knownRegions(regions))
		counter.SetLoads(servers, loads[table])
	}
	return err
}

func serverNames(status hbase.ClusterStatus) []string {
	names := make([]string, len(status.Servers))
	for i, server := range status.Servers {
		names[i] = server.Addr
	}
	return names
}

// loadsOf returns the loads of all regions by table.
func loadsOf(status hbase.ClusterStatus) map[string][]skew.RegionLoad {
	loads := map[string][]skew.RegionLoad{}
	for _, server := range status.Servers {
		for _, r := range server.Regions {
			loads[r.Table] = append(loads[r.Table], skew.RegionLoad{
				Region: r.Encoded, MB: int64(r.StoreFileMB + r.MemStoreMB), Reads: r.Reads, Writes: r.Writes,
			})
		}
	}
	return loads
}

func knownRegions(regions []hbase.Region) []skew.Region {
	known := make([]skew.Region, len(regions))
	for i := range regions {
		known[i] = metrics.Region(&regions[i])
	}
	return known
}

// countFields returns the hook that counts the values of a pipeline's hot fields, with the first table that it writes; nil: it has
// none.
func (s *service) countFields(p *config.Pipeline) func([]event.Event) {
	if len(p.HotFields) == 0 {
		return nil
	}
	schema := p.Schema()
	return func(events []event.Event) {
		counter := s.tables.Counter(p.Rows[0].Table, skew.Shape{})
		for _, name := range p.HotFields {
			i := slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == name })
			counter.AddField(name, len(events), func(n int) []byte { return events[n].Values[i].Text() })
		}
	}
}

// shapeOf tells the skew counters what a table's key is made of, the newest if it has several; none: not known.
func shapeOf(keys rowkey.Keys) skew.Shape {
	key, salt := keys.Newest(), keys.Salt()
	if key == nil {
		return skew.Shape{}
	}
	shape := skew.Shape{
		Head: key.Head, Timed: key.HeadIsTime(), Fields: key.Fields(),
		Text: func(beginning []byte) string { return decodedStart(keys, beginning) },
	}
	if n := salt.Buckets(); n <= sink.MaxBuckets {
		shape.Buckets, shape.Bucket = n, salt.Bucket
	}
	return shape
}

// startOf shows the start key of a region by the fields that it holds.
func (s *service) startOf(table string, start []byte) string {
	if t := s.cfg.Table(table); t != nil {
		return decodedStart(t.RowKeys(), start)
	}
	return ""
}
