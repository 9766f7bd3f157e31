package embedded

import (
	"context"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

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

func balance(ctx context.Context, k *call, q *hbasepb.BalanceRequest) (*hbasepb.BalanceResponse, error) {
	c := k.node.cluster
	c.mu.RLock()
	on := c.balancing
	c.mu.RUnlock()
	var planned, moved int
	if on {
		if _, err := c.begins(ctx, 0, 0, func(func()) error {
			planned, moved = c.balance(q.GetDryRun())
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return &hbasepb.BalanceResponse{BalancerRan: &on, MovesCalculated: proto.Uint32(uint32(planned)),
		MovesExecuted: proto.Uint32(uint32(moved))}, nil
}
