// Package locate finds the region of a row in its cache or in hbase:meta. Cached regions of one table never overlap. Concurrent look-ups in
// one table are merged.
//
// Three verbs look up a region. Find (locator.go) returns the cached region of a row, or reads it if there is none. Read (read.go, and
// rounds.go for many rows at once) asks hbase:meta. Correct (locator.go) acts on a server's answer instead: it forgets the location, or
// follows the region to where the server says it moved.
package locate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"

	"golang.org/x/sync/singleflight"
)

// prefetch is the number of regions that one look-up reads besides those that other callers wait for: the requested one and those before it
// [hbase.client.locate.prefetch.limit].
const prefetch = 10

// New returns a locator that asks ZooKeeper for the locations of hbase:meta and the master, or the servers at addrs if zooKeeper is nil.
// Its reads continue when their caller leaves, and end with ctx. Each server has patience to answer.
func New(ctx context.Context, s *rpc.Servers, patience time.Duration, zooKeeper Registry, addrs []string) *Locator {
	l := &Locator{ctx: ctx, servers: s, patience: patience, registry: zooKeeper}
	if zooKeeper == nil {
		l.registry = &rpcRegistry{addrs: addrs, servers: s, known: l.known, patience: patience}
	}
	return l
}

// Locator finds the region of a row in the cache or in hbase:meta. Its errors are those of one try; callers retry.
type Locator struct {
	ctx      context.Context // ends with the client
	patience time.Duration   // time for a server to answer a look-up
	servers  *rpc.Servers
	registry Registry
	cache    regionCache
	rounds   rounds
	reads    singleflight.Group
	states   singleflight.Group // of table states
	enabled  sync.Map           // by table: when it was last seen not disabled

	metaMu     sync.Mutex
	meta       *Region // nil if unknown
	metaServer string  // last known server of hbase:meta
}

// Find returns the region that contains row.
func (l *Locator) Find(ctx context.Context, table string, row []byte) (*Region, error) {
	if r := l.cache.find(table, row); r != nil {
		return r, nil
	}
	found, err := l.FindAround(ctx, table, Wanted{Row: row})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Learn caches regions of one table, in the order of a scan of hbase:meta.
func (l *Locator) Learn(table string, regions []*Region) {
	known := make([]*Region, 0, len(regions))
	for _, r := range regions {
		if r.damage != nil || r.Server == "" || r.Offline || len(known) > 0 && known[len(known)-1].overlaps(r) {
			continue // looked up when needed
		}
		known = append(known, r)
	}
	l.cache.addAll(table, known)
}

// Cached returns the cached region that contains row, or nil.
func (l *Locator) Cached(table string, row []byte) *Region { return l.cache.find(table, row) }

// FindAround returns the region that contains a row and, if it had to look it up, others before it, in descending order; some of them may
// be on no server. It returns what it found even with the errors remote.ErrNoServer, if the first region is on no server, and
// remote.ErrHole, if no region contains the row.
func (l *Locator) FindAround(ctx context.Context, table string, w Wanted) ([]*Region, error) {
	if table == MetaTable {
		r, err := l.FindMeta(ctx)
		if err != nil {
			return nil, err
		}
		return []*Region{r}, nil
	}
	if r := l.cache.find(table, w.Row); r != nil {
		return []*Region{r}, nil
	}
	found, err := l.readTogether(ctx, table, w)
	if err == nil {
		err = lack(found, func(r *Region) bool { return r.contains(w.Row) })
	}
	if err != nil {
		return readable(found), fmt.Errorf("row %q of table %s: %w", w.Row, table, err)
	}
	return readable(found), nil
}

// readable leaves out the regions whose end is unknown.
func readable(found []*Region) []*Region {
	damaged := func(r *Region) bool { return r.damage != nil }
	if !slices.ContainsFunc(found, damaged) {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), damaged)
}

// lack returns what is wrong in hbase:meta with a region that was looked up. The region is found[0] if right accepts it.
func lack(found []*Region, right func(*Region) bool) error {
	switch {
	case len(found) == 0 || !right(found[0]):
		return remote.ErrHole
	case found[0].damage != nil:
		return found[0].damage
	case found[0].Server == "":
		return remote.ErrNoServer
	}
	return nil
}

// FindBefore returns the region of the greatest rows less than row. A nil row means the end of the table.
func (l *Locator) FindBefore(ctx context.Context, table string, row []byte) (*Region, error) {
	if table == MetaTable {
		return l.FindMeta(ctx)
	}
	if r := l.cache.findBefore(table, row); r != nil {
		return r, nil
	}
	start := MetaKey(table, row, leastID)
	if row == nil {
		start = append([]byte(table), 0) // after the table's last region
	}
	row = bytes.Clone(row) // the look-up continues if the caller leaves
	return l.readOnce(ctx, "before\x00"+string(start), func() (*Region, error) {
		found, err := l.readBack(table, start, prefetch)
		if err == nil {
			err = lack(found, func(r *Region) bool { return r.reaches(row) })
		}
		if err != nil {
			return nil, fmt.Errorf("the rows before %q of table %s: %w", row, table, err)
		}
		return found[0], nil
	})
}

// unanswered returns the error for a caller that stops waiting for a look-up because its time is up or it was cancelled.
func (l *Locator) unanswered(ctx context.Context) error {
	l.metaMu.Lock()
	addr := cmp.Or(l.metaServer, "the cluster")
	l.metaMu.Unlock()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late := fmt.Errorf("no answer from hbase:meta in time: %w", ctx.Err())
		return &remote.ConnError{Server: addr, Class: "timeout", Err: late, Unsent: true}
	}
	return fmt.Errorf("%s has not reported its location yet: %w", addr, context.Cause(ctx))
}

// Correct handles a failed call to a region. It forgets the location, or corrects it if the server said where the region moved. It returns
// the new location, or nil.
func (l *Locator) Correct(r *Region, d remote.Diagnosis) *Region {
	switch {
	case r == nil || d.Remedy != remote.Relocate && d.Remedy != remote.Reconnect && d.Remedy != remote.Reopen:
		return nil
	}
	l.Forget(r)
	if r.Table == MetaTable || r.Replica > 0 { // never cache a replica as the region: reads that must see every write would go to it
		return nil
	}
	// A server remembers for minutes where it moved a region. A location that is not newer than the known one is from an earlier stay: two
	// servers between which a region moved back and forth before it split would send us to each other until we give up.
	if d.Moved.Addr == "" || d.Moved.Addr == r.Server || d.Moved.Seq <= r.seq {
		return nil
	}
	moved := *r
	moved.Server, moved.StartCode, moved.seq = d.Moved.Addr, 0, d.Moved.Seq
	l.cache.add(&moved)
	return &moved
}

// Forget drops the location of a region, including hbase:meta's own, if it is still the cached one.
func (l *Locator) Forget(r *Region) {
	if r.Table == MetaTable {
		l.dropMeta(r)
		return
	}
	l.cache.drop(r)
}

// ForgetServer drops the locations of all regions on a server.
func (l *Locator) ForgetServer(addr string) { l.cache.dropServer(addr) }

// ForgetTable drops the locations of a table's regions.
func (l *Locator) ForgetTable(table string) { l.cache.dropTable(table) }

// Master asks the registry for the active master and returns its address.
func (l *Locator) Master(ctx context.Context) (addr string, err error) {
	s, err := l.registry.Master(ctx)
	if err != nil {
		return "", err
	}
	return ServerAddr(s), nil
}

// Close closes the registry.
func (l *Locator) Close() { l.registry.Close() }
