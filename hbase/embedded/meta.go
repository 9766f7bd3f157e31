package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

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
//
// A table's row is its name, and table:state a TableState.
const (
	metaMagic      = "PBUF"
	metaInfo       = "info"
	metaRegionInfo = "regioninfo"
	metaState      = "state"
	metaTable      = "table"
)

// putRegion adds a region's row to a batch. The server's columns of a closed region stay as they are.
func (c *cluster) putRegion(b *store.Batch, r *region) error {
	info, err := proto.Marshal(r.info)
	if err != nil {
		return err
	}
	now := c.now()
	put := func(qualifier string, value []byte) {
		if err == nil {
			err = b.Add(store.MetaSpace, r.name, []byte(metaInfo), []byte(qualifier), now, store.Put, value)
		}
	}
	put(metaRegionInfo, append([]byte(metaMagic), info...))
	r.mu.RLock()
	n := r.node
	r.mu.RUnlock()
	if n == nil {
		put(metaState, []byte("CLOSED"))
		return err
	}
	put("server", []byte(n.addr))
	put("serverstartcode", binary.BigEndian.AppendUint64(nil, uint64(n.startCode)))
	put("seqnumDuringOpen", binary.BigEndian.AppendUint64(nil, 2))
	put("sn", []byte(n.String()))
	put(metaState, []byte("OPEN"))
	return err
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

// loadRegions reads hbase:meta and gives the tables their regions. It compacts hbase:meta first: each start writes new
// versions.
func (c *cluster) loadRegions() (err error) {
	ctx := context.Background()
	schema := *c.meta.families.Load()
	for next := []byte{}; next != nil; {
		if next, err = c.store.CompactStep(ctx, store.MetaSpace, schema, store.Range{Start: next}, c.now(), nil); err != nil {
			return fmt.Errorf("hbase:meta: %w", err)
		}
	}
	r, err := c.store.NewReader(store.MetaSpace, schema, &store.Query{
		Columns:     []store.FamilyColumns{{Family: []byte(metaInfo), Qualifiers: [][]byte{[]byte(metaRegionInfo)}}},
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
		if err := c.loadRegion(row.Key, row.Cells[0].Value); err != nil {
			return err
		}
	}
}

func (c *cluster) loadRegion(name, value []byte) error {
	raw, ok := bytes.CutPrefix(value, []byte(metaMagic))
	info := new(hbasepb.RegionInfo)
	if err := proto.Unmarshal(raw, info); err != nil || !ok {
		return fmt.Errorf("hbase:meta, row %q: not a region's description (%w)", name, err)
	}
	t := c.tables[nameOf(info.TableName)]
	if t == nil {
		return fmt.Errorf("hbase:meta, row %q: there is no such table", name)
	}
	t.regions = append(t.regions, regionOf(t, info))
	slices.SortFunc(t.regions, func(a, b *region) int { return bytes.Compare(a.info.StartKey, b.info.StartKey) })
	c.lastID = max(c.lastID, int64(info.GetRegionId()))
	return nil
}
