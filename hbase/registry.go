package hbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// registry answers the two questions that nobody else can: who is the active master, and where is hbase:meta. Both know the second
// without a master, too. Its errors are those of one try; callers retry.
type registry interface {
	activeMaster(ctx context.Context) (addr string, err error)
	meta(ctx context.Context) (*Region, error)
	close()
}

// rpcRegistry asks the masters and region servers that the user named. When none of them answers it asks region servers that the
// client knows: since HBase 2.5 each tells what a master does.
type rpcRegistry struct {
	addrs   []string
	known   func() []string
	servers *servers
}

func (g *rpcRegistry) close() {}

func (g *rpcRegistry) activeMaster(ctx context.Context) (addr string, err error) {
	var out hbasepb.GetActiveMasterResponse
	err = g.ask(ctx, "GetActiveMaster", &hbasepb.GetActiveMasterRequest{}, &out, func() error {
		if out.ServerName == nil {
			return errNoActiveMaster
		}
		addr = serverAddr(out.ServerName)
		return nil
	})
	return addr, err
}

func (g *rpcRegistry) meta(ctx context.Context) (meta *Region, err error) {
	var out hbasepb.GetMetaRegionLocationsResponse
	err = g.ask(ctx, "GetMetaRegionLocations", &hbasepb.GetMetaRegionLocationsRequest{}, &out, func() error {
		for _, l := range out.MetaLocations {
			if l.GetRegionInfo().GetReplicaId() == 0 && l.ServerName != nil {
				meta = metaRegion(l)
				return nil
			}
		}
		return fmt.Errorf("hbase:meta: %w", errNoServer)
	})
	return meta, err
}

// mostKnown bounds how many servers are asked that the user did not name.
const mostKnown = 3

// ask asks until take finds in out what it needs. Its error is that of the servers that the user named: what another one answers
// instead, an HBase before 2.5 for one, says nothing of the cluster.
func (g *rpcRegistry) ask(ctx context.Context, method string, in, out proto.Message, take func() error) error {
	err := g.askEach(ctx, g.addrs, method, in, out, take)
	if _, away := errors.AsType[*connError](err); !away || ctx.Err() != nil {
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
// by heart: one that takes longer than a connection may take is as good as not there.
func (g *rpcRegistry) askEach(ctx context.Context, addrs []string, method string, in, out proto.Message, take func() error) error {
	var answers, silent []error
	for _, i := range rand.Perm(len(addrs)) {
		brief, cancel := context.WithTimeout(ctx, g.servers.opts.DialTimeout)
		_, err := g.servers.call(brief, endpoint{addrs[i], registryService}, method, in, out)
		cancel()
		if err == nil {
			if err = take(); err == nil {
				return nil
			}
			err = fmt.Errorf("%s: %w", addrs[i], err)
		}
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return err
		}
		if _, away := errors.AsType[*connError](err); away {
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
