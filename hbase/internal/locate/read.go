package locate

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
)

// maxMetaBytes is the maximum size of an answer from hbase:meta.
const maxMetaBytes = 2 << 20

// MetaKey returns the row key in hbase:meta of a region with this start key and id.
func MetaKey(table string, start []byte, id string) []byte {
	return bytes.Join([][]byte{[]byte(table), start, []byte(id)}, []byte(","))
}

// readBack reads the given number of rows of hbase:meta backwards from start. It returns the regions that are neither split nor offline, in
// this order, and caches those that are on a server. If there are none in a table that exists, it returns none without an error.
func (l *Locator) readBack(table string, start []byte, rows int) ([]*Region, error) {
	// hbase:meta is small and in memory, so a server that needs longer than the connect time-out counts as silent.
	ctx, cancel := context.WithTimeout(l.ctx, l.patience)
	defer cancel()
	meta, err := l.FindMeta(ctx)
	if err != nil {
		return nil, err
	}
	found, err := l.readRegions(ctx, meta, table, start, rows)
	if d := remote.Diagnose(err); err != nil && (d.Remedy == remote.Relocate || d.Remedy == remote.Reconnect) {
		l.dropMeta(meta)
	}
	return found, err
}

// readRegions is readBack with a known location of hbase:meta.
func (l *Locator) readRegions(ctx context.Context, meta *Region, table string, start []byte, rows int) (found []*Region, err error) {
	scanned, err := l.readRows(ctx, meta, start, MetaKey(table, nil, ""), rows)
	if err != nil {
		return nil, fmt.Errorf("looking up a region of %s: %w", table, err)
	}
	seen := false
	for _, row := range scanned {
		r := FromMeta(row)
		if r == nil {
			continue
		}
		if r.damage != nil {
			r.damage = remote.Invalid(meta.Server, r.damage)
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
		return nil, l.exists(ctx, meta, table)
	}
	return found, nil
}

// readRows reads up to the given number of rows backwards from start in one call.
func (l *Locator) readRows(ctx context.Context, meta *Region, start, stop []byte, rows int) ([]rpc.Result, error) {
	in := &hbasepb.ScanRequest{
		Region: Specifier(meta),
		Scan: &hbasepb.Scan{
			Column:   []*hbasepb.Column{{Family: []byte("info")}},
			StartRow: start, StopRow: stop, IncludeStopRow: proto.Bool(true), Reversed: proto.Bool(true),
			MaxVersions: proto.Uint32(1), Caching: proto.Uint32(uint32(rows)), ReadType: hbasepb.Scan_PREAD.Enum(),
			MaxResultSize: proto.Uint64(maxMetaBytes),
		},
		NumberOfRows: proto.Uint32(uint32(rows)), LimitOfRows: proto.Uint32(uint32(rows)), CloseScanner: proto.Bool(true),
		ClientHandlesPartials: proto.Bool(false), ClientHandlesHeartbeats: proto.Bool(false),
	}
	var out hbasepb.ScanResponse
	cells, err := l.servers.Call(ctx, rpc.ClientService.At(meta.Server), "Scan", in, &out)
	if err != nil {
		return nil, err
	}
	pieces, err := rpc.DecodeScan(&out, cells)
	if err != nil {
		return nil, remote.Invalid(meta.Server, err)
	}
	results := make([]rpc.Result, len(pieces))
	for i, p := range pieces {
		results[i] = p.Result
	}
	return results, nil
}

// readOnce merges concurrent reads with the same key. The read continues if the caller leaves.
func (l *Locator) readOnce(ctx context.Context, key string, read func() (*Region, error)) (*Region, error) {
	done := l.reads.DoChan(key, func() (any, error) { return read() })
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

// Read returns what hbase:meta has at the start of a known region, bypassing the cache, or nil if that region is on no server. A newer
// region replaces the known one in the cache. If hbase:meta does not answer, Read keeps its location, because the connection to it may be
// the one under suspicion; it drops the location if the registry names another one.
func (l *Locator) Read(ctx context.Context, r *Region) (*Region, error) {
	return l.readOnce(ctx, "at\x00"+string(r.Name), func() (*Region, error) {
		ctx, cancel := context.WithTimeout(l.ctx, l.patience)
		defer cancel()
		meta, err := l.FindMeta(ctx)
		if err != nil {
			return nil, err
		}
		found, err := l.readRegions(ctx, meta, r.Table, MetaKey(r.Table, r.Start, greatestID), prefetch)
		if err != nil {
			if at, metaErr := l.registry.Meta(l.ctx); metaErr == nil && !metaRegion(at).SameLife(meta) {
				l.dropMeta(meta)
			}
			return nil, err
		}
		if lack(found, func(now *Region) bool { return now.contains(r.Start) }) != nil {
			return nil, nil
		}
		return found[0], nil
	})
}
