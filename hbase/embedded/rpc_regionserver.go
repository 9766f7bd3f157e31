package embedded

import (
	"context"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// regionServerMethods are the operators' requests to a region server: to list its regions (GetRegionInfo, GetOnlineRegion, GetRegionLoad),
// to describe itself (GetServerInfo) and its slow calls (GetLogEntries), and to flush and compact a region (FlushRegion, CompactRegion).
//
// What they do not do:
//   - a flush writes all regions to disk, because they share one store, and drops nothing;
//   - a minor compaction does nothing; a major one is done when its call is answered, so that none is ever seen running;
//   - sizes of regions are estimates of what is on disk; store files and memstores are reported as 0;
//   - no call is ever slow and no answer large: the logs are empty;
//   - the rest of the AdminService is not served: opening and closing regions, rolling the WAL, replication, configuration,
//     compaction switches.
var regionServerMethods = map[string]method{
	"AdminService.GetRegionInfo":   on(getRegionInfo),
	"AdminService.GetOnlineRegion": on(getOnlineRegion),
	"AdminService.GetServerInfo":   on(getServerInfo),
	"AdminService.GetRegionLoad":   on(getRegionLoad),
	"AdminService.FlushRegion":     on(flushRegion),
	"AdminService.CompactRegion":   on(compactRegion),
	"AdminService.GetLogEntries":   on(getLogEntries),
}

func getRegionInfo(_ context.Context, k *call, q *hbasepb.GetRegionInfoRequest) (*hbasepb.GetRegionInfoResponse, error) {
	r, err := k.node.region(q.Region)
	if err != nil {
		return nil, err
	}
	splittable := r.table.space != store.MetaSpace
	response := &hbasepb.GetRegionInfoResponse{RegionInfo: r.info, Splittable: &splittable, Mergeable: &splittable}
	if splittable && q.GetBestSplitRow() {
		if response.BestSplitRow, err = k.node.cluster.store.MiddleRow(r.table.space, r.clip(store.Range{})); err != nil {
			return nil, err
		}
	}
	if q.GetCompactionState() {
		response.CompactionState = hbasepb.GetRegionInfoResponse_NONE.Enum() // compactions run within their call
	}
	return response, nil
}

func getOnlineRegion(_ context.Context, k *call, _ *hbasepb.GetOnlineRegionRequest) (*hbasepb.GetOnlineRegionResponse, error) {
	response := &hbasepb.GetOnlineRegionResponse{}
	for _, r := range k.node.regions() {
		response.RegionInfo = append(response.RegionInfo, r.info)
	}
	return response, nil
}

func getServerInfo(_ context.Context, k *call, _ *hbasepb.GetServerInfoRequest) (*hbasepb.GetServerInfoResponse, error) {
	return &hbasepb.GetServerInfoResponse{ServerInfo: &hbasepb.ServerInfo{ServerName: k.node.serverName(), WebuiPort: proto.Uint32(0)}}, nil
}

func getRegionLoad(_ context.Context, k *call, q *hbasepb.GetRegionLoadRequest) (*hbasepb.GetRegionLoadResponse, error) {
	response := &hbasepb.GetRegionLoadResponse{}
	for _, r := range k.node.regions() {
		if q.TableName == nil || nameOf(q.TableName) == r.table.name {
			response.RegionLoads = append(response.RegionLoads, k.node.load(r))
		}
	}
	return response, nil
}

// load returns a region's statistics. Sizes are the store's estimates of what is on disk.
func (n *node) load(r *region) *hbasepb.RegionLoad {
	size := uint32(n.cluster.store.Bytes(r.table.space, r.info.StartKey, r.info.EndKey) >> 20)
	return &hbasepb.RegionLoad{
		RegionSpecifier:          &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: r.name},
		Stores:                   proto.Uint32(uint32(len(r.schema()))),
		Storefiles:               proto.Uint32(0),
		StoreUncompressedSize_MB: &size, StorefileSize_MB: &size, RegionSize_MB: &size, MemStoreSize_MB: proto.Uint32(0),
		ReadRequestsCount:         proto.Uint64(uint64(r.reads.Load())),
		WriteRequestsCount:        proto.Uint64(uint64(r.writes.Load())),
		FilteredReadRequestsCount: proto.Uint64(uint64(r.filtered.Load())),
		LastMajorCompactionTs:     proto.Uint64(uint64(r.lastMajor.Load())),
		CompactionState:           hbasepb.RegionLoad_NONE.Enum(),
	}
}

// flushRegion writes everything to disk, because regions share one store.
func flushRegion(_ context.Context, k *call, q *hbasepb.FlushRegionRequest) (*hbasepb.FlushRegionResponse, error) {
	if _, err := k.node.region(q.Region); err != nil {
		return nil, err
	}
	if err := k.node.cluster.store.Flush(); err != nil {
		return nil, err
	}
	return &hbasepb.FlushRegionResponse{LastFlushTime: proto.Uint64(uint64(k.now())), Flushed: proto.Bool(true),
		WroteFlushWalMarker: proto.Bool(false)}, nil
}

// compactRegion runs a major compaction before it answers. A minor one has nothing to do: the store compacts its files by itself, and only
// a major one may drop delete markers.
func compactRegion(ctx context.Context, k *call, q *hbasepb.CompactRegionRequest) (*hbasepb.CompactRegionResponse, error) {
	r, err := k.node.region(q.Region)
	if err != nil {
		return nil, err
	}
	if len(q.Family) > 0 && r.schema().Find(q.Family) == nil {
		return nil, final(classNoFamily, "column family %s does not exist in region %s", q.Family, r.name)
	}
	if !q.GetMajor() {
		return &hbasepb.CompactRegionResponse{}, nil
	}
	if err := k.node.compact(ctx, r, q.Family); err != nil {
		return nil, err
	}
	r.lastMajor.Store(k.now())
	return &hbasepb.CompactRegionResponse{}, nil
}

// compact compacts a region step by step, and locks writers out only during each step.
func (n *node) compact(ctx context.Context, r *region, family []byte) error {
	rows := r.clip(store.Range{})
	for {
		leave, err := r.enter(n, true)
		if err != nil {
			return err
		}
		next, err := n.cluster.store.CompactStep(ctx, r.table.space, r.schema(), rows, millis(n.clock()), family)
		leave()
		if err != nil || next == nil {
			return err
		}
		rows.Start = next
	}
}

// getLogEntries answers with a message that a Java client decodes by the class it names.
func getLogEntries(_ context.Context, _ *call, q *hbasepb.LogRequest) (*hbasepb.LogEntry, error) {
	if !strings.HasSuffix(q.GetLogClassName(), "$SlowLogResponseRequest") {
		return nil, unsupported("log entries for %s", q.GetLogClassName())
	}
	return &hbasepb.LogEntry{
		LogClassName: proto.String(strings.TrimSuffix(q.GetLogClassName(), "Request") + "s"), LogMessage: []byte{},
	}, nil
}
