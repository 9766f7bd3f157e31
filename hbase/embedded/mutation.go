package embedded

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// mutation is a decoded change of one row. Its cells are views into the request.
type mutation struct {
	row   []byte
	kind  hbasepb.MutationProto_MutationType
	cells []wire.Cell
	ttl   int64 // store.NoTTL: none of its own
	proto *hbasepb.MutationProto
}

// mutation decodes a mutation, taking its cells from the cell block or from the message. It always takes all of its
// cells, so that the next one finds its own; what is wrong with one of them is the error.
func (k *call) mutation(p *hbasepb.MutationProto, cells []wire.Cell) (m mutation, err error) {
	m = mutation{row: p.GetRow(), kind: p.GetMutateType(), ttl: store.NoTTL, proto: p, cells: cells[len(cells):]}
	for _, a := range p.Attribute {
		if a.GetName() == "_ttl" {
			defer func() { err = cmp.Or(err, m.setTTL(a.Value)) }()
		}
	}
	if p.AssociatedCellCount != nil {
		for range p.GetAssociatedCellCount() {
			c, err := k.cell()
			if err != nil {
				return m, err
			}
			m.cells = append(m.cells, c)
		}
		if len(m.row) == 0 && len(m.cells) > 0 {
			m.row = m.cells[0].Row
		}
	}
	for _, f := range p.ColumnValue {
		for _, q := range f.QualifierValue {
			if len(q.GetTags()) > 0 {
				return m, unsupported("cell tags")
			}
			m.cells = append(m.cells, protoCell(p, f.GetFamily(), q))
		}
	}
	return m, nil
}

// setTTL takes the TTL of a mutation: a long.
func (m *mutation) setTTL(value []byte) error {
	switch {
	case m.kind == hbasepb.MutationProto_INCREMENT, m.kind == hbasepb.MutationProto_APPEND:
		return unsupported("a time to live of an increment or an append: set the column family's TTL")
	case len(value) != 8:
		return final(classIllegalArgument, "a time to live of %d bytes", len(value))
	}
	m.ttl = int64(binary.BigEndian.Uint64(value))
	return nil
}

// skip takes the cells of a mutation that is not applied.
func (k *call) skip(p *hbasepb.MutationProto) {
	for range p.GetAssociatedCellCount() {
		if _, err := k.cell(); err != nil {
			return // the mutations behind it find nothing either, and say so
		}
	}
}

func protoCell(p *hbasepb.MutationProto, family []byte, q *hbasepb.MutationProto_ColumnValue_QualifierValue) wire.Cell {
	c := wire.Cell{Row: p.GetRow(), Family: family, Qualifier: q.GetQualifier(), Value: q.GetValue(),
		Timestamp: store.LatestTimestamp, Type: byte(store.Put)}
	switch {
	case q.Timestamp != nil:
		c.Timestamp = int64(q.GetTimestamp())
	case p.Timestamp != nil:
		c.Timestamp = int64(p.GetTimestamp())
	}
	if p.GetMutateType() == hbasepb.MutationProto_DELETE || q.DeleteType != nil {
		switch q.GetDeleteType() {
		case hbasepb.MutationProto_DELETE_ONE_VERSION:
			c.Type = byte(store.Delete)
		case hbasepb.MutationProto_DELETE_MULTIPLE_VERSIONS:
			c.Type = byte(store.DeleteColumn)
		case hbasepb.MutationProto_DELETE_FAMILY:
			c.Type = byte(store.DeleteFamily)
		case hbasepb.MutationProto_DELETE_FAMILY_VERSION:
			c.Type = byte(store.DeleteFamilyVersion)
		}
	}
	return c
}

// checkSizes returns the exception for a cell that is too large. As in HBase it is an exception of all mutations that are
// applied together with this one.
func (m *mutation) checkSizes(limit int) error {
	for i := range m.cells {
		c := &m.cells[i]
		if size := wire.CellSize(len(c.Row), len(c.Family), len(c.Qualifier), len(c.Value)); size > limit {
			return final(classDoNotRetry, "Cell[%q/%s:%q/%d] with size %d exceeds limit of %d bytes", c.Row, c.Family, c.Qualifier,
				c.Timestamp, size, limit)
		}
	}
	return nil
}

// check returns the exception that befalls this mutation alone.
func (m *mutation) check(r *region) error {
	if len(m.row) > wire.MaxRowLen {
		return final(classIllegalArgument, "Row length %d is > %d", len(m.row), wire.MaxRowLen)
	}
	if err := r.check(m.row, "batchMutate"); err != nil {
		return err
	}
	families := r.schema()
	for i := range m.cells {
		c := &m.cells[i]
		switch t := store.Type(c.Type); {
		case !bytes.Equal(c.Row, m.row):
			return final(hbasePackage+"client.WrongRowIOException", "The row in %q doesn't match the original one %q", c.Row, m.row)
		case !t.Valid():
			return final(classDoNotRetry, "cell type %d", c.Type)
		case m.kind == hbasepb.MutationProto_DELETE && !t.IsDelete():
			return final(classDoNotRetry, "a delete of row %q holds a put", m.row)
		case families.Find(c.Family) == nil:
			return final(classNoFamily, "Column family %s does not exist in region %s in table %s", c.Family, r.name, r.table.name)
		}
	}
	return nil
}

// readsFirst reports whether the mutation needs to read what is there: then nobody may write between.
func (m *mutation) readsFirst() bool {
	if m.kind == hbasepb.MutationProto_INCREMENT || m.kind == hbasepb.MutationProto_APPEND {
		return true
	}
	for i := range m.cells {
		if c := &m.cells[i]; store.Type(c.Type) == store.Delete && c.Timestamp == store.LatestTimestamp {
			return true
		}
	}
	return false
}
