package skew

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Load is what was written to one region or one salt bucket.
type Load struct {
	Region      Region `json:"region,omitzero"` // of a region's load
	Bucket      int    `json:"bucket"`          // of a bucket's load
	Total       Count  `json:"total"`
	Recent      Count  `json:"recent"` // in the last Window
	FiveMinutes Count  `json:"five_minutes"`
	Hour        Count  `json:"hour"`

	Rate     float64      `json:"rows_per_second"` // now
	HotSince *time.Time   `json:"hot_since,omitempty"`
	Cluster  *ClusterLoad `json:"cluster,omitempty"` // nil: unknown

	Own Count `json:"-"` // the part of Total that was counted under this name, without what it took over in a split or merge
	now int64 // rows of the last nowSpan seconds
}

// ClusterLoad is what the cluster reports about a region, for all of its clients.
type ClusterLoad struct {
	MB     int64   `json:"mb"` // in files and in memory
	Reads  float64 `json:"reads_per_second"`
	Writes float64 `json:"writes_per_second"`
}

// Server is a server's part of a table. It is zero if the cluster reports the server but none of the table's regions are on it.
type Server struct {
	Name    string `json:"server"`
	Regions int    `json:"regions"`
	Recent  Count  `json:"recent"`
}

// Report is the state of one table. Indices are over regions and of rows unless stated otherwise.
type Report struct {
	Regions []Load   `json:"regions"` // in key order
	Buckets []Load   `json:"buckets,omitempty"`
	Servers []Server `json:"servers"`

	Total        Indices `json:"total"`  // since the start
	Recent       Indices `json:"recent"` // in the last Window
	FiveMinutes  Indices `json:"five_minutes"`
	Hour         Indices `json:"hour"`
	Now          Indices `json:"now"`           // in the last seconds; effects are simulated on it
	Chance       Indices `json:"chance"`        // what chance alone yields for as many rows as in Recent
	BeyondChance Indices `json:"beyond_chance"` // Recent without Chance
	BucketsTotal Indices `json:"buckets_total"`

	ServerRegions Indices `json:"server_regions"` // regions over servers
	ServerWrites  Indices `json:"server_writes"`  // rows of the last Window over servers

	Cluster *ClusterIndices `json:"cluster,omitempty"` // nil: the cluster's loads are unknown

	RowsTotal      int64    `json:"rows_total"`
	RowsRecent     int64    `json:"rows_recent"`
	WindowsSeconds float64  `json:"window_seconds"`
	Warnings       []string `json:"warnings,omitempty"`
}

// ClusterIndices are the indices of what the cluster reports, over the regions.
type ClusterIndices struct {
	Age    float64 `json:"age_seconds"` // of the loads
	Data   Indices `json:"data"`        // of sizes
	Reads  Indices `json:"reads"`
	Writes Indices `json:"writes"`
}

// nowSpan is the number of seconds over which the present rates are taken.
const nowSpan = 10

// Report measures the present counts.
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

// Recent returns a Report of the last Window alone, which is faster. Of the indices over regions, it has only Recent.
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
			fmt.Sprintf("the table has %d regions and the cluster %d servers: some servers take none of its writes; split it", len(rep.Regions), n))
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

// measureServers adds up the loads by server. Servers of the cluster with none of the table's regions are already there, and count as zero.
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

// Top returns the k loads with the most rows, largest first, and the sum and number of the others.
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
