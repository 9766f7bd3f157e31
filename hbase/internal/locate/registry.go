package locate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"

	"google.golang.org/protobuf/proto"
)

// Registry answers the two questions that nothing else can answer: which master is active, and where hbase:meta is. Both implementations
// can answer the second one without a master. The errors are those of one try; callers retry.
type Registry interface {
	Master(ctx context.Context) (*hbasepb.ServerName, error)
	Meta(ctx context.Context) (*hbasepb.RegionLocation, error)
	Close()
}

// rpcRegistry asks the masters and region servers that the user named. If none of them answers, it asks region servers that the client
// knows: since HBase 2.5, each of them answers like a master.
type rpcRegistry struct {
	addrs    []string
	known    func() []string
	patience time.Duration // time for each of them
	servers  *rpc.Servers
}

func (g *rpcRegistry) Close() {}

func (g *rpcRegistry) Master(ctx context.Context) (*hbasepb.ServerName, error) {
	var out hbasepb.GetActiveMasterResponse
	err := g.ask(ctx, "GetActiveMaster", &hbasepb.GetActiveMasterRequest{}, &out, func() error {
		if out.ServerName == nil {
			return remote.ErrNoActiveMaster
		}
		return nil
	})
	return out.ServerName, err
}

func (g *rpcRegistry) Meta(ctx context.Context) (meta *hbasepb.RegionLocation, err error) {
	var out hbasepb.GetMetaRegionLocationsResponse
	err = g.ask(ctx, "GetMetaRegionLocations", &hbasepb.GetMetaRegionLocationsRequest{}, &out, func() error {
		for _, l := range out.MetaLocations {
			if l.GetRegionInfo().GetReplicaId() == 0 && l.ServerName != nil {
				meta = l
				return nil
			}
		}
		return fmt.Errorf("hbase:meta: %w", remote.ErrNoServer)
	})
	return meta, err
}

// mostKnown bounds the number of servers asked that the user did not name.
const mostKnown = 3

// ask asks servers until take accepts out. Its error is from the servers that the user named: the answers of others, for example of an
// HBase before 2.5, say nothing about the cluster.
func (g *rpcRegistry) ask(ctx context.Context, method string, in, out proto.Message, take func() error) error {
	err := g.askEach(ctx, g.addrs, method, in, out, take)
	if _, away := errors.AsType[*remote.ConnError](err); !away || ctx.Err() != nil {
		return err
	}
	known := slices.DeleteFunc(g.known(), func(addr string) bool { return slices.Contains(g.addrs, addr) })
	rand.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	if len(known) > 0 && g.askEach(ctx, known[:min(mostKnown, len(known))], method, in, out, take) == nil {
		return nil
	}
	return err
}

// askEach asks each server once, one after the other in random order. The error says what happened with each. The servers have the answers
// in memory, so one that takes longer than the connect time-out counts as absent.
func (g *rpcRegistry) askEach(ctx context.Context, addrs []string, method string, in, out proto.Message, take func() error) error {
	var answers, silent []error
	for _, i := range rand.Perm(len(addrs)) {
		brief, cancel := context.WithTimeout(ctx, g.patience)
		_, err := g.servers.Call(brief, rpc.RegistryService.At(addrs[i]), method, in, out)
		cancel()
		if err == nil {
			if err = take(); err == nil {
				return nil
			}
			err = fmt.Errorf("%s: %w", addrs[i], err)
		}
		if ctx.Err() != nil || errors.Is(err, remote.ErrClosed) {
			return err
		}
		if _, away := errors.AsType[*remote.ConnError](err); away {
			silent = append(silent, err)
		} else {
			answers = append(answers, err)
		}
	}
	if len(answers) == 0 {
		return fmt.Errorf("no master answered %s: %w", method, errors.Join(silent...))
	}
	err := errors.Join(answers...) // these decide the remedy: the cluster is starting, or its master is away
	if len(silent) > 0 {
		err = fmt.Errorf("%w (no answer from %s)", err, errors.Join(silent...).Error())
	}
	return err
}
