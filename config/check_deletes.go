package config

import (
	"cmp"
	"slices"
	"strings"

	"brine/event"
)

// deleted is the field that says that an event of the entry is a delete; empty if none does.
func (r *Rows) deleted() string { return cmp.Or(r.Deleted, r.pipeline.Images.Deleted) }

func (d *Documents) deleted(p *Pipeline) string { return cmp.Or(d.Deleted, p.Images.Deleted) }

// checkImages checks where the values before and after a change are.
func (l *loader) checkImages(p *Pipeline, setting string) {
	i := &p.Images
	if !l.has(setting) || len(i.Before) == 0 {
		return
	}
	if p.Changes == changesPartial {
		l.fault(setting, ImagesCode, "a change that moves a row carries all of it, and the pipeline has changes: partial", "write changes: whole if each after-image has every field, or remove images")
	}
	found := false
	for n := range p.Fields {
		f := &p.Fields[n]
		if f.Name == i.Deleted {
			continue
		}
		if slices.Equal(f.path(), i.Before) || inside(f.path(), i.Before) {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), ImagesCode, "lies within the before-image, which is read for every field of the after-image", "remove it, or give it a path below the after-image")
		}
		found = found || inside(f.path(), i.After)
	}
	if !found {
		l.fault(setting+".after", ImagesCode, "no field lies below "+strings.Join(i.After, "."), "give fields their paths: { type: text, path: "+strings.Join(i.After, ".")+".name }")
	}
	if i.Deleted == "" {
		return
	}
	if l.checkDeletedField(p, i.Deleted, setting+".deleted"); len(i.After) == 0 {
		l.fault(setting+".deleted", ImagesCode, "every record is an after-image, so none is a delete", "say where after-images are, or remove it")
	}
}

func (l *loader) checkDeletedField(p *Pipeline, name, setting string) {
	if f := p.field(name); f == nil {
		l.noField(p, setting, name)
	} else if f.eventType() != event.Bool && f.eventType() != 0 {
		l.fault(setting, FieldTypes, "field "+f.Name+" is "+f.Type, "only a bool can say that an event is a delete")
	}
}

// checkDeletes checks what becomes of rows that are deleted or left behind.
func (l *loader) checkDeletes(p *Pipeline, r *Rows, t *Table) {
	if r.Deleted != "" {
		l.checkDeletedField(p, r.Deleted, r.setting+".deleted")
	}
	moves := len(p.Images.Before) > 0 && t != nil && t.Row == rowEntity
	fills := func(c Column) bool { return c.Field == r.deleted() }
	switch marked := r.deleted() != "" && slices.ContainsFunc(r.Set, fills); {
	case r.HardDeletes:
		l.checkHardDeletes(p, r, t, moves)
	case moves && !marked:
		l.fault(r.setting, ImagesCode, "a change can leave such a row behind, or delete it, and no column would mark it",
			"set a column from a bool field that says what is deleted: \"f:gone\": gone, with images: { …, deleted: gone }; or write hard_deletes: true")
	case r.Deleted != "" && !marked && !r.packs(r.Deleted):
		l.fault(r.setting+".deleted", ImagesCode, "no column holds field "+r.Deleted+", so nobody could tell that a row is deleted", "set a column from it")
	}
}

// packs reports whether a packed column of the entry holds the field.
func (r *Rows) packs(field string) bool {
	return slices.ContainsFunc(r.Pack, func(c PackedColumn) bool {
		return slices.ContainsFunc(r.pipeline.packedFields(&c), func(f PackedField) bool { return f.Field == field })
	})
}

func (l *loader) checkHardDeletes(p *Pipeline, r *Rows, t *Table, moves bool) {
	at := r.setting + ".hard_deletes"
	what, fix := p.untimed()
	late, bound := p.unbounded()
	switch {
	case t == nil: // reported by itself
		return
	case t.Row == rowEvent:
		l.fault(at, HardDeletes, "rows of "+t.Name+" are events, of which each stays", "write row: entity in the table, or remove it")
	case what != "":
		l.fault(at, HardDeletes, "HBase keeps delete markers by their time, and "+what, fix+", or mark rows: hard_deletes: false")
	case r.TTL != "":
		l.fault(r.setting+".ttl", RowTTL, "it would end the delete markers of hard_deletes too, and deleted rows would show again", "set the family's ttl, or mark rows: hard_deletes: false")
	case late != "":
		l.fault(at, HardDeletes, late, bound+", or mark rows: hard_deletes: false")
	case r.deleted() == "" && !moves:
		l.warn(at, Unused, "does nothing, since no field says that an event is a delete", "name a bool field: deleted: gone")
	}
	var told []string
	for _, column := range r.columnNames() {
		f := t.family(familyOf(column))
		if f == nil || f.PurgeDeletesAfter > 0 || slices.Contains(told, f.Name) {
			continue
		}
		told = append(told, f.Name)
		l.faultName(join(join("tables", t.Name)+".families", f.Name), HardDeletes, "it may drop delete markers at its next major compaction, and an older change that comes late or in a replay would then show a deleted row again",
			"write purge_deletes_after: 16d there, no less than changes of topic "+p.Topic+" can be read after their versions")
	}
}

// family finds a family of the table; nil if there is none.
func (t *Table) family(name string) *Family {
	if i := slices.IndexFunc(t.Families, func(f Family) bool { return f.Name == name }); i >= 0 {
		return &t.Families[i]
	}
	return nil
}
