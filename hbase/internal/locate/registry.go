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

// Registry answers the two questions that nobody else can: who is the active master, and where is hbase:meta. Both know the second
// without a master, too. Its errors are those of one try; callers retry.
type Registry interface {
	Master(ctx context.Context) (*hbasepb.ServerName, error)
	Meta(ctx context.Context) (*hbasepb.RegionLocation, error)
	Close()
}

// rpcRegistry asks the masters and region servers that the user named. When none of them answers it asks region servers that the
// client knows: since HBase 2.5 each answers as a master does.
type rpcRegistry struct {
	addrs    []string
	known    func() []string
	patience time.Duration // that each of them has
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

// mostKnown bounds how many servers are asked that the user did not name.
const mostKnown = 3

// ask asks until take finds in out what it needs. Its error is that of the servers that the user named: what another one answers
// instead, an HBase before 2.5 for one, says nothing of the cluster.
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

// askEach asks one server after the other in a random order, each once; the error says what became of each. They know the answers
// by heart: one that takes longer than a connection may take is treated as absent.
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
	err := errors.Join(answers...) // what to do is theirs to say: the cluster starts, or its master is away
	if len(silent) > 0 {
		err = fmt.Errorf("%w (no answer of %s)", err, errors.Join(silent...).Error())
	}
	return err
}
