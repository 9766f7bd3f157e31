package embedded

import (
	"context"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

const version = "2.6.4" // of the HBase whose behaviour this is

// getClusterStatus gives the parts of the status that are asked for; asking for none means all.
func getClusterStatus(_ context.Context, k *call, q *hbasepb.GetClusterStatusRequest) (*hbasepb.GetClusterStatusResponse, error) {
	c := k.node.cluster
	s := &hbasepb.ClusterStatus{}
	wants := func(o hbasepb.Option) bool { return len(q.Options) == 0 || slices.Contains(q.Options, o) }
	if wants(hbasepb.Option_HBASE_VERSION) {
		s.HbaseVersion = &hbasepb.HBaseVersionFileContent{Version: proto.String(version)}
	}
	if wants(hbasepb.Option_CLUSTER_ID) {
		s.ClusterId = &hbasepb.ClusterId{ClusterId: &c.id}
	}
	if wants(hbasepb.Option_MASTER) {
		s.Master = c.nodes[0].serverName()
	}
	if wants(hbasepb.Option_BALANCER_ON) {
		c.mu.RLock()
		s.BalancerOn = proto.Bool(c.balancing)
		c.mu.RUnlock()
	}
	for _, n := range c.nodes {
		if wants(hbasepb.Option_SERVERS_NAME) {
			s.ServersName = append(s.ServersName, n.serverName())
		}
		if wants(hbasepb.Option_LIVE_SERVERS) {
			s.LiveServers = append(s.LiveServers, &hbasepb.LiveServerInfo{Server: n.serverName(), ServerLoad: n.serverLoad()})
		}
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
	for _, r := range n.regions() {
		l.RegionLoads = append(l.RegionLoads, n.load(r))
	}
	return l
}

func (c *cluster) counts(t *table) *hbasepb.TableRegionStatesCount {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := uint32(len(t.regions))
	open := all
	if t.state != hbasepb.TableState_ENABLED {
		open = 0
	}
	return &hbasepb.TableRegionStatesCount{TableName: t.name.message(), RegionStatesCount: &hbasepb.RegionStatesCount{
		OpenRegions: &open, SplitRegions: proto.Uint32(0), ClosedRegions: proto.Uint32(all - open), RegionsInTransition: proto.Uint32(0), TotalRegions: &all,
	}}
}
