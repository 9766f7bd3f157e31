package hbase

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"brine/hbase/hbasepb"

	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/proto"
)

// prefetch is how many regions one look-up brings beside those that others wait for: the one that was asked for and those
// before it [hbase.client.locate.prefetch.limit].
const prefetch = 10

// locator finds the region of a row: in the cache, else in hbase:meta. Its errors are those of one try; callers retry.
type locator struct {
	servers  *servers
	registry registry
	cache    regionCache
	rounds   rounds
	lookups  singleflight.Group
	states   singleflight.Group // of tables
	enabled  sync.Map           // by table: when it was last seen not to be disabled

	metaMu     sync.Mutex
	meta       *Region // nil until asked for
	metaServer string  // where hbase:meta was last
}

// find returns the region that contains row.
func (l *locator) find(ctx context.Context, table string, row []byte) (*Region, error) {
	if r := l.cache.find(table, row); r != nil {
		return r, nil
	}
	found, err := l.findWith(ctx, table, wanted{row: row})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// findWith returns the region that contains a row and, when it has to be looked up, also others before it: descending, and some may be on no server.
// It gives what it found also with errNoServer, when the first is on none, and with errHole, when there is none that contains the row.
func (l *locator) findWith(ctx context.Context, table string, w wanted) ([]*Region, error) {
	if table == metaTable {
		r, err := l.findMeta(ctx)
		if err != nil {
			return nil, err
		}
		return []*Region{r}, nil
	}
	if r := l.cache.find(table, w.row); r != nil {
		return []*Region{r}, nil
	}
	found, err := l.ask(ctx, table, w)
	if err == nil {
		err = lack(found, func(r *Region) bool { return r.contains(w.row) })
	}
	if err != nil {
		return readable(found), fmt.Errorf("row %q of table %s: %w", w.row, table, err)
	}
	return readable(found), nil
}

// readable leaves out the regions of which it is not known where they end.
func readable(found []*Region) []*Region {
	damaged := func(r *Region) bool { return r.damage != nil }
	if !slices.ContainsFunc(found, damaged) {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), damaged)
}

// lack is what hbase:meta lacks of a region that was looked up, the first that was found if that is the right one.
func lack(found []*Region, right func(*Region) bool) error {
	switch {
	case len(found) == 0 || !right(found[0]):
		return errHole
	case found[0].damage != nil:
		return found[0].damage
	case found[0].Server == "":
		return errNoServer
	}
	return nil
}

// findBefore returns the region of the greatest rows less than row, where nil is the end of the table.
func (l *locator) findBefore(ctx context.Context, table string, row []byte) (*Region, error) {
	if table == metaTable {
		return l.findMeta(ctx)
	}
	if r := l.cache.findBefore(table, row); r != nil {
		return r, nil
	}
	start := metaKey(table, row, leastID)
	if row == nil {
		start = append([]byte(table), 0) // behind the table's last region
	}
	row = bytes.Clone(row) // the look-up goes on when the caller leaves
	return l.lookupOnce(ctx, "before\x00"+string(start), func() (*Region, error) {
		found, err := l.lookup(table, start, prefetch)
		if err == nil {
			err = lack(found, func(r *Region) bool { return r.reaches(row) })
		}
		if err != nil {
			return nil, fmt.Errorf("the rows before %q of table %s: %w", row, table, err)
		}
		return found[0], nil
	})
}

// lookupOnce makes concurrent look-ups of one thing one. The look-up goes on when the caller leaves.
func (l *locator) lookupOnce(ctx context.Context, key string, lookup func() (*Region, error)) (*Region, error) {
	done := l.lookups.DoChan(key, func() (any, error) { return lookup() })
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*Region), nil
	case <-ctx.Done():
		return nil, l.unanswered(ctx)
	}
}

// unanswered is the error of a look-up that a caller does not wait for any longer: his time is over, or he goes away.
func (l *locator) unanswered(ctx context.Context) error {
	l.metaMu.Lock()
	addr := cmp.Or(l.metaServer, "the cluster")
	l.metaMu.Unlock()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &connError{server: addr, class: "timeout", err: fmt.Errorf("no answer from hbase:meta in time: %w", ctx.Err()), unsent: true}
	}
	return fmt.Errorf("%s has not said yet where it is: %w", addr, context.Cause(ctx))
}

// metaKey is the row of hbase:meta of a region with this start and id.
func metaKey(table string, start []byte, id string) []byte {
	return bytes.Join([][]byte{[]byte(table), start, []byte(id)}, []byte(","))
}

// lookup reads so many rows of hbase:meta backwards from start. It gives the regions that are neither split nor offline, in this order, and caches
// those that are on a server.
func (l *locator) lookup(table string, start []byte, rows int) ([]*Region, error) {
	// hbase:meta is small and in memory: a server that needs longer for it than a connection may take is as good as silent.
	ctx, cancel := context.WithTimeout(l.servers.ctx, l.servers.opts.DialTimeout)
	defer cancel()
	meta, err := l.findMeta(ctx)
	if err != nil {
		return nil, err
	}
	found, err := l.lookupAt(ctx, meta, table, start, rows)
	if d := diagnose(err); err != nil && (d.remedy == relocate || d.remedy == reconnect) {
		l.dropMeta(meta)
	}
	return found, err
}

// lookupAt is lookup where hbase:meta is.
func (l *locator) lookupAt(ctx context.Context, meta *Region, table string, start []byte, rows int) (found []*Region, err error) {
	scanned, err := l.scanMeta(ctx, meta, start, metaKey(table, nil, ""), rows)
	if err != nil {
		return nil, fmt.Errorf("looking up a region of %s: %w", table, err)
	}
	seen := false
	for _, row := range scanned {
		r := regionOfMetaRow(row)
		if r == nil {
			continue
		}
		if r.damage != nil {
			r.damage = invalid(meta.Server, r.damage)
		}
		if r.Table != table {
			break
		}
		seen = true
		if r.Split || r.Offline {
			continue
		}
		if r.Server != "" {
			r = l.cache.add(r)
		}
		found = append(found, r)
	}
	if !seen {
		return nil, fmt.Errorf("%w: %s has no regions in hbase:meta", ErrNoTable, table)
	}
	return found, nil
}

// scanMeta reads up to so many rows backwards from start in one call.
func (l *locator) scanMeta(ctx context.Context, meta *Region, start, stop []byte, rows int) ([]Result, error) {
	in := &hbasepb.ScanRequest{
		Region: meta.specifier(),
		Scan: &hbasepb.Scan{
			Column:   []*hbasepb.Column{{Family: []byte("info")}},
			StartRow: start, StopRow: stop, IncludeStopRow: proto.Bool(true), Reversed: proto.Bool(true),
			MaxVersions: proto.Uint32(1), Caching: proto.Uint32(uint32(rows)), ReadType: hbasepb.Scan_PREAD.Enum(),
			MaxResultSize: proto.Uint64(defaultMaxResultBytes),
		},
		NumberOfRows: proto.Uint32(uint32(rows)), LimitOfRows: proto.Uint32(uint32(rows)), CloseScanner: proto.Bool(true),
		ClientHandlesPartials: proto.Bool(false), ClientHandlesHeartbeats: proto.Bool(false),
	}
	var out hbasepb.ScanResponse
	cells, err := l.servers.call(ctx, endpoint{meta.Server, clientService}, "Scan", in, &out)
	if err != nil {
		return nil, err
	}
	pieces, err := scanResults(&out, cells)
	if err != nil {
		return nil, invalid(meta.Server, err)
	}
	results := make([]Result, len(pieces))
	for i, p := range pieces {
		results[i] = p.Result
	}
	return results, nil
}

// heed acts on a failed call to a region: drops its location, or corrects it if the server said where the region went.
// It returns the new location, or nil.
func (l *locator) heed(r *Region, d diagnosis) *Region {
	switch {
	case r == nil || d.remedy != relocate && d.remedy != reconnect && d.remedy != reopen:
		return nil
	case r.Table == metaTable:
		l.dropMeta(r)
		return nil
	}
	l.cache.drop(r)
	// A server remembers for minutes where it gave a region to. What is not newer than the location known is of an earlier stay:
	// two servers between which a region went to and fro, and that then split, would send us to each other until we give up.
	if d.moved.addr == "" || d.moved.addr == r.Server || d.moved.seq <= r.seq {
		return nil
	}
	moved := *r
	moved.Server, moved.StartCode, moved.seq = d.moved.addr, 0, d.moved.seq
	l.cache.add(&moved)
	return &moved
}
