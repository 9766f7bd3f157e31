package skew

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Advise returns the hot regions of all tables and the hot servers, each with its cause and the actions that help, hottest first.
func (t *Tables) Advise() []HotSpot {
	var spots []HotSpot
	var all []placed
	for name, c := range t.all() {
		spots = append(spots, c.Advise(name)...)
		for _, l := range c.read().Regions {
			all = append(all, placed{name, l})
		}
	}
	hot := make(map[string]bool) // servers with a hot region, which explains their heat
	for _, s := range spots {
		hot[s.Server] = true
	}
	t.mu.RLock()
	for _, name := range t.loaded(hot) {
		s := loadedServer(name, all, t.live)
		s.Since = t.servers[name].since
		s.Seconds = t.now().Sub(s.Since).Seconds()
		spots = append(spots, s)
	}
	t.mu.RUnlock()
	slices.SortStableFunc(spots, func(a, b HotSpot) int { return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Table, b.Table)) })
	return spots
}

// LoadedServers returns the number of servers that are hot although, according to reports, none of their regions is.
func (t *Tables) LoadedServers(reports map[string]Report) int {
	explained := make(map[string]bool)
	for _, rep := range reports {
		for i := range rep.Regions {
			if l := &rep.Regions[i]; l.HotSince != nil {
				explained[l.Region.Server] = true
			}
		}
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.loaded(explained))
}

// loaded returns the hot servers whose heat is not explained by a hot region. The caller holds t.mu.
func (t *Tables) loaded(explained map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(t.servers)) {
		if !t.servers[name].since.IsZero() && !explained[name] {
			names = append(names, name)
		}
	}
	return names
}

// placed is a region's load with its table.
type placed struct {
	table string
	Load
}

// loadedServer returns what helps a server that takes much more than the others.
func loadedServer(name string, all []placed, live []string) HotSpot {
	sums := make(map[string]float64)
	for _, server := range live {
		sums[server] = 0
	}
	total, regions := 0.0, 0
	for _, p := range all {
		if p.Region.Server != "" {
			sums[p.Region.Server] += float64(p.now)
			total += float64(p.now)
		}
		if p.Region.Server == name {
			regions++
		}
	}
	s := HotSpot{Server: name, Cause: LoadedServer, Rate: sums[name] / nowSpan, Share: sums[name] / max(1, total), Actions: []Action{}}
	s.Times = s.Share * float64(len(sums))
	s.Severity = severity(s.Times)
	s.Values = Values{"regions": float64(regions), "times": s.Times}
	s.Why = fmt.Sprintf("it has %d regions, none of which is hot, and takes %.1f times the mean rows per server", regions,
		s.Times)
	if a, ok := bestMove(name, all, sums); ok {
		s.Actions = append(s.Actions, a)
	}
	return s
}

// bestMove finds the region whose move to the least loaded server leaves the two most even.
func bestMove(from string, all []placed, sums map[string]float64) (Action, bool) {
	names := slices.Sorted(maps.Keys(sums))
	to := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(sums[a], sums[b]) })
	best := -1
	larger := sums[from]
	for i, p := range all {
		if p.Region.Server != from {
			continue
		}
		if after := max(sums[from]-float64(p.now), sums[to]+float64(p.now)); after < larger {
			best, larger = i, after
		}
	}
	if best < 0 {
		return Action{}, false
	}
	p := all[best]
	of := func(moved float64) (out []float64) {
		for _, name := range names {
			n := sums[name]
			switch name {
			case from:
				n -= moved
			case to:
				n += moved
			}
			out = append(out, n)
		}
		return out
	}
	a := Action{Kind: Move, Table: p.table, Region: p.Region.Name, To: to, Effect: effect(of(0), of(float64(p.now)))}
	a.Text = fmt.Sprintf("move region %s of %s to %s", p.Region.Name, p.table, to)
	return a, true
}
