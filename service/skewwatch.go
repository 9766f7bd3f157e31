package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/internal/backoff"
	"brine/metrics"
	"brine/rowkey"
	"brine/sink"
	"brine/skew"
)

// loadsEvery is how often the cluster is asked for its regions and their loads. Hot regions are found without it.
const loadsEvery = 15 * time.Second

const adviseEvery = 5 * time.Second

// watchSkew looks for hot regions every second, logs new ones, and queries the cluster for its regions and loads, until ctx is done.
func (s *Service) watchSkew(ctx context.Context) {
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s.watchLoads(ctx)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	said := map[string]time.Time{}
	var looked time.Time // for causes, which costs more than detecting that something is hot
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if s.tables.Observe() && time.Since(looked) > adviseEvery {
				looked = time.Now()
				s.warnHot(said)
			}
		}
	}
	<-asked
}

// KeepReads keeps the history of what a service reads that does not Run, until ctx is done. It makes no calls to the cluster unless
// map.history is set.
func (s *Service) KeepReads(ctx context.Context) {
	var kept sync.WaitGroup
	defer kept.Wait()
	if s.maps != nil {
		kept.Go(func() { s.maps.Run(ctx) })
	}
	for {
		s.tables.Keep()
		now := time.Now()
		if backoff.Wait(ctx, now.Truncate(time.Minute).Add(time.Minute).Sub(now)) != nil {
			return
		}
	}
}

// warnHot logs each hot spot when it appears or its cause changes, at most once per ten minutes.
func (s *Service) warnHot(said map[string]time.Time) {
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

// watchLoads queries at once, and then every loadsEvery. If the cluster does not answer, the loads become old, and reports show their age.
func (s *Service) watchLoads(ctx context.Context) {
	tick := time.NewTicker(loadsEvery)
	defer tick.Stop()
	failing := false
	for {
		within, cancel := context.WithTimeout(ctx, loadsEvery)
		err := s.TakeLoads(within)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			s.log.Warn("the cluster does not report region loads; measuring skew only from what this brine writes", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// TakeLoads fetches the regions of all tables and the loads that the cluster reports for them. Run calls it periodically.
func (s *Service) TakeLoads(ctx context.Context) error {
	err := s.takeLoads(ctx)
	s.loadsErr.Store(&err)
	return err
}

// LoadsError returns why the cluster did not report its loads when it was last asked, or nil.
func (s *Service) LoadsError() error {
	if err := s.loadsErr.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *Service) takeLoads(ctx context.Context) error {
	status, err := s.hbase.Client.ClusterStatus(ctx)
	if err != nil {
		return err
	}
	servers := ServerNames(status)
	s.tables.SetServers(servers)
	loads := loadsOf(status)
	for _, table := range s.tables.Names() {
		regions, failed := s.hbase.Client.Regions(ctx, table)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		counter := s.tables.Counter(table, skew.Shape{})
		counter.SetRegions(SkewRegions(regions))
		counter.SetLoads(servers, loads[table])
	}
	return err
}

// ServerNames returns the addresses of the region servers.
func ServerNames(status hbase.ClusterStatus) []string {
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

// SkewRegions converts regions for the skew counters.
func SkewRegions(regions []hbase.Region) []skew.Region {
	known := make([]skew.Region, len(regions))
	for i := range regions {
		known[i] = metrics.Region(&regions[i])
	}
	return known
}

// countSubmitted returns a hook that counts the writers to a pipeline's tables, and the values of its hot fields. Hot fields are counted
// with the first table that the pipeline writes.
func (s *Service) countSubmitted(cfg *config.Config, p *config.Pipeline) func(sink.SubmitInfo) {
	schema, rules := p.Schema(), cfg.Mask()
	names := slices.DeleteFunc(slices.Clone(p.HotFields), func(name string) bool { return rules.MasksField(p.Name, name) })
	var tables []string
	for i := range p.Rows {
		tables = append(tables, p.Rows[i].Table)
	}
	slices.Sort(tables)
	tables = slices.Compact(tables)
	header := p.WriterHeader
	if p.MasksWriter() {
		header = ""
	}
	return func(i sink.SubmitInfo) {
		writersOf(i.Events, header, func(r *event.Record, name []byte, n int) {
			of := skew.Writer{Pipeline: p.Name, Topic: r.Topic, Partition: r.Partition, Producer: r.Producer.ID(), Name: string(name)}
			for _, table := range tables {
				s.tables.Counter(table, skew.Shape{}).AddWriter(of, n)
			}
		})
		counter := s.tables.Counter(p.Rows[0].Table, skew.Shape{})
		for _, name := range names {
			at := slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == name })
			counter.AddField(name, len(i.Events), func(n int) []byte { return i.Events[n].Values[at].Text() })
		}
	}
}

// writersOf calls say for each run of events with the same writer, with a record of the run and the number of records. Events that write
// nothing are skipped.
func writersOf(events []event.Event, header string, say func(r *event.Record, name []byte, n int)) {
	var of *event.Record
	var by []byte
	n := 0
	for i := range events {
		e := &events[i]
		if e.LeftOut != "" || e.Record == of { // several events of one record count once
			continue
		}
		name := headerOf(e.Record, header)
		if n > 0 && (e.Record.Producer != of.Producer || !bytes.Equal(name, by)) {
			say(of, by, n)
			n = 0
		}
		of, by = e.Record, name
		n++
	}
	if n > 0 {
		say(of, by, n)
	}
}

// headerOf returns the value of a header, the last one if it repeats, or nil if there is none.
func headerOf(r *event.Record, name string) []byte {
	if name == "" {
		return nil
	}
	for _, h := range slices.Backward(r.Headers) {
		if h.Key == name {
			return h.Value
		}
	}
	return nil
}

// ShapeOf returns the shape of a table's key for the skew counters, of the newest key if there are several. It returns the zero Shape if
// the key is unknown.
func ShapeOf(keys rowkey.Keys) skew.Shape {
	key, salt := keys.Newest(), keys.Salt()
	if key == nil {
		return skew.Shape{}
	}
	shape := skew.Shape{
		Head: key.Head, Timed: key.HeadIsTime(), Fields: key.Fields(),
		Text: keys.Describe,
	}
	if n := salt.Buckets(); n <= sink.MaxBuckets {
		shape.Buckets, shape.Bucket = n, salt.Bucket
	}
	return shape
}

// describeStart describes a region's start key by the fields that it holds.
func (s *Service) describeStart(table string, start []byte) string {
	if t := s.Config().Table(table); t != nil && !s.Config().Mask().MasksKey(table) {
		return t.RowKeys().Describe(start)
	}
	return ""
}
