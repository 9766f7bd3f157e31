package embedded

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// table is a table of the catalogue. All fields except space and name change under the cluster's mu; schema and families are replaced,
// never modified.
type table struct {
	name     tableName
	space    store.Space
	schema   *hbasepb.TableSchema
	families atomic.Pointer[store.Schema]
	state    hbasepb.TableState_State
	regions  []*region // in key order; replaced, never modified
	parents  []*region // split regions that still have a row in hbase:meta
}

func (t *table) setSchema(s *hbasepb.TableSchema, f store.Schema) {
	t.schema = s
	t.families.Store(&f)
}

// region is a range of a table's rows. Ordinary writers hold mu shared, because Pebble orders their commits. Writers that read first,
// compactions, and opening and closing hold it exclusively.
type region struct {
	table   *table
	info    *hbasepb.RegionInfo
	name    []byte // table,start,id.encoded.
	encoded string

	mu   sync.RWMutex
	node atomic.Pointer[node] // where it is open; nil: nowhere; changed with mu held

	// Part of the catalogue: the cluster's change guards seq, moving and unassigned; writing host and state additionally requires its mu.
	seq        int64 // sequence number by which clients order locations; grows with each opening and closing
	moving     bool  // in a transition
	unassigned bool  // closed by an operator until assigned
	host       *node // its location according to hbase:meta
	state      hbasepb.RegionState_State
	replicas   []*region // its read-only replicas, ordered by number from 1; replaced, never modified

	reads, writes, filtered atomic.Int64
	lastMajor               atomic.Int64 // end of the last major compaction, in ms
}

const metaEncoded = "1588230740"

// newRegion returns a new region for a range; id is its creation time in ms, unique within the cluster.
func newRegion(t *table, start, end []byte, id int64) *region {
	return regionOf(t, &hbasepb.RegionInfo{
		RegionId: proto.Uint64(uint64(id)), TableName: t.name.message(),
		StartKey: bytes.Clone(notNil(start)), EndKey: bytes.Clone(notNil(end)),
		Offline: proto.Bool(false), Split: proto.Bool(false), ReplicaId: proto.Int32(0),
	})
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// regionOf returns a region with its names. The name is table,start,id, followed by the number if it is a replica. Except for hbase:meta,
// the encoded name is the MD5 of that, and the name ends with it.
func regionOf(t *table, info *hbasepb.RegionInfo) *region {
	r := &region{table: t, info: info, seq: 1}
	r.name = append(r.name, t.name.String()+","...)
	r.name = append(append(r.name, info.GetStartKey()...), ',')
	r.name = strconv.AppendUint(r.name, info.GetRegionId(), 10)
	if r.isReplica() {
		r.name = fmt.Appendf(r.name, "_%04X", info.GetReplicaId())
	}
	if t.space == store.MetaSpace {
		r.encoded = metaEncoded
		return r
	}
	sum := md5.Sum(r.name)
	r.encoded = hex.EncodeToString(sum[:])
	r.name = append(append(append(r.name, '.'), r.encoded...), '.')
	return r
}

func (r *region) schema() store.Schema { return *r.table.families.Load() }

// has reports whether the row is in the region's range.
func (r *region) has(row []byte) bool {
	return bytes.Compare(row, r.info.StartKey) >= 0 && (len(r.info.EndKey) == 0 || bytes.Compare(row, r.info.EndKey) < 0)
}

func (r *region) check(row []byte, op string) error {
	if len(row) == 0 {
		return final(classIllegalArgument, "Row length 0")
	}
	if !r.has(row) {
		return &Exception{Class: classWrongRegion,
			Message: fmt.Sprintf("Requested row out of range for %s on HRegion %s, startKey=%q, getEndKey()=%q, row=%q", op, r.name,
				r.info.StartKey, r.info.EndKey, row)}
	}
	return nil
}

// at returns the node on which the region is open, or nil if there is none.
func (r *region) at() *node { return r.node.Load() }

// enter keeps the region open on the node, shared or exclusively, until the returned function is called.
func (r *region) enter(n *node, exclusive bool) (leave func(), err error) {
	lock, leave := r.mu.RLock, r.mu.RUnlock
	if exclusive {
		lock, leave = r.mu.Lock, r.mu.Unlock
	}
	lock()
	if r.at() != n {
		leave()
		return nil, n.absence(string(r.name))
	}
	return leave, nil
}

// clip restricts a range of rows to the region.
func (r *region) clip(rows store.Range) store.Range {
	if bytes.Compare(rows.Start, r.info.StartKey) < 0 {
		rows.Start, rows.StartExclusive = r.info.StartKey, false
	}
	if end := r.info.EndKey; len(end) > 0 && (len(rows.Stop) == 0 && !rows.StopInclusive || bytes.Compare(rows.Stop, end) >= 0) {
		rows.Stop, rows.StopInclusive = end, false
	}
	return rows
}

// named returns the region with that name or encoded name.
func (c *cluster) named(name string) (*region, error) {
	for _, t := range c.sorted() {
		c.mu.RLock()
		regions := t.regions
		c.mu.RUnlock()
		for _, r := range regions {
			if r.encoded == name || string(r.name) == name {
				return r, nil
			}
		}
	}
	return nil, final(classUnknownRegion, "%s", name)
}

// steady returns an open region of an enabled table that is not in transition. The caller holds c.change.
func (c *cluster) steady(name string) (*region, error) {
	r, err := c.named(name)
	switch {
	case err != nil:
		return nil, err
	case r.table.state != hbasepb.TableState_ENABLED:
		return nil, final(classTableNotEnabled, "%s", r.table.name)
	case r.moving || r.at() == nil:
		return nil, final(classRegionState, "%s is not OPEN; state=%s", r.encoded, r.state)
	}
	return r, nil
}

// before reports whether the other region starts where this one ends.
func (r *region) before(other *region) bool {
	return len(r.info.EndKey) > 0 && bytes.Equal(r.info.EndKey, other.info.StartKey)
}

// replace replaces regions with others. The caller holds the cluster's mu; the old slice is not modified.
func (t *table) replace(old []*region, fresh ...*region) {
	i := slices.Index(t.regions, old[0])
	t.regions = slices.Concat(t.regions[:i], fresh, t.regions[i+len(old):])
}
