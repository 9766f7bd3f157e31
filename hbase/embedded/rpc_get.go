package embedded

import (
	"context"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// getMethods read one row of a region: Get, with its columns, time ranges, versions, filter and existence_only.
//
// What they do not do:
//   - closest_row_before is answered with an UnknownProtocolException: clients use a reverse scan;
//   - filters are those of internal/filter, with its comparators;
//   - cache_blocks, load_column_families_on_demand, consistency and attributes are ignored: a replica answers every caller,
//     as HBase's does.
var getMethods = map[string]method{
	"ClientService.Get": on(get),
}

func get(ctx context.Context, k *call, q *hbasepb.GetRequest) (*hbasepb.GetResponse, error) {
	r, err := k.node.region(q.Region)
	if err != nil {
		return nil, err
	}
	result, err := k.get(ctx, r, q.Get)
	return &hbasepb.GetResponse{Result: result}, err
}

func (k *call) get(ctx context.Context, r *region, g *hbasepb.Get) (*hbasepb.Result, error) {
	if g.GetClosestRowBefore() {
		return nil, final(classUnknownProtocol, "closest row before: use a reverse scan")
	}
	if err := r.check(g.Row, "Get"); err != nil {
		return nil, err
	}
	q, err := k.query(g, g.StoreLimit, g.StoreOffset)
	if err != nil {
		return nil, err
	}
	leave, err := r.enter(k.node, false)
	if err != nil {
		return nil, err
	}
	defer leave()
	r.reads.Add(1)
	row, err := r.readRow(ctx, k.node.cluster.store, g.Row, q)
	if err != nil {
		return nil, err
	}
	result := &hbasepb.Result{Exists: proto.Bool(len(row.Cells) > 0)}
	if !g.GetExistenceOnly() {
		result = k.result(row.Cells)
	}
	if r.isReplica() {
		result.Stale = proto.Bool(true)
	}
	return result, nil
}
