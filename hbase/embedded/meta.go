package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// The rows of hbase:meta. A region's row is its name:
//
//	info:regioninfo         "PBUF" and RegionInfo
//	info:server             host:port
//	info:serverstartcode    int64, big endian
//	info:seqnumDuringOpen   int64, big endian
//	info:sn                 host,port,startcode
//	info:state              OPEN, CLOSED …
//	info:server_0001 …      of replicas: see replicas.go
//
// The row of a split region stays until the next start or until its table is deleted. It has the descriptions of the daughters in
// info:splitA and info:splitB, and its own description says that it is offline and split. A merged region has the descriptions of its
// parents in info:merge0000 and so on until the next start; the parents' rows are deleted at once.
//
// A table's row is its name, and table:state a TableState. When the server answers as HBase 3 (Options.Release), a namespace's row is its
// name, and ns:d a NamespaceDescriptor.
const (
	metaMagic      = "PBUF"
	metaInfo       = "info"
	metaRegionInfo = "regioninfo"
	metaState      = "state"
	metaSeqNum     = "seqnumDuringOpen"
	metaMerge      = "merge"
	metaTable      = "table"
	metaNamespace  = "ns"
)

// putRegion adds a region's row to a batch: its location if it is open, otherwise where it will open. The server columns of a region that
// is not open stay unchanged. The region of hbase:meta has no row: only the registry knows it.
func (c *cluster) putRegion(b *store.Batch, r *region, state hbasepb.RegionState_State, n *node) error {
	if r.table == c.meta {
		return nil
	}
	w := metaRow{c: c, b: b, row: r.name}
	w.describe(metaRegionInfo, r.info)
	if n != nil {
		w.put("sn", []byte(n.String()))
	}
	if n != nil && state == hbasepb.RegionState_OPEN {
		w.put("server", []byte(n.reached()))
		w.put("serverstartcode", binary.BigEndian.AppendUint64(nil, uint64(n.startCode)))
		w.put(metaSeqNum, binary.BigEndian.AppendUint64(nil, uint64(r.seq)))
	}
	w.put(metaState, []byte(state.String()))
	return w.err
}

// putSplit marks a region's row as a split parent.
func (c *cluster) putSplit(b *store.Batch, parent, low, high *region) error {
	w := metaRow{c: c, b: b, row: parent.name}
	info := proto.Clone(parent.info).(*hbasepb.RegionInfo)
	info.Offline, info.Split = proto.Bool(true), proto.Bool(true)
	w.describe(metaRegionInfo, info)
	w.describe("splitA", low.info)
	w.describe("splitB", high.info)
	w.put(metaState, []byte(hbasepb.RegionState_SPLIT.String()))
	return w.err
}

// putMerged records a merged region's parents in its row and drops their rows.
func (c *cluster) putMerged(b *store.Batch, merged *region, parents []*region) error {
	w := metaRow{c: c, b: b, row: merged.name}
	for i, p := range parents {
		w.describe(fmt.Sprintf("%s%04d", metaMerge, i), p.info)
		if w.err == nil {
			w.err = b.DropRow(store.MetaSpace, p.name)
		}
	}
	return w.err
}

// metaRow adds columns of info to a row of hbase:meta, and stops at the first error.
type metaRow struct {
	c   *cluster
	b   *store.Batch
	row []byte
	err error
}

func (w *metaRow) put(qualifier string, value []byte) {
	if w.err == nil {
		w.err = w.b.Add(store.MetaSpace, w.row, []byte(metaInfo), []byte(qualifier), w.c.now(), store.Put, value)
	}
}

func (w *metaRow) describe(qualifier string, info *hbasepb.RegionInfo) {
	raw, err := proto.Marshal(info)
	w.err = errors.Join(w.err, err)
	w.put(qualifier, append([]byte(metaMagic), raw...))
}

// putNamespace adds a namespace's row to a batch in HBase 3's format: ns:d, a NamespaceDescriptor. If d is nil it removes the row.
func (c *cluster) putNamespace(b *store.Batch, name string, d *hbasepb.NamespaceDescriptor) error {
	if d == nil {
		return b.DropRow(store.MetaSpace, []byte(name))
	}
	raw, err := proto.Marshal(d)
	if err != nil {
		return err
	}
	return b.Add(store.MetaSpace, []byte(name), []byte(metaNamespace), []byte("d"), c.now(), store.Put, raw)
}

func (c *cluster) putTableState(b *store.Batch, t *table) error {
	return c.putState(b, t.name, t.state)
}

func (c *cluster) putState(b *store.Batch, name tableName, state hbasepb.TableState_State) error {
	raw, err := proto.Marshal(&hbasepb.TableState{State: &state})
	if err != nil {
		return err
	}
	return b.Add(store.MetaSpace, []byte(name.String()), []byte(metaTable), []byte(metaState), c.now(), store.Put, raw)
}

// loadRegions reads hbase:meta and calls load with each row; load adds the region to its table. loadRegions first compacts hbase:meta,
// because each start writes new versions. It drops what splits and merges left behind, as HBase's catalogue janitor does.
func (c *cluster) loadRegions(b *store.Batch, load func(*store.Batch, *store.Row) error) (err error) {
	ctx := context.Background()
	schema := *c.meta.families.Load()
	for next := []byte{}; next != nil; {
		if next, err = c.store.CompactStep(ctx, store.MetaSpace, schema, store.Range{Start: next}, c.now(), nil); err != nil {
			return fmt.Errorf("hbase:meta: %w", err)
		}
	}
	r, err := c.store.NewReader(store.MetaSpace, schema, &store.Query{
		Columns:     []store.FamilyColumns{{Family: []byte(metaInfo)}},
		MaxVersions: 1, Times: store.AllTime, StoreLimit: -1, Now: c.now(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var row store.Row
	for {
		ok, err := r.Next(ctx, &row)
		if err != nil || !ok {
			return err
		}
		if err := load(b, &row); err != nil {
			return fmt.Errorf("hbase:meta, row %q: %w", row.Key, err)
		}
	}
}

func (c *cluster) loadRegion(b *store.Batch, row *store.Row) error {
	info := new(hbasepb.RegionInfo)
	seq, described, left := int64(1), false, false
	replicas := 0
	for _, cell := range row.Cells {
		switch q := string(cell.Qualifier); {
		case q == metaRegionInfo:
			raw, ok := bytes.CutPrefix(cell.Value, []byte(metaMagic))
			if err := proto.Unmarshal(raw, info); err != nil || !ok {
				return fmt.Errorf("not a region's description (%w)", err)
			}
			described = true
		case q == metaSeqNum && len(cell.Value) == 8:
			seq = int64(binary.BigEndian.Uint64(cell.Value))
		case strings.HasPrefix(q, metaMerge):
			left = true
		case strings.HasPrefix(q, metaState+"_"):
			replicas++
		}
	}
	if !described {
		return nil // cells written by a client
	}
	c.lastID = max(c.lastID, int64(info.GetRegionId()))
	if info.GetSplit() || left {
		if err := b.DropRow(store.MetaSpace, row.Key); err != nil || info.GetSplit() {
			return err
		}
	}
	t := c.tables[nameOf(info.TableName)]
	if t == nil {
		return errors.New("the table does not exist")
	}
	r := regionOf(t, info)
	r.seq = seq
	for i := range replicas {
		r.replicas = append(r.replicas, replicaOf(r, i+1)) // closed; it opens with the region, if it is still wanted
	}
	t.regions = append(t.regions, r)
	slices.SortFunc(t.regions, func(a, b *region) int { return bytes.Compare(a.info.StartKey, b.info.StartKey) })
	return nil
}
