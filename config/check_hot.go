package config

import (
	"strconv"

	"brine/event"
)

// checkHotFields checks the fields whose values are counted.
func (l *loader) checkHotFields(p *Pipeline, setting string) {
	for i, name := range p.HotFields {
		at := setting + "[" + strconv.Itoa(i) + "]"
		switch f := p.field(name); {
		case f == nil:
			l.noField(p, at, name)
		case f.eventType() != event.Text:
			l.fault(at, FieldTypes, "field "+name+" is declared "+f.Type, "name fields that are declared text: the values of others are not counted")
		}
	}
}
