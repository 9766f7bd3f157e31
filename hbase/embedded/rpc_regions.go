package embedded

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// regionMethods change regions: SplitRegion, MergeTableRegions, MoveRegion, AssignRegion, UnassignRegion.
//
// What they do not do:
//   - nothing splits or moves by itself, and there are no switches for it;
//   - the default split point, the middle of a region, is determined by the number of cells;
//   - any region can be split or merged: HBase refuses one that still has files of its parents;
//   - regions that are not adjacent do not merge, forcible or not;
//   - if a move's destination is not the name of a live region server, start code included, the region goes to another one;
//   - a parent's row and the merge columns in hbase:meta stay until the next start, not until a compaction;
//   - OfflineRegion, TruncateRegion and the calls of the normalizer and of the catalogue janitor are not served.
var regionMethods = map[string]method{
	"MasterService.SplitRegion":       on(splitTableRegion),
	"MasterService.MergeTableRegions": on(mergeTableRegions),
	"MasterService.MoveRegion":        on(moveRegion),
	"MasterService.AssignRegion":      on(assignRegion),
	"MasterService.UnassignRegion":    on(unassignRegion),
}

func splitTableRegion(ctx context.Context, k *call, q *hbasepb.SplitTableRegionRequest) (*hbasepb.SplitTableRegionResponse, error) {
	c := k.node.cluster
	t, err := c.find(nameOf(q.RegionInfo.GetTableName()))
	if err != nil {
		return nil, err
	}
	id, err := c.begins(ctx, q.GetNonceGroup(), q.GetNonce(), func(begun func()) error {
		_, err := c.split(regionOf(t, q.RegionInfo).encoded, q.SplitRow, begun)
		return err
	})
	return &hbasepb.SplitTableRegionResponse{ProcId: id}, err
}

func mergeTableRegions(ctx context.Context, k *call, q *hbasepb.MergeTableRegionsRequest) (*hbasepb.MergeTableRegionsResponse, error) {
	var names []string
	for _, r := range q.Region {
		names = append(names, string(r.GetValue()))
	}
	id, err := k.node.cluster.begins(ctx, q.GetNonceGroup(), q.GetNonce(), func(begun func()) error {
		_, err := k.node.cluster.merge(names, begun)
		return err
	})
	return &hbasepb.MergeTableRegionsResponse{ProcId: id}, err
}

func moveRegion(ctx context.Context, k *call, q *hbasepb.MoveRegionRequest) (*hbasepb.MoveRegionResponse, error) {
	c := k.node.cluster
	_, err := c.begins(ctx, 0, 0, func(func()) error {
		var to *node
		for _, n := range c.live() {
			if proto.Equal(n.serverName(), q.DestServerName) {
				to = n
			}
		}
		return c.move(string(q.Region.GetValue()), to)
	})
	return &hbasepb.MoveRegionResponse{}, err
}

func assignRegion(ctx context.Context, k *call, q *hbasepb.AssignRegionRequest) (*hbasepb.AssignRegionResponse, error) {
	c := k.node.cluster
	_, err := c.begins(ctx, 0, 0, func(func()) error { return c.assign(string(q.Region.GetValue()), true) })
	return &hbasepb.AssignRegionResponse{}, err
}

func unassignRegion(ctx context.Context, k *call, q *hbasepb.UnassignRegionRequest) (*hbasepb.UnassignRegionResponse, error) {
	c := k.node.cluster
	_, err := c.begins(ctx, 0, 0, func(func()) error { return c.assign(string(q.Region.GetValue()), false) })
	return &hbasepb.UnassignRegionResponse{}, err
}

// split splits a region at a row or, if at is nil, in the middle of its data. It returns the encoded names of the daughters.
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

// splitRow checks the row to split at, or chooses one.
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

// merge merges adjacent regions and returns the encoded name of the result.
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

// mergeable returns the regions in key order if they can be merged: each must be adjacent to the one named before it.
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

// move moves a region to a node, or to any other node if to is nil.
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
		return nil // as in HBase: there is nowhere else to go
	}
	return c.transfer(transition{
		Transition: Transition{Kind: "move", Table: r.table.name.String(), Regions: []string{r.encoded}},
		close:      []*region{r}, open: []placement{{r, to}},
	})
}

// assign opens a closed region or, if open is false, closes a region, which then stays closed.
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
