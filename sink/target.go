package sink

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// target is one table that events become rows of.
type target struct {
	table    Table
	entity   bool // Table.Row is RowEntity
	nulls    NullPolicy
	families []*family
	columns  []column
	salt     rowkey.Salt
	seen     *memory
}

// family is a column family that the target writes to. A set of families is a bit each, in order of appearance.
type family struct {
	name    []byte
	ttl     time.Duration // 0: for ever
	written atomic.Int64  // ms since 1970 at which a mutation with cells in it was last known to be durable
}

type column struct {
	family    int // in target.families
	qualifier []byte
	field     int           // in the schema; -1 with a pack
	pack      *event.Packer // of the fields that share the cell; nil for one field
}

const (
	maxFamilies    = 64  // as many as a set holds; HBase's own advice is two or three
	maxFamilyBytes = 127 // as a cell's layout allows
)

func (s *Sink) addTargets() error {
	if err := s.opts.Schema.Validate(); err != nil {
		return err
	}
	if len(s.opts.Rows) == 0 {
		return fmt.Errorf("no rows are declared; add a table to rows")
	}
	for _, rows := range s.opts.Rows {
		t, err := newTarget(rows, s.opts.Schema)
		if err != nil {
			return fmt.Errorf("table %s: %w", rows.Table.Name, err)
		}
		s.targets = append(s.targets, t)
	}
	return nil
}

func newTarget(rows Rows, schema event.Schema) (*target, error) {
	t := &target{table: rows.Table, entity: rows.Table.Row == RowEntity, nulls: cmp.Or(rows.Nulls, NullsMerge), seen: newMemory()}
	switch {
	case rows.Table.Name == "":
		return nil, fmt.Errorf("it has no name")
	case rows.Table.Key == nil:
		return nil, fmt.Errorf("it has no key")
	case rows.Table.Row != RowEvent && rows.Table.Row != RowEntity:
		return nil, fmt.Errorf("row is %q; write %q or %q", rows.Table.Row, RowEvent, RowEntity)
	case t.nulls != NullsMerge && t.nulls != NullsReplace && t.nulls != NullsDelete:
		return nil, fmt.Errorf("nulls is %q; write %q, %q or %q", t.nulls, NullsMerge, NullsReplace, NullsDelete)
	case len(rows.Columns) == 0:
		return nil, fmt.Errorf("no column is set; add one to set")
	}
	if _, err := eventkey.New(rows.Table.Key, schema); err != nil {
		return nil, err
	}
	written := map[string]bool{}
	for _, c := range rows.Columns {
		name := c.Family + ":" + c.Qualifier
		column, err := newColumn(c, schema)
		switch {
		case err != nil:
			return nil, fmt.Errorf("column %s: %w", name, err)
		case c.Family == "" || len(c.Family) > maxFamilyBytes:
			return nil, fmt.Errorf("column %s: a family has 1 to %d bytes; write family:qualifier", name, maxFamilyBytes)
		case c.Qualifier == "":
			return nil, fmt.Errorf("column %s has no qualifier, which is kept for rows without cells; write family:qualifier", name)
		case written[name]:
			return nil, fmt.Errorf("column %s is set twice; remove one", name)
		}
		written[name] = true
		column.family = t.family(c.Family)
		t.columns = append(t.columns, column)
	}
	t.salt = rows.Table.Key.Salt()
	if len(t.families) > maxFamilies {
		return nil, fmt.Errorf("%d families are written; at most %d can be", len(t.families), maxFamilies)
	}
	return t, nil
}

// newColumn finds what fills a column.
func newColumn(c Column, schema event.Schema) (column, error) {
	out := column{qualifier: []byte(c.Qualifier), field: -1}
	var err error
	switch {
	case c.Pack == nil:
		if out.field = slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == c.Field }); out.field < 0 {
			err = fmt.Errorf("field %q is not declared; add it to fields", c.Field)
		}
	case c.Field != "":
		err = fmt.Errorf("it is set from field %s and from a pack; keep one", c.Field)
	default:
		out.pack, err = event.NewPacker(c.Pack, schema)
	}
	return out, err
}

// family finds or adds a family.
func (t *target) family(name string) int {
	if i := slices.IndexFunc(t.families, func(f *family) bool { return string(f.name) == name }); i >= 0 {
		return i
	}
	t.families = append(t.families, &family{name: []byte(name), ttl: t.table.TTL[name]})
	return len(t.families) - 1
}
