package embedded

import (
	"cmp"
	"context"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// balancerMethods even out regions: Balance, with the switch SetBalancerRunning and IsBalancerEnabled; and Normalize, with the switch
// SetNormalizerRunning and IsNormalizerEnabled.
//
// What they do not do:
//   - the balancer runs only on request, and evens out only the numbers of regions, without thresholds or load;
//   - the normalizer considers every region to be of the right size: it reports that it ran, and changes nothing;
//   - the switches are on again after each start of the server.
var balancerMethods = map[string]method{
	"MasterService.Balance":            on(balance),
	"MasterService.SetBalancerRunning": on(setBalancerRunning),
	"MasterService.IsBalancerEnabled":  on(isBalancerEnabled),

	"MasterService.Normalize":            on(normalize),
	"MasterService.SetNormalizerRunning": on(setNormalizerRunning),
	"MasterService.IsNormalizerEnabled":  on(isNormalizerEnabled),
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

func setBalancerRunning(_ context.Context, k *call, q *hbasepb.SetBalancerRunningRequest) (*hbasepb.SetBalancerRunningResponse, error) {
	c := k.node.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.balancing
	c.balancing = q.GetOn()
	return &hbasepb.SetBalancerRunningResponse{PrevBalanceValue: &before}, nil
}

func isBalancerEnabled(_ context.Context, k *call, _ *hbasepb.IsBalancerEnabledRequest) (*hbasepb.IsBalancerEnabledResponse, error) {
	c := k.node.cluster
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &hbasepb.IsBalancerEnabledResponse{Enabled: proto.Bool(c.balancing)}, nil
}

// balance moves regions from the nodes with the most to those with the fewest, and returns the number of moves. If dry is set it only
// counts. It skips a region that can no longer be moved because something else happened to it.
func (c *cluster) balance(dry bool) (planned, moved int) {
	for _, m := range c.plan() {
		planned++
		if !dry && c.move(m.r.encoded, m.to) == nil {
			moved++
		}
	}
	return planned, moved
}

// plan returns the moves after which the numbers of regions per node, not counting hbase:meta's, differ by at most one.
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

func normalize(_ context.Context, k *call, _ *hbasepb.NormalizeRequest) (*hbasepb.NormalizeResponse, error) {
	return &hbasepb.NormalizeResponse{NormalizerRan: proto.Bool(!k.node.cluster.unnormal.Load())}, nil
}

func setNormalizerRunning(_ context.Context, k *call,
	q *hbasepb.SetNormalizerRunningRequest) (*hbasepb.SetNormalizerRunningResponse, error) {
	off := k.node.cluster.unnormal.Swap(!q.GetOn())
	return &hbasepb.SetNormalizerRunningResponse{PrevNormalizerValue: proto.Bool(!off)}, nil
}

func isNormalizerEnabled(_ context.Context, k *call, _ *hbasepb.IsNormalizerEnabledRequest) (*hbasepb.IsNormalizerEnabledResponse, error) {
	return &hbasepb.IsNormalizerEnabledResponse{Enabled: proto.Bool(!k.node.cluster.unnormal.Load())}, nil
}
