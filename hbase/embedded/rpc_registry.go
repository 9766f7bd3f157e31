package embedded

import (
	"context"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// registryMethods are the whole ClientMetaService, by which a client that knows one address finds the cluster: GetClusterId,
// GetActiveMaster, GetMasters, GetMetaRegionLocations, GetBootstrapNodes. Every node answers them.
//
// What they do not do:
//   - a master that was killed is still named until that is noticed, then none is; there are no backup masters;
//   - hbase:meta has one location: there are no replicas;
//   - there is no ZooKeeper beside them.
var registryMethods = map[string]method{
	"ClientMetaService.GetClusterId":           on(getClusterID),
	"ClientMetaService.GetActiveMaster":        on(getActiveMaster),
	"ClientMetaService.GetMasters":             on(getMasters),
	"ClientMetaService.GetMetaRegionLocations": on(getMetaRegionLocations),
	"ClientMetaService.GetBootstrapNodes":      on(getBootstrapNodes),
}

func getClusterID(_ context.Context, k *call, _ *hbasepb.GetClusterIdRequest) (*hbasepb.GetClusterIdResponse, error) {
	return &hbasepb.GetClusterIdResponse{ClusterId: proto.String(k.node.cluster.id)}, nil
}

func getActiveMaster(_ context.Context, k *call, _ *hbasepb.GetActiveMasterRequest) (*hbasepb.GetActiveMasterResponse, error) {
	r := &hbasepb.GetActiveMasterResponse{}
	if m := k.node.cluster.knownMaster(); m != nil {
		r.ServerName = m.serverName()
	}
	return r, nil
}

func getMasters(_ context.Context, k *call, _ *hbasepb.GetMastersRequest) (*hbasepb.GetMastersResponse, error) {
	r := &hbasepb.GetMastersResponse{}
	if m := k.node.cluster.knownMaster(); m != nil {
		r.MasterServers = append(r.MasterServers, &hbasepb.GetMastersResponseEntry{ServerName: m.serverName(), IsActive: proto.Bool(true)})
	}
	return r, nil
}

func getMetaRegionLocations(_ context.Context, k *call, _ *hbasepb.GetMetaRegionLocationsRequest) (*hbasepb.GetMetaRegionLocationsResponse,
	error) {
	c := k.node.cluster
	c.mu.RLock()
	defer c.mu.RUnlock()
	r := &hbasepb.GetMetaRegionLocationsResponse{}
	if meta := c.meta.regions[0]; meta.host != nil {
		r.MetaLocations = append(r.MetaLocations, &hbasepb.RegionLocation{RegionInfo: meta.info, ServerName: meta.host.serverName(),
			SeqNum: proto.Int64(0)})
	}
	return r, nil
}

func getBootstrapNodes(_ context.Context, k *call, _ *hbasepb.GetBootstrapNodesRequest) (*hbasepb.GetBootstrapNodesResponse, error) {
	r := &hbasepb.GetBootstrapNodesResponse{}
	for _, n := range k.node.cluster.known() {
		r.ServerName = append(r.ServerName, n.serverName())
	}
	return r, nil
}
