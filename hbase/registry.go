package hbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// registry answers the two questions that nobody else can: who is the active master, and where is hbase:meta. Its errors are
// those of one try; callers retry.
type registry interface {
	activeMaster(ctx context.Context) (addr string, err error)
	meta(ctx context.Context) (*Region, error)
	close()
}

// rpcRegistry asks the masters that the user named, in a random order, until one answers.
type rpcRegistry struct {
	addrs   []string
	servers *servers
}

func (g *rpcRegistry) close() {}

func (g *rpcRegistry) activeMaster(ctx context.Context) (addr string, err error) {
	var out hbasepb.GetActiveMasterResponse
	if err := g.ask(ctx, "GetActiveMaster", &hbasepb.GetActiveMasterRequest{}, &out); err != nil {
		return "", err
	}
	if out.ServerName == nil {
		return "", fmt.Errorf("%w: there is no active master", errNoServer)
	}
	return serverAddr(out.ServerName), nil
}

func (g *rpcRegistry) meta(ctx context.Context) (*Region, error) {
	var out hbasepb.GetMetaRegionLocationsResponse
	if err := g.ask(ctx, "GetMetaRegionLocations", &hbasepb.GetMetaRegionLocationsRequest{}, &out); err != nil {
		return nil, err
	}
	for _, l := range out.MetaLocations {
		if l.GetRegionInfo().GetReplicaId() != 0 {
			continue
		}
		if l.ServerName == nil {
			return nil, fmt.Errorf("hbase:meta: %w", errNoServer)
		}
		return metaRegion(l), nil
	}
	return nil, fmt.Errorf("hbase:meta: %w", errNoServer)
}

// ask tries every master once; the error says what became of each. A master knows the answers by heart: one that takes longer
// than a connection may take is as good as not there, and the others are asked.
func (g *rpcRegistry) ask(ctx context.Context, method string, in, out proto.Message) error {
	var errs []error
	for _, i := range rand.Perm(len(g.addrs)) {
		to := endpoint{g.addrs[i], registryService}
		brief, cancel := context.WithTimeout(ctx, g.servers.opts.DialTimeout)
		_, err := g.servers.call(brief, to, method, in, out)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return err
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("no master answered %s: %w", method, errors.Join(errs...))
}
