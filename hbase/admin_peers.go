package hbase

import (
	"context"
	"slices"
	"strings"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
)

// Peer is another cluster, to which this one replicates the edits of families with REPLICATION_SCOPE 1.
type Peer struct {
	ID         string // without dashes
	ClusterKey string // its ZooKeeper as host,host:port:/znode; HBase 3 also takes hbase+rpc://host:port
	Endpoint   string // class that sends edits; empty: HBase's own
	Disabled   bool   // edits are kept for the peer instead of sent

	Tables     map[string][]string // tables to replicate, restricted to the listed families if there are any; nil: see Namespaces
	Namespaces []string            // namespaces whose tables are all replicated; if Tables is empty too, everything is replicated
	Bandwidth  int64               // bytes per second and region server; 0: no limit
	Serial     bool                // edits of a row arrive in order, even when its region moves
	Config     map[string]string
}

func (p *Peer) message() *hbasepb.ReplicationPeer {
	all := len(p.Tables) == 0 && len(p.Namespaces) == 0
	m := &hbasepb.ReplicationPeer{Clusterkey: &p.ClusterKey, ReplicateAll: &all, Configuration: settings(p.Config)}
	if p.Endpoint != "" {
		m.ReplicationEndpointImpl = &p.Endpoint
	}
	if p.Bandwidth > 0 {
		m.Bandwidth = &p.Bandwidth
	}
	if p.Serial {
		m.Serial = &p.Serial
	}
	for _, n := range p.Namespaces {
		m.Namespaces = append(m.Namespaces, []byte(n))
	}
	for table, families := range p.Tables {
		t := &hbasepb.TableCF{TableName: locate.TableName(table)}
		for _, f := range families {
			t.Families = append(t.Families, []byte(f))
		}
		m.TableCfs = append(m.TableCfs, t)
	}
	return m
}

func peerOf(d *hbasepb.ReplicationPeerDescription) Peer {
	m := d.GetConfig()
	p := Peer{
		ID: d.GetId(), ClusterKey: m.GetClusterkey(), Endpoint: m.GetReplicationEndpointImpl(), Bandwidth: m.GetBandwidth(),
		Disabled: d.GetState().GetState() == hbasepb.ReplicationState_DISABLED, Serial: m.GetSerial(), Config: configOf(m.Configuration),
	}
	for _, n := range m.Namespaces {
		p.Namespaces = append(p.Namespaces, string(n))
	}
	for _, t := range m.TableCfs {
		if p.Tables == nil {
			p.Tables = make(map[string][]string)
		}
		var families []string
		for _, f := range t.Families {
			families = append(families, string(f))
		}
		p.Tables[locate.TableString(t.TableName)] = families
	}
	return p
}

// AddPeer adds a peer and waits until all region servers know it.
func (c *Client) AddPeer(ctx context.Context, p Peer) error {
	state := hbasepb.ReplicationState_ENABLED
	if p.Disabled {
		state = hbasepb.ReplicationState_DISABLED
	}
	in := &hbasepb.AddReplicationPeerRequest{
		PeerId: &p.ID, PeerConfig: p.message(), PeerState: &hbasepb.ReplicationState{State: &state},
	}
	return c.procedure(ctx, "add replication peer", p.ID, "AddReplicationPeer", in, new(hbasepb.AddReplicationPeerResponse))
}

// RemovePeer removes a peer and the edits that were kept for it.
func (c *Client) RemovePeer(ctx context.Context, id string) error {
	in := &hbasepb.RemoveReplicationPeerRequest{PeerId: &id}
	return c.procedure(ctx, "remove replication peer", id, "RemoveReplicationPeer", in, new(hbasepb.RemoveReplicationPeerResponse))
}

// EnablePeer resumes sending edits to a peer, including those kept while it was disabled.
func (c *Client) EnablePeer(ctx context.Context, id string) error {
	in := &hbasepb.EnableReplicationPeerRequest{PeerId: &id}
	return c.procedure(ctx, "enable replication peer", id, "EnableReplicationPeer", in, new(hbasepb.EnableReplicationPeerResponse))
}

// DisablePeer makes the servers keep edits for a peer instead of sending them.
func (c *Client) DisablePeer(ctx context.Context, id string) error {
	in := &hbasepb.DisableReplicationPeerRequest{PeerId: &id}
	return c.procedure(ctx, "disable replication peer", id, "DisableReplicationPeer", in, new(hbasepb.DisableReplicationPeerResponse))
}

// Peers lists the peers in the order of their names.
func (c *Client) Peers(ctx context.Context) ([]Peer, error) {
	var out hbasepb.ListReplicationPeersResponse
	err := c.master(ctx, "list replication peers", "", "ListReplicationPeers", &hbasepb.ListReplicationPeersRequest{}, &out)
	var found []Peer
	for _, d := range out.PeerDesc {
		found = append(found, peerOf(d))
	}
	slices.SortFunc(found, func(a, b Peer) int { return strings.Compare(a.ID, b.ID) })
	return found, err
}
