package config

import (
	"reflect"
	"slices"

	"brine/event"
)

var rowsDefinitions, _ = definitionsOf(reflect.TypeFor[Rows]())

// checkPack checks a column that holds many fields.
func (l *loader) checkPack(c *Config, p *Pipeline, r *Rows, column *PackedColumn, setting string) {
	l.checkColumnName(c.Table(r.Table), column.Name, setting)
	if p.Changes == changesPartial {
		l.faultName(setting, PartialPack, "one cell holds all its fields, so a change that carries only some of them would drop the others",
			"write changes: whole if each record carries every field, or give each field a column under set")
	}
	if r.sets(column.Name) {
		l.faultName(setting, Duplicate, "is set by itself too, under set", "keep one of the two")
	}
	for _, f := range column.Fields {
		if f.Field != "" && p.field(f.Field) == nil {
			l.noField(p, join(setting+".fields", f.Name), f.Field)
		}
	}
	for _, other := range writers(c, r.Table) {
		if other == r {
			return // those behind it look at this one
		}
		its := other.packed(column.Name)
		if other.sets(column.Name) || its != nil && !sameCells(p.pack(column), other.pipeline.pack(its)) {
			l.faultName(setting, PackDiffers, other.name(p)+" writes other things into this cell of "+r.Table+", so each would drop what the other wrote",
				"pack the same fields under the same names in both, or take another column")
		}
	}
}

// sameCells reports whether readers find the same in the cells of two packs.
func sameCells(a, b *event.Pack) bool {
	missing := func(f event.PackedField) bool { return !slices.Contains(b.Fields, f) }
	return a.Packing == b.Packing && len(a.Fields) == len(b.Fields) && !slices.ContainsFunc(a.Fields, missing)
}

// sets reports whether the row has the column by itself.
func (r *Rows) sets(column string) bool {
	return slices.ContainsFunc(r.Set, func(c Column) bool { return c.Name == column })
}

// packed finds a column that holds many fields; nil if there is none.
func (r *Rows) packed(column string) *PackedColumn {
	if i := slices.IndexFunc(r.Pack, func(c PackedColumn) bool { return c.Name == column }); i >= 0 {
		return &r.Pack[i]
	}
	return nil
}

// packedFields are the fields of a packed column: those that it names, else all of the pipeline.
func (p *Pipeline) packedFields(column *PackedColumn) []PackedField {
	if len(column.Fields) > 0 {
		return column.Fields
	}
	out := make([]PackedField, len(p.Fields))
	for i := range p.Fields {
		out[i] = PackedField{Name: p.Fields[i].Name, Field: p.Fields[i].Name}
	}
	return out
}

// pack describes a packed column as the sink and queries need it. A field that is not declared has no type, and is reported by itself.
func (p *Pipeline) pack(column *PackedColumn) *event.Pack {
	out := &event.Pack{Packing: event.Packing(column.Format)}
	for _, f := range p.packedFields(column) {
		packed := event.PackedField{Name: f.Name, Field: f.Field}
		if declared := p.field(f.Field); declared != nil {
			packed.Type = declared.eventType()
		}
		out.Fields = append(out.Fields, packed)
	}
	return out
}
