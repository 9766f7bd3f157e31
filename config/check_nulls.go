package config

import (
	"fmt"
	"strings"

	"brine/sink"
)

// checkNulls checks rows whose null fields write delete markers.
func (l *loader) checkNulls(c *Config, p *Pipeline, r *Rows, setting string) {
	policy, t := sink.NullPolicy(r.Nulls), c.Table(r.Table)
	if policy != sink.NullsReplace && policy != sink.NullsDelete || t == nil {
		return
	}
	if t.Row == rowEvent {
		l.warn(setting, Unused, "does nothing to "+t.Name+", whose rows are events and so are written once", "remove it")
	}
	if p.Changes == changesPartial {
		l.fault(setting, PartialNulls, "a field that a change does not carry would be taken for null, and its column be deleted",
			"write changes: whole if each record carries every field, or nulls: merge")
	}
	if what, fix := p.untimed(); what != "" {
		l.fault(setting, VersionType, "it writes delete markers, which HBase keeps by their time, and "+what, fix+", or write nulls: merge")
	}
	if policy == sink.NullsDelete {
		l.checkNoMembers(r)
	}
	for _, other := range writers(c, t.Name) {
		if shared := sharedFamily(r, other); other.pipeline != p && shared != "" && policy == sink.NullsReplace { // one pipeline's are of one version
			l.fault(setting, SharedFamily, fmt.Sprintf("pipeline %s writes family %s of %s too, and its cells would vanish with each row that this one replaces", other.pipeline.Name, shared, t.Name),
				"give each pipeline a family of its own, or write nulls: delete")
		}
	}
}

// sharedFamily names a family that both rows write; empty if there is none.
func sharedFamily(a, b *Rows) string {
	has := map[string]bool{}
	for _, name := range a.columnNames() {
		has[familyOf(name)] = true
	}
	for _, name := range b.columnNames() {
		if has[familyOf(name)] {
			return familyOf(name)
		}
	}
	return ""
}

func (r *Rows) columnNames() []string {
	var out []string
	for _, c := range r.Set {
		out = append(out, c.Name)
	}
	for _, c := range r.Pack {
		out = append(out, c.Name)
	}
	if r.Empty != "" {
		out = append(out, r.Empty+":")
	}
	return out
}

// checkNoMembers: which columns an event could have had is not known, so none of them can be deleted.
func (l *loader) checkNoMembers(r *Rows) {
	for _, column := range r.Set {
		if _, ok := column.members(); ok {
			l.faultName(join(r.setting+".set", column.Name), MembersNulls, "nulls: delete cannot tell which columns an event has no member for",
				"write nulls: replace, or nulls: merge")
		}
	}
}

func familyOf(column string) string {
	family, _, _ := strings.Cut(column, ":")
	return family
}
