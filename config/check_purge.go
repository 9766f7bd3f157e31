package config

import (
	"fmt"
)

// checkPurge checks whether documents of the index may be removed by how old their delete is.
func (l *loader) checkPurge(c *Config, x *Index) {
	if x.PurgeDeletesAfter == 0 {
		return
	}
	at, deletes := join("indexes", x.Name)+".purge_deletes_after", false
	for _, p := range c.Pipelines {
		for i := range p.Documents {
			d := &p.Documents[i]
			if d.Index != x.Name {
				continue
			}
			deletes = deletes || d.deleted(p) != "" || d.fills(deletedField)
			const orMark = ", or remove it, so that deleted documents stay, marked"
			if what, fix := p.untimed(); what != "" {
				l.fault(at, HardDeletes, fmt.Sprintf("the age of a delete is counted from its version, and of pipeline %s %s", p.Name, what), fix+orMark)
			} else if what, fix := p.unbounded(); what != "" {
				l.fault(at, HardDeletes, what, fix+orMark)
			}
		}
	}
	if !deletes {
		l.warn(at, Unused, "does nothing, since no pipeline deletes documents of the index", "name a bool field in its documents: deleted: gone")
	}
}

// fills reports whether the entry fills a field of the document.
func (d *Documents) fills(name string) bool {
	for i := range d.Set {
		if d.Set[i].Name == name {
			return true
		}
	}
	return false
}
