package config

import (
	"fmt"
	"regexp"
	"strings"

	"brine/event"
)

var sequences = regexp.MustCompile(`^seq\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *\)$`)

// versionFields are the fields of version: at, or seq(at, n). Empty means that there is none.
func (p *Pipeline) versionFields() (at, n string) {
	if m := sequences.FindStringSubmatch(p.Version); m != nil {
		return m[1], m[2]
	}
	return p.Version, ""
}

// VersionKind says what versions count.
type VersionKind int

// The kinds of version.
const (
	Milliseconds VersionKind = iota // since 1970
	Sequence                        // a thousand a millisecond: seq(at, n)
	Number                          // a whole number that is no time
)

// Versions are those of the table's cells: all pipelines that write it agree.
func (c *Config) Versions(t *Table) VersionKind {
	for _, r := range writers(c, t.Name) {
		at, n := r.pipeline.versionFields()
		switch f := r.pipeline.field(at); {
		case n != "":
			return Sequence
		case f != nil && f.eventType() == event.Int:
			return Number
		}
	}
	return Milliseconds
}

// untimed words why the pipeline's versions are no milliseconds since 1970, and the fix; empty if they are.
func (p *Pipeline) untimed() (what, fix string) {
	at, n := p.versionFields()
	switch f := p.field(at); {
	case n != "":
		return "versions " + p.Version + " are no times", "write version: " + at + " if no two changes of a row are of one millisecond"
	case f != nil && f.eventType() == event.Int:
		return "field " + f.Name + ", the version, is no time", "declare it as time_ms if it is one"
	}
	return "", ""
}

// unbounded words why older changes than a delete may come however late, and the fix; empty if they may not.
func (p *Pipeline) unbounded() (what, fix string) {
	if p.Version == "" || p.AllowedLateness > 0 {
		return "", ""
	}
	return "nothing says how late changes of pipeline " + p.Name + " may come, and one that comes after the delete is forgotten would undo it",
		"write allowed_lateness: 1d in the pipeline, so that later ones become dead letters"
}

func (l *loader) checkLateness(p *Pipeline, setting string) {
	if p.AllowedLateness == 0 {
		return
	}
	setting += ".allowed_lateness"
	if what, fix := p.untimed(); what != "" {
		l.fault(setting, VersionType, "how late an event is can be told of times only, and "+what, fix+", or remove it")
	}
	if p.Version == "" {
		l.warn(setting, Unused, "does nothing, since the version is the time of the Kafka record, which is never behind itself", "remove it")
	}
}

func (l *loader) checkVersion(p *Pipeline, setting string) {
	if p.Version == "" {
		return
	}
	setting += ".version"
	at, n := p.versionFields()
	f := p.field(at)
	switch {
	case strings.HasPrefix(p.Version, "seq") && n == "":
		l.fault(setting, VersionType, quote(p.Version)+" is no version of two fields", "write version: seq(at, n), where at is a time and n counts within its millisecond, 0 to 999")
	case f == nil:
		l.noField(p, setting, at)
	case f.eventType() != 0 && f.eventType() != event.Int && !f.eventType().IsTime():
		l.fault(setting, VersionType, "field "+f.Name+" is declared "+f.Type, "a version is a time or a whole number that only grows")
	case n != "" && f.eventType() == event.Int:
		l.fault(setting, VersionType, "field "+f.Name+" is declared int, and "+n+" counts within a time", "declare it as a time, or write version: "+at)
	case n != "":
		l.checkSequence(p, n, setting)
	}
}

func (l *loader) checkSequence(p *Pipeline, n, setting string) {
	switch f := p.field(n); {
	case f == nil:
		l.noField(p, setting, n)
	case f.eventType() != event.Int && f.eventType() != 0:
		l.fault(setting, VersionType, "field "+f.Name+" is declared "+f.Type+", and counts nothing", "take an int that the source counts up within a millisecond")
	}
}

// checkVersionOf checks what a pipeline's versions mean to a table.
func (l *loader) checkVersionOf(p *Pipeline, t *Table) {
	at, n := p.versionFields()
	if f := p.field(at); t.Row == rowEntity && f != nil && f.unit() != "" && n == "" {
		l.warn(join("pipelines", p.Name)+".version", VersionTies, "two changes of one "+f.unit()+" have the same version, and the one applied last wins", "use a time in milliseconds if the source has one")
	}
	what, fix := p.untimed()
	for i := range t.Families {
		if f := &t.Families[i]; f.TTL > 0 && what != "" {
			l.fault(join(join("tables", t.Name)+".families", f.Name)+".ttl", VersionTTL,
				fmt.Sprintf("pipeline %s writes cells that would vanish at once or never, since %s", p.Name, what), fix+", or remove the ttl")
		}
	}
	for _, r := range writers(p.config, t.Name) {
		if _, other := r.pipeline.versionFields(); r.pipeline != p && n != "" && other == "" && !strings.HasPrefix(r.pipeline.Version, "seq") {
			l.fault(join("pipelines", p.Name)+".version", VersionType, fmt.Sprintf("its versions are 1000 times those of pipeline %s, which writes %s too, so the other's changes would never win", r.pipeline.Name, t.Name),
				"write versions of one kind in both, or give each a table")
		}
	}
}
