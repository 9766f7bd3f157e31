package skew

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Load is what one region or one salt bucket was given.
type Load struct {
	Region      Region `json:"region,omitzero"` // of a region's load
	Bucket      int    `json:"bucket"`          // of a bucket's load
	Total       Count  `json:"total"`
	Recent      Count  `json:"recent"` // in the last Window
	FiveMinutes Count  `json:"five_minutes"`
	Hour        Count  `json:"hour"`

	Rate     float64      `json:"rows_per_second"` // now
	HotSince *time.Time   `json:"hot_since,omitempty"`
	Cluster  *ClusterLoad `json:"cluster,omitempty"` // nil: not known

	Own Count `json:"-"` // of Total, what was counted under this name: without what was taken over in a split or a merge
	now int64 // rows of the last nowSpan seconds
}

// ClusterLoad is what the cluster reports of a region: what all of its clients do.
type ClusterLoad struct {
	MB     int64   `json:"mb"` // in files and in memory
	Reads  float64 `json:"reads_per_second"`
	Writes float64 `json:"writes_per_second"`
}

// Server is what one server has of a table: nothing, when the cluster reports it and no region is on it.
type Server struct {
	Name    string `json:"server"`
	Regions int    `json:"regions"`
	Recent  Count  `json:"recent"`
}

// Report is the state of one table. Indices are of rows over regions, if nothing else is said.
type Report struct {
	Regions []Load   `json:"regions"` // in key order
	Buckets []Load   `json:"buckets,omitempty"`
	Servers []Server `json:"servers"`

	Total        Indices `json:"total"`  // since the start
	Recent       Indices `json:"recent"` // in the last Window
	FiveMinutes  Indices `json:"five_minutes"`
	Hour         Indices `json:"hour"`
	Now          Indices `json:"now"`           // in the last seconds: what effects are foreseen of
	Chance       Indices `json:"chance"`        // what chance makes of as many rows as Recent's
	BeyondChance Indices `json:"beyond_chance"` // Recent without that
	BucketsTotal Indices `json:"buckets_total"`

	ServerRegions Indices `json:"server_regions"` // regions over servers
	ServerWrites  Indices `json:"server_writes"`  // rows of the last Window over servers

	Cluster *ClusterIndices `json:"cluster,omitempty"` // nil: the cluster's loads are not known

	RowsTotal      int64    `json:"rows_total"`
	RowsRecent     int64    `json:"rows_recent"`
	WindowsSeconds float64  `json:"window_seconds"`
	Warnings       []string `json:"warnings,omitempty"`
}

// ClusterIndices are of what the cluster reports, over the regions.
type ClusterIndices struct {
	Age    float64 `json:"age_seconds"` // of the loads
	Data   Indices `json:"data"`        // of sizes
	Reads  Indices `json:"reads"`
	Writes Indices `json:"writes"`
}

// nowSpan is the seconds that the present rates are taken over.
const nowSpan = 10

// Report measures the counts as they are now.
func (c *Counter) Report() Report {
	rep := c.Recent()
	rep.Total = Measure(rows(rep.Regions, func(l *Load) Count { return l.Total }))
	rep.FiveMinutes = Measure(rows(rep.Regions, func(l *Load) Count { return l.FiveMinutes }))
	rep.Hour = Measure(rows(rep.Regions, func(l *Load) Count { return l.Hour }))
	rep.Now = Measure(rows(rep.Regions, func(l *Load) Count { return Count{Rows: l.now} }))
	rep.Chance = Chance(len(rep.Regions), float64(rep.RowsRecent))
	rep.BeyondChance = rep.Recent.Beyond(rep.Chance)
	return rep
}

// Recent is a Report that measures the last Window alone, which is quicker: of the indices over regions it has Recent only.
func (c *Counter) Recent() Report {
	rep := c.read()
	rep.WindowsSeconds = Window.Seconds()
	for i := range rep.Regions {
		rep.RowsTotal += rep.Regions[i].Total.Rows
		rep.RowsRecent += rep.Regions[i].Recent.Rows
	}
	rep.Recent = Measure(rows(rep.Regions, func(l *Load) Count { return l.Recent }))
	rep.BucketsTotal = Measure(rows(rep.Buckets, func(l *Load) Count { return l.Total }))
	rep.measureServers()
	return rep
}

// read copies what the counter holds.
func (c *Counter) read() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	var rep Report
	rep.Regions = make([]Load, len(c.regions.sorted))
	for i, t := range c.regions.sorted {
		l := &rep.Regions[i]
		*l = t.counts.load()
		l.Region = t.region
		if since := t.hot.since; !since.IsZero() {
			l.HotSince = &since
		}
		if t.load.known {
			l.Cluster = &ClusterLoad{t.load.mb, t.load.reads.per, t.load.writes.per}
		}
	}
	for i := range c.buckets {
		l := c.buckets[i].load()
		l.Bucket = i
		rep.Buckets = append(rep.Buckets, l)
	}
	for _, name := range c.loads.servers {
		rep.Servers = append(rep.Servers, Server{Name: name})
	}
	if c.loads.at > 0 {
		rep.Cluster = clusterIndices(rep.Regions, c.at-c.loads.at)
	}
	if n := len(c.loads.servers); len(rep.Regions) < n {
		rep.Warnings = append(rep.Warnings,
			fmt.Sprintf("the table has %d regions and the cluster %d servers: the others take none of its writes; split it", len(rep.Regions), n))
	}
	return rep
}

func (c *counts) load() Load {
	now := c.seconds(nowSpan, 0)
	return Load{Total: c.total, Own: c.own, Recent: c.over(overMinute), FiveMinutes: c.over(overFiveMinutes), Hour: c.over(overHour),
		Rate: float64(now) / nowSpan, now: now}
}

func clusterIndices(regions []Load, age time.Duration) *ClusterIndices {
	of := func(what func(*ClusterLoad) float64) Indices {
		var all []float64
		for _, l := range regions {
			if l.Cluster != nil {
				all = append(all, what(l.Cluster))
			}
		}
		return Measure(all)
	}
	return &ClusterIndices{
		Age: age.Seconds(), Data: of(func(l *ClusterLoad) float64 { return float64(l.MB) }),
		Reads: of(func(l *ClusterLoad) float64 { return l.Reads }), Writes: of(func(l *ClusterLoad) float64 { return l.Writes }),
	}
}

// measureServers sums up by server. Those of the cluster that have none of the table's regions are there already, and count as zero.
func (r *Report) measureServers() {
	at := map[string]int{}
	for i := range r.Servers {
		at[r.Servers[i].Name] = i
	}
	for n := range r.Regions {
		l := &r.Regions[n]
		i, ok := at[l.Region.Server]
		if !ok {
			i = len(r.Servers)
			at[l.Region.Server] = i
			r.Servers = append(r.Servers, Server{Name: l.Region.Server})
		}
		r.Servers[i].Regions++
		r.Servers[i].Recent.add(l.Recent)
	}
	slices.SortFunc(r.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	var regions, writes []float64
	for _, s := range r.Servers {
		regions, writes = append(regions, float64(s.Regions)), append(writes, float64(s.Recent.Rows))
	}
	r.ServerRegions, r.ServerWrites = Measure(regions), Measure(writes)
}

func rows(loads []Load, which func(*Load) Count) []float64 {
	out := make([]float64, len(loads))
	for i := range loads {
		out[i] = float64(which(&loads[i]).Rows)
	}
	return out
}

// Top splits loads into the k with the most rows, largest first, and the sum of the others with their number.
func Top(loads []Load, k int) (top []Load, other Count, others int) {
	top = slices.Clone(loads)
	slices.SortStableFunc(top, func(a, b Load) int { return int(min(1, max(-1, b.Total.Rows-a.Total.Rows))) })
	if len(top) <= k {
		return top, Count{}, 0
	}
	for _, l := range top[k:] {
		other.add(l.Total)
	}
	return top[:k], other, len(top) - k
}
