package embedded

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

const (
	classRegionState = hbasePackage + "client.DoNotRetryRegionException"
	classHBaseIO     = hbasePackage + "HBaseIOException"
)

// named returns the region of that name or encoded name.
func (c *cluster) named(name string) (*region, error) {
	for _, t := range c.sorted() {
		c.mu.RLock()
		regions := t.regions
		c.mu.RUnlock()
		for _, r := range regions {
			if r.encoded == name || string(r.name) == name {
				return r, nil
			}
		}
	}
	return nil, final(classUnknownRegion, "%s", name)
}

// steady returns a region that is open, of a table that is enabled, and not in transition. The caller holds c.change.
func (c *cluster) steady(name string) (*region, error) {
	r, err := c.named(name)
	switch {
	case err != nil:
		return nil, err
	case r.table.state != hbasepb.TableState_ENABLED:
		return nil, final(classTableNotEnabled, "%s", r.table.name)
	case r.moving || r.at() == nil:
		return nil, final(classRegionState, "%s is not OPEN; state=%s", r.encoded, r.state)
	}
	return r, nil
}

// split makes two regions of one, at a row or, when that is nil, in the middle of its data. It gives their encoded names.
func (c *cluster) split(name string, at []byte, begun func()) (names [2]string, err error) {
	c.change.Lock()
	defer c.change.Unlock()
	r, err := c.steady(name)
	if err != nil {
		return names, err
	}
	if at, err = c.splitRow(r, at); err != nil {
		return names, err
	}
	id := c.regionID()
	low, high := newRegion(r.table, r.info.StartKey, at, id), newRegion(r.table, at, r.info.EndKey, id)
	low.seq, high.seq = r.seq+1, r.seq+1
	begun()
	to := r.at()
	return [2]string{low.encoded, high.encoded}, c.transfer(transition{
		Transition: Transition{Kind: "split", Table: r.table.name.String(), Regions: []string{r.encoded, low.encoded, high.encoded}},
		close:      []*region{r},
		open:       []placement{{low, to}, {high, to}},
		record:     func(b *store.Batch) error { return c.putSplit(b, r, low, high) },
		decide: func() {
			r.table.parents = append(r.table.parents, r)
			r.table.replace([]*region{r}, low, high)
		},
	})
}

// splitRow checks a row to split at, or finds one.
func (c *cluster) splitRow(r *region, at []byte) ([]byte, error) {
	if r.table == c.meta {
		return nil, final(classDoNotRetry, "%s NOT splittable", r.encoded)
	}
	if len(at) == 0 {
		var err error
		if at, err = c.store.MiddleRow(r.table.space, r.clip(store.Range{})); err != nil {
			return nil, err
		}
		if len(at) == 0 {
			return nil, final(classDoNotRetry,
				"Region not splittable because bestSplitPoint = null, maybe table is too small for auto split. For force split, try specifying "+
					"split row")
		}
	}
	switch {
	case bytes.Equal(at, r.info.StartKey):
		return nil, final(classDoNotRetry, "Split row is equal to startkey: %q", at)
	case !r.has(at):
		return nil, final(classDoNotRetry, "Split row is not inside region key range splitKey:%q region: %s", at, r.name)
	}
	return at, nil
}

// merge makes one region of adjacent ones and returns its encoded name.
func (c *cluster) merge(names []string, begun func()) (string, error) {
	c.change.Lock()
	defer c.change.Unlock()
	parents, err := c.mergeable(names)
	if err != nil {
		return "", err
	}
	first, last := parents[0], parents[len(parents)-1]
	merged := newRegion(first.table, first.info.StartKey, last.info.EndKey, c.regionID())
	t := transition{
		Transition: Transition{Kind: "merge", Table: first.table.name.String(), Regions: []string{merged.encoded}},
		close:      parents,
		open:       []placement{{merged, first.at()}},
		record:     func(b *store.Batch) error { return c.putMerged(b, merged, parents) },
		decide:     func() { first.table.replace(parents, merged) },
	}
	for _, p := range parents {
		merged.seq = max(merged.seq, p.seq+1)
		t.Regions = append(t.Regions, p.encoded)
	}
	begun()
	return merged.encoded, c.transfer(t)
}

// mergeable returns the regions in the order of their keys, if they can be merged: each must lie beside the one named before it.
func (c *cluster) mergeable(names []string) ([]*region, error) {
	var rs []*region
	for _, name := range names {
		r, err := c.named(name)
		if err != nil {
			return nil, err
		}
		_, err = c.steady(name)
		switch {
		case err != nil:
			return nil, final(classMergeRegion, "%v", err)
		case slices.Contains(rs, r):
			return nil, final(classMergeRegion, "Duplicate regions specified; cannot merge a region to itself. Passed in %d", len(names))
		case len(rs) > 0 && rs[0].table != r.table:
			return nil, final(classMergeRegion, "Can't merge regions from different tables: %s, %s", rs[0].name, r.name)
		}
		rs = append(rs, r)
	}
	if len(rs) < 2 {
		return nil, final(classMergeRegion, "Need two Regions at least to run a Merge")
	}
	for i, r := range rs[1:] {
		if !rs[i].before(r) && !r.before(rs[i]) {
			return nil, final(classMergeRegion, "Unable to merge non-adjacent or non-overlapping regions '%s', '%s'", rs[i].encoded, r.encoded)
		}
	}
	slices.SortFunc(rs, func(a, b *region) int { return bytes.Compare(a.info.StartKey, b.info.StartKey) })
	return rs, nil
}

// before reports whether the other region begins where this one ends.
func (r *region) before(other *region) bool {
	return len(r.info.EndKey) > 0 && bytes.Equal(r.info.EndKey, other.info.StartKey)
}

// replace puts regions in the place of others. The caller holds the cluster's mu; who has the old slice keeps it.
func (t *table) replace(old []*region, fresh ...*region) {
	i := slices.Index(t.regions, old[0])
	t.regions = slices.Concat(t.regions[:i], fresh, t.regions[i+len(old):])
}

// move takes a region to a node, or to any other one when to is nil.
func (c *cluster) move(name string, to *node) error {
	c.change.Lock()
	defer c.change.Unlock()
	r, err := c.named(name)
	if err != nil {
		return err
	}
	if r.moving {
		return &Exception{Class: classHBaseIO, Message: fmt.Sprintf("%s is currently in transition", r.encoded)}
	}
	if r, err = c.steady(name); err != nil {
		return err
	}
	here := r.at()
	for range c.live() {
		if to != nil && to.alive() && to != here {
			break
		}
		to = c.pick()
	}
	if to == nil || to == here {
		return nil // as HBase: nowhere else to go
	}
	return c.transfer(transition{
		Transition: Transition{Kind: "move", Table: r.table.name.String(), Regions: []string{r.encoded}},
		close:      []*region{r}, open: []placement{{r, to}},
	})
}

// assign opens a region that is closed, unassign closes one that then stays so.
func (c *cluster) assign(name string, open bool) error {
	c.change.Lock()
	defer c.change.Unlock()
	r, err := c.named(name)
	if err != nil {
		return err
	}
	isOpen := r.at() != nil
	if r.moving || isOpen == open || r.table.state != hbasepb.TableState_ENABLED {
		return final(classRegionState, "Unexpected state for state=%s, region=%s", r.state, r.encoded)
	}
	t := transition{Transition: Transition{Kind: "unassign", Table: r.table.name.String(), Regions: []string{r.encoded}}, close: []*region{r},
		open: []placement{{r, nil}}}
	if open {
		t.Kind, t.open[0].to = "assign", c.pick()
	}
	r.unassigned = !open
	return c.transfer(t)
}

// balance moves regions from the nodes that have most to those that have least, and returns how many. A dry one only counts; a
// region that cannot be moved any more, since something else has happened to it, is left out.
func (c *cluster) balance(dry bool) (planned, moved int) {
	for _, m := range c.plan() {
		planned++
		if !dry && c.move(m.r.encoded, m.to) == nil {
			moved++
		}
	}
	return planned, moved
}

// plan returns the moves after which no node has two regions more than another.
func (c *cluster) plan() (moves []placement) {
	c.change.Lock()
	defer c.change.Unlock()
	has := make(map[*node][]*region)
	for _, n := range c.live() {
		has[n] = nil
	}
	for _, t := range c.sorted() {
		for _, r := range t.regions {
			n := r.at()
			if _, up := has[n]; up && !r.moving && t != c.meta {
				has[n] = append(has[n], r)
			}
		}
	}
	nodes := c.live()
	for len(nodes) > 1 {
		slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(len(has[a]), len(has[b])) })
		least, most := nodes[0], nodes[len(nodes)-1]
		rs := has[most]
		if len(rs)-len(has[least]) < 2 {
			break
		}
		moves = append(moves, placement{rs[len(rs)-1], least})
		has[least], has[most] = append(has[least], rs[len(rs)-1]), rs[:len(rs)-1]
	}
	return moves
}
