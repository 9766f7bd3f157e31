package embedded

import (
	"context"
	"regexp"
	"strings"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// peerMethods record replication peers: AddReplicationPeer, RemoveReplicationPeer, EnableReplicationPeer, DisableReplicationPeer,
// GetReplicationPeerConfig and ListReplicationPeers.
//
// What they do not do:
//   - nothing is sent to a peer or kept for it, and its cluster key and endpoint are not checked;
//   - UpdateReplicationPeerConfig, the switch for changes of peers, and synchronous replication are not served.
var peerMethods = map[string]method{
	"MasterService.AddReplicationPeer":       on(addReplicationPeer),
	"MasterService.RemoveReplicationPeer":    on(removeReplicationPeer),
	"MasterService.EnableReplicationPeer":    on(enableReplicationPeer),
	"MasterService.DisableReplicationPeer":   on(disableReplicationPeer),
	"MasterService.GetReplicationPeerConfig": on(getReplicationPeerConfig),
	"MasterService.ListReplicationPeers":     on(listReplicationPeers),
}

const recordPeer = "peer/" // + id: ReplicationPeerDescription

func (c *cluster) peer(id string) (*hbasepb.ReplicationPeerDescription, error) {
	raw, err := c.store.Record(recordPeer + id)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, final(classNoPeer, "Replication peer %s does not exist", id)
	}
	d := new(hbasepb.ReplicationPeerDescription)
	return d, proto.Unmarshal(raw, d)
}

func (c *cluster) savePeer(d *hbasepb.ReplicationPeerDescription) error {
	raw, err := proto.Marshal(d)
	if err != nil {
		return err
	}
	return c.write(map[string][]byte{recordPeer + d.GetId(): raw})
}

func addReplicationPeer(ctx context.Context, k *call, q *hbasepb.AddReplicationPeerRequest) (*hbasepb.AddReplicationPeerResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, 0, 0, func() error {
		if strings.Contains(q.GetPeerId(), "-") {
			return final(classIllegalArgument, "Found invalid peer name: %s", q.GetPeerId())
		}
		if _, err := c.peer(q.GetPeerId()); err == nil {
			return final(classDoNotRetry, "Replication peer %s already exists", q.GetPeerId())
		}
		return c.savePeer(&hbasepb.ReplicationPeerDescription{Id: q.PeerId, State: q.PeerState, Config: q.PeerConfig})
	})
	return &hbasepb.AddReplicationPeerResponse{ProcId: id}, err
}

func removeReplicationPeer(ctx context.Context, k *call, q *hbasepb.RemoveReplicationPeerRequest) (*hbasepb.RemoveReplicationPeerResponse,
	error) {
	c := k.node.cluster
	id, err := c.changes(ctx, 0, 0, func() error {
		if _, err := c.peer(q.GetPeerId()); err != nil {
			return err
		}
		return c.write(map[string][]byte{recordPeer + q.GetPeerId(): nil})
	})
	return &hbasepb.RemoveReplicationPeerResponse{ProcId: id}, err
}

func (c *cluster) switchPeer(ctx context.Context, peer string, to hbasepb.ReplicationState_State) (*uint64, error) {
	return c.changes(ctx, 0, 0, func() error {
		d, err := c.peer(peer)
		if err != nil {
			return err
		}
		if d.GetState().GetState() == to {
			return final(classDoNotRetry, "Replication peer %s has already been %s", peer, strings.ToLower(to.String()))
		}
		d.State = &hbasepb.ReplicationState{State: &to}
		return c.savePeer(d)
	})
}

func enableReplicationPeer(ctx context.Context, k *call, q *hbasepb.EnableReplicationPeerRequest) (*hbasepb.EnableReplicationPeerResponse,
	error) {
	id, err := k.node.cluster.switchPeer(ctx, q.GetPeerId(), hbasepb.ReplicationState_ENABLED)
	return &hbasepb.EnableReplicationPeerResponse{ProcId: id}, err
}

func disableReplicationPeer(ctx context.Context, k *call,
	q *hbasepb.DisableReplicationPeerRequest) (*hbasepb.DisableReplicationPeerResponse, error) {
	id, err := k.node.cluster.switchPeer(ctx, q.GetPeerId(), hbasepb.ReplicationState_DISABLED)
	return &hbasepb.DisableReplicationPeerResponse{ProcId: id}, err
}

func getReplicationPeerConfig(_ context.Context, k *call,
	q *hbasepb.GetReplicationPeerConfigRequest) (*hbasepb.GetReplicationPeerConfigResponse, error) {
	d, err := k.node.cluster.peer(q.GetPeerId())
	if err != nil {
		return nil, err
	}
	return &hbasepb.GetReplicationPeerConfigResponse{PeerId: d.Id, PeerConfig: d.Config}, nil
}

func listReplicationPeers(_ context.Context, k *call,
	q *hbasepb.ListReplicationPeersRequest) (*hbasepb.ListReplicationPeersResponse, error) {
	expression := ".*"
	if q.Regex != nil {
		expression = q.GetRegex()
	}
	re, err := regexp.Compile("^(?:" + expression + ")$")
	if err != nil {
		return nil, final(classIllegalArgument, "regular expression %q: %v", expression, err)
	}
	response := &hbasepb.ListReplicationPeersResponse{}
	err = k.node.cluster.store.Records(recordPeer, func(_ string, value []byte) error {
		d := new(hbasepb.ReplicationPeerDescription)
		if err := proto.Unmarshal(value, d); err != nil {
			return err
		}
		if re.MatchString(d.GetId()) {
			response.PeerDesc = append(response.PeerDesc, d)
		}
		return nil
	})
	return response, err
}
