package verify

import (
	"bytes"
	"context"
	"iter"

	"brine/hbase"
)

// HBase returns the Store of an HBase table.
func HBase(client *hbase.Client, table string) Store { return rowStore{client, table} }

type rowStore struct {
	client *hbase.Client
	table  string
}

func (s rowStore) Splits(ctx context.Context) ([][]byte, error) {
	regions, err := s.client.Regions(ctx, s.table)
	var splits [][]byte
	for _, r := range regions {
		if len(r.Start) > 0 {
			splits = append(splits, r.Start)
		}
	}
	return splits, err
}

func (s rowStore) Get(ctx context.Context, keys [][]byte) ([][]Cell, error) {
	gets := make([]hbase.Get, len(keys))
	for i, key := range keys {
		gets[i].Row = key
	}
	results, err := s.client.GetAll(ctx, s.table, gets)
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range results {
		n += len(results[i].Cells)
	}
	out, cells, names := make([][]Cell, len(keys)), make([]Cell, 0, n), make([]byte, 0, n*nameRoom)
	for i := range results {
		start := len(cells)
		cells, names = appendCells(cells, names, results[i].Cells)
		out[i] = cells[start:len(cells):len(cells)]
	}
	return out, nil
}

func (s rowStore) Scan(ctx context.Context, from, to []byte) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var cells []Cell
		var names []byte
		for result, err := range s.client.Scan(ctx, s.table, hbase.Scan{Start: from, Stop: to, Renew: true}) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			cells, names = appendCells(cells[:0], names[:0], result.Cells)
			if !yield(Row{result.Row, cells}, nil) {
				return
			}
		}
	}
}

// nameRoom is how many bytes of a column's name room is made for.
const nameRoom = 16

// appendCells appends the newest cell of each column. If several have the same version, a reader gets the first.
func appendCells(dst []Cell, names []byte, cells []hbase.Cell) ([]Cell, []byte) {
	for i := range cells {
		c := &cells[i]
		if i > 0 && bytes.Equal(c.Family, cells[i-1].Family) && bytes.Equal(c.Qualifier, cells[i-1].Qualifier) {
			continue
		}
		start := len(names)
		names = appendColumn(names, c.Family, c.Qualifier)
		dst = append(dst, Cell{Column: names[start:len(names):len(names)], Version: c.Timestamp, Value: hash(c.Value)})
	}
	return dst, names
}

func appendColumn(dst, family, qualifier []byte) []byte {
	return append(append(append(dst, family...), ':'), qualifier...)
}

// hider is a Store that can find what hides a cell.
type hider interface {
	// hiding returns the version of a delete marker that hides a column's cells up to and including version, or any column's cells if column
	// is empty. It returns −1 if there is none.
	hiding(ctx context.Context, key, column []byte, version int64) (int64, error)
}

// Hiding returns the version of a delete marker that hides a column's cells up to and including version, or −1 if there is none.
func Hiding(ctx context.Context, client *hbase.Client, table string, row []byte, column string, version int64) (int64, error) {
	return rowStore{client, table}.hiding(ctx, row, []byte(column), version)
}

func (s rowStore) hiding(ctx context.Context, key, column []byte, version int64) (int64, error) {
	markers, err := MarkersOf(ctx, s.client, s.table, key)
	return markers.Hiding(column, version), err
}

// Reader reads rows; *hbase.Client implements it.
type Reader interface {
	GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error)
	Scan(ctx context.Context, table string, s hbase.Scan) iter.Seq2[hbase.Result, error]
}

// Markers are the delete markers of a row.
type Markers []hbase.Cell

// MarkersOf reads the delete markers of a row.
func MarkersOf(ctx context.Context, rows Reader, table string, row []byte) (markers Markers, err error) {
	scan := hbase.Scan{Start: row, Stop: append(bytes.Clone(row), 0), Raw: true, MaxVersions: 100}
	for found, err := range rows.Scan(ctx, table, scan) {
		if err != nil {
			return nil, err
		}
		for _, c := range found.Cells {
			if c.Type != hbase.Put {
				markers = append(markers, c)
			}
		}
	}
	return markers, nil
}

// Hiding returns the version of a marker that hides a column's cells of the version, or any column's cells if column is empty. Without one
// it returns −1.
func (m Markers) Hiding(column []byte, version int64) int64 {
	newest := int64(-1)
	for i := range m {
		if hides(&m[i], column, version) {
			newest = max(newest, m[i].Timestamp)
		}
	}
	return newest
}

func hides(c *hbase.Cell, column []byte, version int64) bool {
	of := familyOf(column)
	family := len(column) == 0 || bytes.Equal(c.Family, of)
	same := len(column) == 0 || family && bytes.Equal(c.Qualifier, column[len(of)+1:])
	switch c.Type {
	case hbase.Delete:
		return same && c.Timestamp == version
	case hbase.DeleteColumn:
		return same && c.Timestamp >= version
	case hbase.DeleteFamily:
		return family && c.Timestamp >= version
	case hbase.DeleteFamilyVersion:
		return family && c.Timestamp == version
	}
	return false
}

// Remove deletes up to the versions that are there: later writes with greater versions stay.
func (s rowStore) Remove(ctx context.Context, key []byte, cells []Cell) error {
	b := hbase.NewBatch(s.table)
	b.Mutate(key)
	for i := range cells {
		family := familyOf(cells[i].Column)
		b.Delete(hbase.DeleteColumn, family, cells[i].Column[len(family)+1:], cells[i].Version)
	}
	failures, err := s.client.Submit(ctx, b).Wait(ctx)
	if err == nil && len(failures) > 0 {
		e := &failures[0]
		err = &hbase.Error{Op: "delete", Table: s.table, Server: e.Server, Class: e.Class, Attempts: e.Attempts, Err: e.Err}
	}
	return err
}
