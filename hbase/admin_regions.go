package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/internal/backoff"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// Region is one region of a table as hbase:meta describes it. Regions are immutable.
type Region = locate.Region

// Unreadable is the state of a region whose row in hbase:meta cannot be read. Its server is unknown, and it ends where the next region
// begins.
const Unreadable = locate.Unreadable

// Regions lists a table's regions in key order, as read from hbase:meta. It leaves out parents of splits, which no server holds. See
// Unreadable. While a snapshot is restored to the table, hbase:meta may have no region of it: Regions then reads again, as all operations
// do.
func (c *Client) Regions(ctx context.Context, table string) ([]Region, error) {
	table = locate.TableKey(table)
	regions, err := c.scanRegions(ctx, table)
	if err != nil || len(regions) > 0 {
		return regions, err
	}
	t := c.newTries("list regions", table)
	t.admin = true // no region is called, so it does not matter whether the table is disabled
	err = t.run(ctx, func(ctx context.Context) (*Region, error) {
		if err := c.locator.Exists(ctx, table); err != nil {
			return nil, err
		}
		if regions, err = c.scanRegions(ctx, table); err != nil {
			return nil, &remote.Permanent{Err: err} // the scan has retried
		}
		if len(regions) == 0 {
			return nil, remote.ErrHole
		}
		return nil, nil
	})
	return regions, err
}

// scanRegions reads the regions of a table in hbase:meta, which may have none.
func (c *Client) scanRegions(ctx context.Context, table string) (regions []Region, err error) {
	s := Scan{
		Start: locate.MetaKey(table, nil, ""), Stop: locate.MetaKey(table+" ", nil, ""), // in the order of hbase:meta, behind all regions
		Columns: []Column{{Family: []byte("info")}},
	}
	for row, err := range c.Scan(ctx, locate.MetaTable, s) {
		if err != nil {
			return nil, &Error{Op: "list regions", Table: table, Attempts: 1, Err: err}
		}
		r := locate.FromMeta(row)
		if r == nil {
			continue
		}
		if n := len(regions); n > 0 && regions[n-1].State == Unreadable {
			regions[n-1].End = r.Start
		}
		if r.Table == table && !r.Split {
			regions = append(regions, *r)
		}
	}
	return regions, nil
}

// Warm reads the locations of all regions of a table in one scan of hbase:meta and connects to their servers, so that the first calls need
// not. It returns the number of regions. A server that does not answer is not an error: it is looked up again when it is needed.
func (c *Client) Warm(ctx context.Context, table string) (regions int, err error) {
	all, err := c.Regions(ctx, table)
	if err != nil {
		return 0, err
	}
	found, servers := make([]*Region, len(all)), make(map[string]bool)
	for i := range all {
		found[i] = &all[i]
		servers[all[i].Server] = all[i].Server != ""
	}
	c.locator.Learn(locate.TableKey(table), found)
	ctx, cancel := c.joined(ctx)
	defer cancel()
	var dials errgroup.Group
	dials.SetLimit(16)
	for addr, known := range servers {
		if known {
			dials.Go(func() error { _ = c.servers.Connect(ctx, rpc.ClientService.At(addr)); return nil })
		}
	}
	_ = dials.Wait()
	return len(all), context.Cause(ctx)
}

// isOpen reports whether a region serves requests. Before HBase 2.0, hbase:meta had no states.
func isOpen(r *Region) bool {
	return r.Server != "" && !r.Offline && (r.State == "" || r.State == "OPEN")
}

func infoOf(r *Region) *hbasepb.RegionInfo {
	return &hbasepb.RegionInfo{RegionId: proto.Uint64(uint64(r.ID)), TableName: locate.TableName(r.Table), StartKey: r.Start, EndKey: r.End}
}

func encodedSpecifier(r *Region) *hbasepb.RegionSpecifier {
	return &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_ENCODED_REGION_NAME.Enum(), Value: []byte(r.Encoded)}
}

// SplitRegion splits a region at a row, or where the server thinks best if at is empty. It waits until both daughters are open.
func (c *Client) SplitRegion(ctx context.Context, r Region, at []byte) error {
	group, nonce := nonces()
	in := &hbasepb.SplitTableRegionRequest{RegionInfo: infoOf(&r), NonceGroup: group, Nonce: nonce}
	if len(at) > 0 {
		in.SplitRow = at
	}
	return c.procedure(ctx, "split region "+r.Encoded+" of", r.Table, "SplitRegion", in, new(hbasepb.SplitTableRegionResponse))
}

// MergeRegions merges neighbouring regions and waits until the result is open.
func (c *Client) MergeRegions(ctx context.Context, regions ...Region) error {
	if len(regions) < 2 {
		return &Error{Op: "merge regions", Attempts: 1, Err: fmt.Errorf("%d regions; merging needs at least two", len(regions))}
	}
	group, nonce := nonces()
	in := &hbasepb.MergeTableRegionsRequest{NonceGroup: group, Nonce: nonce}
	for _, r := range regions {
		in.Region = append(in.Region, encodedSpecifier(&r))
	}
	return c.procedure(ctx, "merge regions of", regions[0].Table, "MergeTableRegions", in, new(hbasepb.MergeTableRegionsResponse))
}

// MoveRegion moves a region to a server, given as host:port, or to any other server if server is empty, and waits until the region is open
// there. It asks again if the region turns up elsewhere. The master may leave the region in place if there is no other server or if it is
// there already.
func (c *Client) MoveRegion(ctx context.Context, r Region, server string) error {
	const op = "move region"
	in := &hbasepb.MoveRegionRequest{Region: encodedSpecifier(&r)}
	if server != "" {
		status, err := c.clusterStatus(ctx, op, hbasepb.Option_SERVERS_NAME)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(status.ServersName, func(s *hbasepb.ServerName) bool { return locate.ServerAddr(s) == server })
		if i < 0 {
			return &Error{Op: op, Table: r.Table, Attempts: 1, Err: fmt.Errorf("there is no live region server %s", server)}
		}
		in.DestServerName = status.ServersName[i]
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.OperationTimeout)
	defer cancel()
	for tries := 0; ; tries++ {
		now, err := c.awaitOpen(ctx, op, r)
		if err != nil && tries > 0 && !errors.Is(err, ErrNoRegion) {
			err = begun(0, err)
		}
		if err != nil || server != "" && now.Server == server || server == "" && tries > 0 {
			return err
		}
		if err := backoff.Wait(ctx, min(backoff.HBase(c.opts.Pause, tries-1), time.Duration(tries)*maxPoll)); err != nil {
			err = &Error{Op: op, Table: r.Table, Attempts: tries, Err: fmt.Errorf("it is still on %s: %w", now.Server, err)}
			if tries > 0 {
				err = begun(0, err)
			}
			return err
		}
		t := c.newTries(op, r.Table)
		if err := c.askMaster(ctx, t, "MoveRegion", in, new(hbasepb.MoveRegionResponse)); err != nil {
			return t.maybeBegun(err)
		}
	}
}

// awaitOpen waits until hbase:meta lists the region as open.
func (c *Client) awaitOpen(ctx context.Context, op string, r Region) (Region, error) {
	for polls := 0; ; polls++ {
		regions, err := c.Regions(ctx, r.Table)
		if err != nil {
			return r, err
		}
		i := slices.IndexFunc(regions, func(o Region) bool { return o.Encoded == r.Encoded })
		switch {
		case i < 0:
			return r, &Error{Op: op, Table: r.Table, Attempts: 1, Err: fmt.Errorf("%w: %s", ErrNoRegion, r.Encoded)}
		case isOpen(&regions[i]):
			return regions[i], nil
		}
		if err := backoff.Wait(ctx, min(backoff.HBase(c.opts.Pause, polls), maxPoll)); err != nil {
			return r, &Error{Op: op, Table: r.Table, Attempts: 1, Err: err}
		}
	}
}

// FlushTable flushes the memstores of a table, region by region.
func (c *Client) FlushTable(ctx context.Context, table string) error {
	return c.eachRegion(ctx, table, func(r Region) error { return c.FlushRegion(ctx, r) })
}

// FlushRegion flushes the memstore of a region.
func (c *Client) FlushRegion(ctx context.Context, r Region) error {
	in := &hbasepb.FlushRegionRequest{Region: locate.Specifier(&r)}
	t := c.newTries("flush region "+r.Encoded+" of", r.Table)
	return t.maybeBegun(c.onServer(ctx, t, r, "FlushRegion", in, new(hbasepb.FlushRegionResponse)))
}

// CompactTable requests a compaction of all regions of a table. A major compaction rewrites each store as one file and drops deleted cells.
// CompactTable does not wait: see TableCompactions.
func (c *Client) CompactTable(ctx context.Context, table string, major bool) error {
	return c.eachRegion(ctx, table, func(r Region) error { return c.CompactRegion(ctx, r, major) })
}

// CompactRegion requests a compaction of one region.
func (c *Client) CompactRegion(ctx context.Context, r Region, major bool) error {
	in := &hbasepb.CompactRegionRequest{Region: locate.Specifier(&r), Major: &major}
	t := c.newTries("compact region "+r.Encoded+" of", r.Table)
	return t.maybeBegun(c.onServer(ctx, t, r, "CompactRegion", in, new(hbasepb.CompactRegionResponse)))
}

// Compaction is the state of a region's compactions: NONE, MINOR, MAJOR or MAJOR_AND_MINOR.
type Compaction string

// RegionCompaction returns the compactions of a region that are running or queued.
func (c *Client) RegionCompaction(ctx context.Context, r Region) (Compaction, error) {
	in := &hbasepb.GetRegionInfoRequest{Region: locate.Specifier(&r), CompactionState: proto.Bool(true)}
	var out hbasepb.GetRegionInfoResponse
	t := c.newTries("compaction state of region "+r.Encoded+" of", r.Table)
	if err := c.onServer(ctx, t, r, "GetRegionInfo", in, &out); err != nil {
		return "", err
	}
	return Compaction(out.GetCompactionState().String()), nil
}

// TableCompactions returns the number of a table's regions in each compaction state.
func (c *Client) TableCompactions(ctx context.Context, table string) (map[Compaction]int, error) {
	states := make(map[Compaction]int)
	err := c.eachRegion(ctx, table, func(r Region) error {
		state, err := c.RegionCompaction(ctx, r)
		states[state]++
		return err
	})
	return states, err
}

// eachRegion calls f for every region of a table. It skips regions that are split or merged meanwhile, because their children have, or will
// have, what f asks for.
func (c *Client) eachRegion(ctx context.Context, table string, f func(Region) error) error {
	regions, err := c.Regions(ctx, table)
	for _, r := range regions {
		if err := f(r); err != nil && !errors.Is(err, ErrNoRegion) {
			return err
		}
	}
	return err
}

// onServer calls the server that holds the region now.
func (c *Client) onServer(ctx context.Context, t *tries, region Region, method string, in, out proto.Message) error {
	return t.run(ctx, func(ctx context.Context) (*Region, error) {
		r, err := c.locator.Find(ctx, region.Table, region.Start)
		if err == nil && r.Encoded != region.Encoded {
			c.locator.Forget(r) // the cached region may be the older one
			r, err = c.locator.Find(ctx, region.Table, region.Start)
		}
		if err != nil {
			return nil, err
		}
		if r.Encoded != region.Encoded {
			return nil, &remote.Permanent{Err: fmt.Errorf("%w: %s", ErrNoRegion, region.Encoded)}
		}
		_, err = c.servers.Call(ctx, rpc.AdminService.At(r.Server), method, in, out)
		t.doubt = t.doubt || outcomeUnknown(err)
		return r, err
	})
}
