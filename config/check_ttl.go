package config

import (
	"slices"
	"time"

	"brine/internal/when"
	"brine/sink"
)

// checkRowTTL checks how long an entry's cells are kept.
func (l *loader) checkRowTTL(p *Pipeline, r *Rows, t *Table) {
	at := r.setting + ".ttl"
	if r.TTL == "" {
		return
	}
	if what, fix := p.untimed(); what != "" {
		l.fault(at, RowTTL, "it is counted from the version, and "+what, fix+", or remove the ttl")
	}
	if policy := sink.NullPolicy(r.Nulls); policy == sink.NullsReplace || policy == sink.NullsDelete {
		l.fault(at, RowTTL, "it would end the delete markers of nulls: "+r.Nulls+" too, and older cells would show again", "set the family's ttl, or write nulls: merge")
	}
	d, fixed := r.ttlFor()
	if !fixed {
		l.checkUntil(p, r.TTL, at)
		return
	}
	if _, err := when.Duration(r.TTL); err != nil || d < time.Millisecond {
		l.fault(at, RowTTL, quote(r.TTL)+" is neither a time nor a field", "write ttl: 30d, or a field that is a time")
		return
	}
	for _, column := range r.columnNames() {
		if t == nil {
			break
		}
		if i := slices.IndexFunc(t.Families, func(f Family) bool { return f.Name == familyOf(column) }); i >= 0 && t.Families[i].TTL > 0 && t.Families[i].TTL <= d {
			l.warn(at, Unused, "does nothing in family "+t.Families[i].Name+", whose own ttl is "+DurationText(t.Families[i].TTL), "write a shorter one, or a longer one there")
			break
		}
	}
}

// checkUntil checks a field that says until when cells are kept.
func (l *loader) checkUntil(p *Pipeline, name, setting string) {
	f := p.field(name)
	switch {
	case f == nil:
		l.noField(p, setting, name)
	case f.eventType() != 0 && !f.eventType().IsTime():
		l.fault(setting, RowTTL, "field "+f.Name+" is declared "+f.Type, "take a field that says until when: a time_ms, time_s or time")
	}
}
