package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"brine/hbase"
	"brine/internal/wording"
	"brine/skew"
)

// topSnapshot is what brine top shows of one moment.
type topSnapshot struct {
	at        time.Time
	pipelines []topPipeline
	regions   []topRegion
	keys      []topKey
	hot       []skew.HotSpot
	problems  []string // what could not be asked
}

type topPipeline struct {
	reading
	brine string // its admin port
	rate  float64
}

// topRegion is a region as the brines and the cluster tell of it.
type topRegion struct {
	name, table, server, start string
	rows                       float64 // a second, of the brines that are asked
	reads, writes              float64 // a second, of all clients
	mb                         int64
	hot                        bool
}

type topKey struct {
	table, field, key string
	share, rate       float64
}

// topReader asks brines and the cluster. Rates are told from what has changed since it asked before.
type topReader struct {
	brines []brineAt
	client *hbase.Client // nil: only what brines tell

	events map[string]int64 // by brine and pipeline
	loads  map[string]hbase.RegionLoad
	at     time.Time
}

func (r *topReader) read(ctx context.Context, now time.Time) topSnapshot {
	s := topSnapshot{at: now}
	span := now.Sub(r.at).Seconds()
	regions := map[string]*topRegion{}
	if r.client != nil {
		if err := r.readCluster(ctx, regions, span); err != nil {
			s.problems = append(s.problems, fmt.Sprintf("the cluster does not answer: %s", wording.Plain(err.Error())))
		}
	}
	for _, brine := range r.brines {
		if err := r.readBrine(ctx, brine, &s, regions, span); err != nil {
			s.problems = append(s.problems, fmt.Sprintf("%s does not answer: %s", brine.addr, wording.Plain(err.Error())))
		}
	}
	for _, region := range regions {
		s.regions = append(s.regions, *region)
	}
	slices.SortFunc(s.regions, func(a, b topRegion) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.start, b.start)) })
	r.at = now
	return s
}

// readCluster takes the regions of all tables, whoever writes them.
func (r *topReader) readCluster(ctx context.Context, regions map[string]*topRegion, span float64) error {
	status, err := r.client.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	loads := map[string]hbase.RegionLoad{}
	for _, server := range status.Servers {
		for _, l := range server.Regions {
			loads[l.Encoded] = l
			region := &topRegion{name: l.Encoded, table: l.Table, server: server.Addr, start: startInName(l), mb: int64(l.StoreFileMB + l.MemStoreMB)}
			if old, ok := r.loads[l.Encoded]; ok && old.Reads <= l.Reads && old.Writes <= l.Writes {
				region.reads, region.writes = float64(l.Reads-old.Reads)/span, float64(l.Writes-old.Writes)/span
			}
			regions[l.Encoded] = region
		}
	}
	r.loads = loads
	return nil
}

// startInName reads the start key in a region's name: table,start,id.encoded.
func startInName(l hbase.RegionLoad) string {
	rest := l.Name[min(len(l.Name), len(l.Table)+1):]
	for i := len(rest) - 1; i >= 0; i-- {
		if rest[i] == ',' {
			return skew.Key(rest[:i]).String()
		}
	}
	return ""
}

// readBrine takes what one brine tells.
func (r *topReader) readBrine(ctx context.Context, brine brineAt, s *topSnapshot, regions map[string]*topRegion, span float64) error {
	var state skew.State
	if err := brine.ask(ctx, skewPath, &state); err != nil {
		return err
	}
	for _, table := range sortedKeys(state.Tables) {
		t := state.Tables[table]
		for i := range t.Regions {
			addLoad(regions, table, &t.Regions[i])
		}
		s.addKeys(table, "key", t.Heavy)
		for _, field := range sortedKeys(t.HeavyFields) {
			s.addKeys(table, field, t.HeavyFields[field])
		}
	}
	s.hot = append(s.hot, state.Hot...)
	var readings []reading
	if err := brine.ask(ctx, pipelinesPath, &readings); err != nil {
		return err
	}
	if r.events == nil {
		r.events = map[string]int64{}
	}
	for _, p := range readings {
		id := brine.addr + " " + p.Name
		line := topPipeline{reading: p, brine: brine.addr}
		if before, ok := r.events[id]; ok && p.Events >= before {
			line.rate = float64(p.Events-before) / span
		}
		r.events[id] = p.Events
		s.pipelines = append(s.pipelines, line)
	}
	return nil
}

// addLoad joins what a brine tells of a region with what is known of it. Where the cluster is not asked, the brine has asked it.
func addLoad(regions map[string]*topRegion, table string, l *skew.Load) {
	region := regions[l.Region.Name]
	if region == nil {
		region = &topRegion{name: l.Region.Name, table: table, server: l.Region.Server, start: l.Region.Start.String()}
		if c := l.Cluster; c != nil {
			region.reads, region.writes, region.mb = c.Reads, c.Writes, c.MB
		}
		regions[region.name] = region
	}
	region.rows += l.Rate
	region.hot = region.hot || l.HotSince != nil
}

func (s *topSnapshot) addKeys(table, field string, all []skew.Heavy) {
	for _, h := range all {
		s.keys = append(s.keys, topKey{table: table, field: field, key: heavyName(h), share: h.Share, rate: float64(h.Rows)})
	}
}
