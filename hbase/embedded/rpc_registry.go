package embedded

import (
	"context"
	"encoding/binary"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// registryMethods are the whole ClientMetaService, with which a client that knows one address finds the cluster: GetClusterId,
// GetActiveMaster, GetMasters, GetMetaRegionLocations, GetBootstrapNodes. Every node answers them.
//
// What they do not do:
//   - a killed master is named until its death is noticed, and then none is; there are no backup masters;
//   - hbase:meta has one location: it has no replicas.
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

// znodeParent is where HBase keeps its znodes by default [zookeeper.znode.parent].
const znodeParent = "/hbase"

// znodes returns the znodes below znodeParent for clients whose registry is ZooKeeper; see Options.ZooKeeper. They have the same content as
// the answers of the methods above. HBase's other znodes are missing: those of tables, replication, permissions and procedures.
func (c *cluster) znodes() map[string][]byte {
	all := map[string][]byte{
		znodeParent + "/hbaseid":        znode(&hbasepb.ClusterId{ClusterId: &c.id}),
		znodeParent + "/rs":             nil,
		znodeParent + "/backup-masters": nil,
	}
	if m := c.knownMaster(); m != nil {
		all[znodeParent+"/master"] = znode(&hbasepb.Master{Master: m.serverName()})
		all[znodeParent+"/running"] = nil
	}
	for _, n := range c.known() {
		all[znodeParent+"/rs/"+n.String()] = nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if meta := c.meta.regions[0]; meta.host != nil {
		all[znodeParent+"/meta-region-server"] = znode(&hbasepb.MetaRegionServer{Server: meta.host.serverName(),
			RpcVersion: proto.Uint32(0), State: hbasepb.RegionState_OPEN.Enum()})
	}
	return all
}

// znode encodes a message as HBase's processes do: 0xff, the length and the name of the process, the magic, and the message.
func znode(m proto.Message) []byte {
	const writer = "master:brine"
	raw, err := proto.Marshal(m)
	if err != nil {
		panic("BUG: " + err.Error()) // none of our messages lacks a required field
	}
	b := binary.BigEndian.AppendUint32([]byte{0xff}, uint32(len(writer)))
	return append(append(b, writer+metaMagic...), raw...)
}

// announce notifies ZooKeeper's clients of changes. It must not be called with c.mu held.
func (c *cluster) announce() {
	if c.zookeeper != nil {
		c.zookeeper.Changed()
	}
}
