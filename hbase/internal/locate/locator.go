// Package locate finds the region of a row: in its cache, else in hbase:meta. Cached regions of one table never overlap, and
// concurrent look-ups of one table are one.
//
// Three verbs look up a region. Find (locator.go) returns what is known of a row, and has it read if nothing is. Read (read.go,
// and rounds.go for many rows at once) asks hbase:meta. Correct (locator.go) acts on what a server answered instead: it forgets
// the location, or follows the region to where the server says it went.
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

// prefetch is how many regions one look-up brings besides those that others wait for: the one that was asked for and those
// before it [hbase.client.locate.prefetch.limit].
const prefetch = 10

// New returns a locator that asks a ZooKeeper where hbase:meta and the master are, or if that is nil the servers at addrs. Its
// reads go on when the caller has left, and end with ctx; each server has patience to answer.
func New(ctx context.Context, s *rpc.Servers, patience time.Duration, zooKeeper Registry, addrs []string) *Locator {
	l := &Locator{ctx: ctx, servers: s, patience: patience, registry: zooKeeper}
	if zooKeeper == nil {
		l.registry = &rpcRegistry{addrs: addrs, servers: s, known: l.known, patience: patience}
	}
	return l
}

// Locator finds the region of a row: in the cache, else in hbase:meta. Its errors are those of one try; callers retry.
type Locator struct {
	ctx      context.Context // the client's life
	patience time.Duration   // that a server has to say where rows are
	servers  *rpc.Servers
	registry Registry
	cache    regionCache
	rounds   rounds
	reads    singleflight.Group
	states   singleflight.Group // of tables
	enabled  sync.Map           // by table: when it was last seen not to be disabled

	metaMu     sync.Mutex
	meta       *Region // nil until asked for
	metaServer string  // where hbase:meta was last
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

// Learn caches regions of one table as a scan of hbase:meta has them, in order.
func (l *Locator) Learn(table string, regions []*Region) {
	known := make([]*Region, 0, len(regions))
	for _, r := range regions {
		if r.damage != nil || r.Server == "" || r.Offline || len(known) > 0 && known[len(known)-1].overlaps(r) {
			continue // what is left out is looked up when it is needed
		}
		known = append(known, r)
	}
	l.cache.addAll(table, known)
}

// Cached returns the region that contains row if it is known, else nil.
func (l *Locator) Cached(table string, row []byte) *Region { return l.cache.find(table, row) }

// FindAround returns the region that contains a row and, when it has to be looked up, also others before it: descending, and some
// may be on no server. It returns what it found also with remote.ErrNoServer, when the first is on none, and with remote.ErrHole,
// when there is none that contains the row.
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

// readable leaves out the regions whose end is not known.
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
		return remote.ErrHole
	case found[0].damage != nil:
		return found[0].damage
	case found[0].Server == "":
		return remote.ErrNoServer
	}
	return nil
}

// FindBefore returns the region of the greatest rows less than row, where nil is the end of the table.
func (l *Locator) FindBefore(ctx context.Context, table string, row []byte) (*Region, error) {
	if table == MetaTable {
		return l.FindMeta(ctx)
	}
	if r := l.cache.findBefore(table, row); r != nil {
		return r, nil
	}
	start := MetaKey(table, row, leastID)
	if row == nil {
		start = append([]byte(table), 0) // behind the table's last region
	}
	row = bytes.Clone(row) // the look-up goes on when the caller leaves
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

// unanswered is the error of a look-up that a caller does not wait for any longer: its time is over, or it goes away.
func (l *Locator) unanswered(ctx context.Context) error {
	l.metaMu.Lock()
	addr := cmp.Or(l.metaServer, "the cluster")
	l.metaMu.Unlock()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late := fmt.Errorf("no answer from hbase:meta in time: %w", ctx.Err())
		return &remote.ConnError{Server: addr, Class: "timeout", Err: late, Unsent: true}
	}
	return fmt.Errorf("%s has not said yet where it is: %w", addr, context.Cause(ctx))
}

// Correct acts on a failed call to a region: it forgets the location, or corrects it if the server said where the region went.
// It returns the new location, or nil.
func (l *Locator) Correct(r *Region, d remote.Diagnosis) *Region {
	switch {
	case r == nil || d.Remedy != remote.Relocate && d.Remedy != remote.Reconnect && d.Remedy != remote.Reopen:
		return nil
	}
	l.Forget(r)
	if r.Table == MetaTable || r.Replica > 0 { // a replica is never known as the region: reads that must see every write would go to it
		return nil
	}
	// A server remembers for minutes where it gave a region to. What is not newer than the location known is of an earlier stay:
	// two servers between which a region went back and forth, and that then split, would send us to each other until we give up.
	if d.Moved.Addr == "" || d.Moved.Addr == r.Server || d.Moved.Seq <= r.seq {
		return nil
	}
	moved := *r
	moved.Server, moved.StartCode, moved.seq = d.Moved.Addr, 0, d.Moved.Seq
	l.cache.add(&moved)
	return &moved
}

// Forget drops a region's location, hbase:meta's own included, if it is still the one that is known.
func (l *Locator) Forget(r *Region) {
	if r.Table == MetaTable {
		l.dropMeta(r)
		return
	}
	l.cache.drop(r)
}

// ForgetServer drops the locations of all regions that are on a server.
func (l *Locator) ForgetServer(addr string) { l.cache.dropServer(addr) }

// ForgetTable drops the locations of a table's regions.
func (l *Locator) ForgetTable(table string) { l.cache.dropTable(table) }

// Master returns the address of the active master, asking the registry.
func (l *Locator) Master(ctx context.Context) (addr string, err error) {
	s, err := l.registry.Master(ctx)
	if err != nil {
		return "", err
	}
	return ServerAddr(s), nil
}

// Close closes the registry.
func (l *Locator) Close() { l.registry.Close() }
