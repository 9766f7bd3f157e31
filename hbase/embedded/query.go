package embedded

import (
	"context"
	"errors"
	"math"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// question is what Get and Scan have in common.
type question interface {
	GetColumn() []*hbasepb.Column
	GetFilter() *hbasepb.Filter
	GetTimeRange() *hbasepb.TimeRange
	GetCfTimeRange() []*hbasepb.ColumnFamilyTimeRange
	GetMaxVersions() uint32
}

// query makes the store's query of a Get or Scan, without its rows.
func (k *call) query(p question, limit, offset *uint32) (*store.Query, error) {
	q := &store.Query{
		MaxVersions: int(min(p.GetMaxVersions(), math.MaxInt32)), Times: timeRange(p.GetTimeRange()),
		StoreLimit: -1, StoreOffset: 0, Now: k.now(),
	}
	if q.MaxVersions == 0 {
		return nil, final(classDoNotRetry, "max_versions must be positive")
	}
	if limit != nil {
		q.StoreLimit = int(*limit)
	}
	if offset != nil {
		q.StoreOffset = int(*offset)
	}
	for _, c := range p.GetColumn() {
		q.Columns = append(q.Columns, store.FamilyColumns{Family: c.Family, Qualifiers: c.Qualifier})
	}
	for _, t := range p.GetCfTimeRange() {
		if q.FamilyTimes == nil {
			q.FamilyTimes = make(map[string]store.TimeRange)
		}
		q.FamilyTimes[string(t.ColumnFamily)] = timeRange(t.TimeRange)
	}
	if f := p.GetFilter(); f != nil {
		var err error
		if q.Filter, err = filter.New(f); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func timeRange(t *hbasepb.TimeRange) store.TimeRange {
	r := store.TimeRange{From: int64(t.GetFrom()), To: math.MaxInt64}
	if t != nil && t.To != nil {
		r.To = int64(t.GetTo())
	}
	if r.From == 0 && r.To == math.MaxInt64 {
		return store.AllTime
	}
	return r
}

// readRow returns a region's row. The caller has entered the region.
func (r *region) readRow(ctx context.Context, st *store.Store, row []byte, q *store.Query) (found *store.Row, err error) {
	q.Rows = store.RowRange(row)
	reader, err := st.NewReader(r.table.space, r.schema(), q)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	found = new(store.Row)
	ok, err := reader.Next(ctx, found)
	if !ok {
		found.Cells = nil
	}
	return found, err
}

// result makes a Result of cells: in the answer's cell block when the client reads those, else in the message.
func (k *call) result(cells []store.Cell) *hbasepb.Result {
	for i := range cells {
		k.size += cells[i].Size()
	}
	if k.conn.cells {
		k.appendCells(cells)
		return &hbasepb.Result{AssociatedCellCount: proto.Int32(int32(len(cells)))}
	}
	return resultMessage(cells)
}

func (k *call) appendCells(cells []store.Cell) {
	before := len(k.out)
	for i := range cells {
		k.out = wire.AppendCell(k.out, wireCell(&cells[i]))
	}
	k.grow(len(k.out) - before)
}

func wireCell(c *store.Cell) wire.Cell {
	return wire.Cell{Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: c.Timestamp, Type: byte(c.Type)}
}

func resultMessage(cells []store.Cell) *hbasepb.Result {
	r := &hbasepb.Result{}
	for i := range cells {
		c := &cells[i]
		t := hbasepb.CellType(c.Type)
		r.Cell = append(r.Cell, &hbasepb.Cell{
			Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: proto.Uint64(uint64(c.Timestamp)), CellType: &t,
		})
	}
	return r
}
