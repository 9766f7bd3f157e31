package sink

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"brine/event"
	"brine/rowkey"
)

// target describes the rows of one entry: what events become in one table.
type target struct {
	table    Table
	entity   bool // Table.Row is RowEntity
	nulls    NullPolicy
	keys     []keying // by table.Keys
	families []*family
	columns  []column
	ttl      ttl
	salt     rowkey.Salt // which all keys begin with
	when     int         // the condition, in the schema; -1: none
	hides    bool        // an event for which the condition does not hold deletes its row
	removal
	*shared
}

// shared is what all entries of one table have in common.
type shared struct {
	seen   *memory   // of writes by all entries
	places []*family // the families of all entries; a set of families has one bit for each, in this order
	masked bool      // the key of an entry is made of a masked field, so that failures must not name rows
}

// family is a column family that the entry writes to.
type family struct {
	name    []byte
	bit     int           // in shared.places
	ttl     time.Duration // 0: forever
	written atomic.Int64  // when a mutation with cells in it was last known to be durable, in ms since 1970
}

type column struct {
	family    int // in target.families
	qualifier []byte
	id        uint64        // hash of family and qualifier, as memory.column returns it
	field     int           // in the schema; -1 for a pack, and for members of the record itself
	pack      *event.Packer // of the fields that share the cell; nil for one field
	members   *memberColumns
	null      []byte // NullsStore: the cell of a null; nil: it is never null
}

const (
	maxFamilies    = 64  // the size of a set; HBase recommends two or three
	maxFamilyBytes = 127 // limited by the layout of a cell
)

func (s *Sink) addTargets() error {
	tables := map[string]*shared{}
	for _, rows := range s.opts.Rows {
		if tables[rows.Table.Name] == nil {
			tables[rows.Table.Name] = &shared{seen: newMemory(s.opts.Hooks.remembers())}
		}
		t, err := newTarget(rows, s.opts.Schema, tables[rows.Table.Name])
		if err != nil {
			return fmt.Errorf("table %s: %w", rows.Table.Name, err)
		}
		s.targets = append(s.targets, t)
	}
	return nil
}

func newTarget(rows Rows, schema event.Schema, with *shared) (*target, error) {
	t := &target{table: rows.Table, entity: rows.Table.Row == RowEntity, nulls: cmp.Or(rows.Nulls, NullsMerge), shared: with}
	switch {
	case rows.Table.Name == "":
		return nil, fmt.Errorf("it has no name")
	case rows.Table.Row != RowEvent && rows.Table.Row != RowEntity:
		return nil, fmt.Errorf("row is %q; write %q or %q", rows.Table.Row, RowEvent, RowEntity)
	case t.nulls != NullsMerge && t.nulls != NullsStore && !t.nulls.Deletes():
		return nil, fmt.Errorf("nulls is %q; write %q, %q, %q or %q", t.nulls, NullsMerge, NullsStore, NullsReplace, NullsDelete)
	case len(rows.Columns) == 0 && rows.Empty == "":
		return nil, fmt.Errorf("no column is set; add one to set")
	case len(rows.Columns) > 0 && rows.Empty != "":
		return nil, fmt.Errorf("empty names family %s, but there are columns; keep one of the two", rows.Empty)
	}
	err := t.addKeys(rows, schema)
	if err != nil {
		return nil, err
	}
	if t.ttl, err = newTTL(rows, schema, t.nulls); err != nil {
		return nil, err
	}
	if schema.Untimed() != "" && len(rows.Table.TTL) > 0 {
		return nil, fmt.Errorf("%s are not timestamps, so a family's ttl would mean something else; remove it", schema.Untimed())
	}
	if rows.Empty != "" {
		t.family(rows.Empty)
	}
	if err := t.addColumns(rows.Columns, schema); err != nil {
		return nil, err
	}
	if t.removal, err = t.newRemoval(rows.Deletes, schema); err != nil {
		return nil, err
	}
	if err := t.addCondition(rows, schema); err != nil {
		return nil, err
	}
	if len(t.places) > maxFamilies {
		return nil, fmt.Errorf("%d families are written; the limit is %d", len(t.places), maxFamilies)
	}
	return t, nil
}

func (t *target) addColumns(columns []Column, schema event.Schema) error {
	written := map[string]bool{}
	for _, c := range columns {
		name := c.Family + ":" + c.Qualifier
		if c.Members != nil {
			name += "*"
		}
		column, err := newColumn(c, schema)
		switch {
		case err != nil:
			return fmt.Errorf("column %s: %w", name, err)
		case c.Family == "" || len(c.Family) > maxFamilyBytes:
			return fmt.Errorf("column %s: a family has 1 to %d bytes; write family:qualifier", name, maxFamilyBytes)
		case c.Qualifier == "" && c.Members == nil:
			return fmt.Errorf("column %s has no qualifier, which is reserved for rows without cells; write family:qualifier", name)
		case c.Members != nil && (t.nulls == NullsDelete || t.nulls == NullsStore):
			return fmt.Errorf("column %s: it is unknown which columns a null would be in; use nulls %s or %s", name, NullsMerge, NullsReplace)
		case written[name]:
			return fmt.Errorf("column %s is set twice; remove one", name)
		}
		written[name] = true
		if t.nulls == NullsStore && t.entity { // the rows of events are written once
			if column.null, err = nullOf(&column, schema); err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
		}
		column.family = t.family(c.Family)
		column.id = t.seen.column(c.Family, column.qualifier)
		t.columns = append(t.columns, column)
	}
	return nil
}

// nullOf returns the cell that says that the field of a column, or all fields of its pack, are null. It is nil for a field that never is.
func nullOf(c *column, schema event.Schema) ([]byte, error) {
	if c.pack != nil {
		return []byte{}, nil
	}
	f := &schema.Fields[c.field]
	cell, ok := event.NullCell(f.Type)
	switch {
	case ok:
		return cell, nil
	case !f.Default.Null() || !f.Const.Null():
		return nil, nil
	}
	return nil, fmt.Errorf("field %s is declared %s, whose empty value would look like a null; pack it, or use nulls %s", f.Name, f.Type,
		NullsMerge)
}

// newColumn resolves the source of a column.
func newColumn(c Column, schema event.Schema) (column, error) {
	out := column{qualifier: []byte(c.Qualifier), field: -1}
	var err error
	switch {
	case c.Pack != nil && (c.Field != "" || c.Members != nil):
		err = fmt.Errorf("it is set both from field %s and from a pack; keep one", c.Field)
	case c.Pack != nil:
		out.pack, err = event.NewPacker(c.Pack, schema)
	case c.Field == "" && c.Members != nil:
		out.members, err = newMembers(c.Members, schema.Fields)
	default:
		if out.field = slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == c.Field }); out.field < 0 {
			return out, fmt.Errorf("field %q is not declared; add it to fields", c.Field)
		}
		if f := schema.Fields[out.field]; c.Members != nil && f.Type != event.Nested {
			return out, fmt.Errorf("field %s is declared %s, which has no members; declare it json", f.Name, f.Type)
		} else if c.Members != nil {
			out.members, err = newMembers(c.Members, nil)
		}
	}
	return out, err
}

// family returns the index of a family, which it adds if it is missing.
func (t *target) family(name string) int {
	is := func(f *family) bool { return string(f.name) == name }
	if i := slices.IndexFunc(t.families, is); i >= 0 {
		return i
	}
	i := slices.IndexFunc(t.places, is)
	if i < 0 {
		i = len(t.places)
		t.places = append(t.places, &family{name: []byte(name), bit: i, ttl: t.table.TTL[name]})
	}
	t.families = append(t.families, t.places[i])
	return len(t.families) - 1
}
