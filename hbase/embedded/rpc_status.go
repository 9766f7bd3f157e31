package embedded

import (
	"context"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// statusMethods report the state of the cluster: GetClusterStatus and IsMasterRunning.
//
// What they do not do:
//   - heap sizes, requests per second, store files and memstores are reported as 0; sizes of regions are estimates;
//   - there are no backup masters, coprocessors, tasks or web page ports to report;
//   - decommissioning, region server groups, and shutting down a master or the cluster are not served.
var statusMethods = map[string]method{
	"MasterService.GetClusterStatus": on(getClusterStatus),
	"MasterService.IsMasterRunning":  on(isMasterRunning),
}

// releases are the HBase versions that the server reports, by Options.Release.
var releases = map[string]string{"2.6": "2.6.4", "3.0": "3.0.0"}

// three reports whether the server behaves as HBase 3.
func (o *Options) three() bool { return o.Release == "3.0" }

// getClusterStatus returns the parts of the status that the request names, or all if it names none.
func getClusterStatus(_ context.Context, k *call, q *hbasepb.GetClusterStatusRequest) (*hbasepb.GetClusterStatusResponse, error) {
	c := k.node.cluster
	s := &hbasepb.ClusterStatus{}
	wants := func(o hbasepb.Option) bool { return len(q.Options) == 0 || slices.Contains(q.Options, o) }
	if wants(hbasepb.Option_HBASE_VERSION) {
		s.HbaseVersion = &hbasepb.HBaseVersionFileContent{Version: proto.String(releases[c.opts.Release])}
	}
	if wants(hbasepb.Option_CLUSTER_ID) {
		s.ClusterId = &hbasepb.ClusterId{ClusterId: &c.id}
	}
	if wants(hbasepb.Option_MASTER) {
		s.Master = k.node.serverName()
	}
	if wants(hbasepb.Option_BALANCER_ON) {
		c.mu.RLock()
		s.BalancerOn = proto.Bool(c.balancing)
		c.mu.RUnlock()
	}
	for _, n := range c.known() {
		if wants(hbasepb.Option_SERVERS_NAME) {
			s.ServersName = append(s.ServersName, n.serverName())
		}
		if wants(hbasepb.Option_LIVE_SERVERS) {
			s.LiveServers = append(s.LiveServers, &hbasepb.LiveServerInfo{Server: n.serverName(), ServerLoad: n.serverLoad()})
		}
	}
	if wants(hbasepb.Option_DEAD_SERVERS) {
		s.DeadServers = c.deadServers()
	}
	if wants(hbasepb.Option_REGIONS_IN_TRANSITION) {
		s.RegionsInTransition = c.inTransition()
	}
	if wants(hbasepb.Option_TABLE_TO_REGIONS_COUNT) {
		for _, t := range c.sorted() {
			s.TableRegionStatesCount = append(s.TableRegionStatesCount, c.counts(t))
		}
	}
	return &hbasepb.GetClusterStatusResponse{ClusterStatus: s}, nil
}

func (n *node) serverLoad() *hbasepb.ServerLoad {
	l := &hbasepb.ServerLoad{
		NumberOfRequests: proto.Uint64(0), TotalNumberOfRequests: proto.Uint64(uint64(n.requests.Load())),
		UsedHeap_MB: proto.Uint32(0), MaxHeap_MB: proto.Uint32(0), InfoServerPort: proto.Uint32(0),
		ReportStartTime: proto.Uint64(uint64(n.startCode)), ReportEndTime: proto.Uint64(uint64(n.cluster.now())),
	}
	var reads, writes int64
	for _, r := range n.regions() {
		l.RegionLoads = append(l.RegionLoads, n.load(r))
		reads, writes = reads+r.reads.Load(), writes+r.writes.Load()
	}
	if n.cluster.opts.three() { // read_requests_count and write_requests_count; in HBase 2.6 field 13 is a map
		more := protowire.AppendVarint(protowire.AppendTag(nil, 13, protowire.VarintType), uint64(reads))
		more = protowire.AppendVarint(protowire.AppendTag(more, 14, protowire.VarintType), uint64(writes))
		l.ProtoReflect().SetUnknown(more)
	}
	return l
}

func (c *cluster) counts(t *table) *hbasepb.TableRegionStatesCount {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all, split := uint32(len(t.regions)+len(t.parents)), uint32(len(t.parents))
	var open, closed, moving uint32
	for _, r := range t.regions {
		switch r.state {
		case hbasepb.RegionState_OPEN:
			open++
		case hbasepb.RegionState_CLOSED:
			closed++
		default:
			moving++
		}
	}
	return &hbasepb.TableRegionStatesCount{TableName: t.name.message(), RegionStatesCount: &hbasepb.RegionStatesCount{
		OpenRegions: &open, SplitRegions: &split, ClosedRegions: &closed, RegionsInTransition: &moving, TotalRegions: &all,
	}}
}

// inTransition returns the regions that are neither open nor closed.
func (c *cluster) inTransition() (rs []*hbasepb.RegionInTransition) {
	for _, t := range c.sorted() {
		c.mu.RLock()
		for _, r := range t.regions {
			if r.state == hbasepb.RegionState_OPENING {
				rs = append(rs, &hbasepb.RegionInTransition{
					Spec:        &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: r.name},
					RegionState: &hbasepb.RegionState{RegionInfo: r.info, State: r.state.Enum()},
				})
			}
		}
		c.mu.RUnlock()
	}
	return rs
}

func isMasterRunning(context.Context, *call, *hbasepb.IsMasterRunningRequest) (*hbasepb.IsMasterRunningResponse, error) {
	return &hbasepb.IsMasterRunningResponse{IsMasterRunning: proto.Bool(true)}, nil
}
