package embedded

import (
	"context"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// registryService is the ClientMetaService: how a client that knows one address finds the cluster.
var registryService = map[string]method{
	"GetClusterId":           on(getClusterID),
	"GetActiveMaster":        on(getActiveMaster),
	"GetMasters":             on(getMasters),
	"GetMetaRegionLocations": on(getMetaRegionLocations),
	"GetBootstrapNodes":      on(getBootstrapNodes),
}

func getClusterID(_ context.Context, k *call, _ *hbasepb.GetClusterIdRequest) (*hbasepb.GetClusterIdResponse, error) {
	return &hbasepb.GetClusterIdResponse{ClusterId: proto.String(k.node.cluster.id)}, nil
}

func getActiveMaster(_ context.Context, k *call, _ *hbasepb.GetActiveMasterRequest) (*hbasepb.GetActiveMasterResponse, error) {
	return &hbasepb.GetActiveMasterResponse{ServerName: k.node.cluster.nodes[0].serverName()}, nil
}

func getMasters(_ context.Context, k *call, _ *hbasepb.GetMastersRequest) (*hbasepb.GetMastersResponse, error) {
	return &hbasepb.GetMastersResponse{MasterServers: []*hbasepb.GetMastersResponseEntry{
		{ServerName: k.node.cluster.nodes[0].serverName(), IsActive: proto.Bool(true)},
	}}, nil
}

func getMetaRegionLocations(_ context.Context, k *call, _ *hbasepb.GetMetaRegionLocationsRequest) (*hbasepb.GetMetaRegionLocationsResponse, error) {
	c := k.node.cluster
	return &hbasepb.GetMetaRegionLocationsResponse{MetaLocations: []*hbasepb.RegionLocation{
		{RegionInfo: c.meta.regions[0].info, ServerName: c.nodes[0].serverName(), SeqNum: proto.Int64(0)},
	}}, nil
}

func getBootstrapNodes(_ context.Context, k *call, _ *hbasepb.GetBootstrapNodesRequest) (*hbasepb.GetBootstrapNodesResponse, error) {
	r := &hbasepb.GetBootstrapNodesResponse{}
	for _, n := range k.node.cluster.nodes {
		r.ServerName = append(r.ServerName, n.serverName())
	}
	return r, nil
}
