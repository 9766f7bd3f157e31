package rowkey

import (
	"fmt"
	"slices"
	"strings"
)

// lintNotUnique finds keys in which only a time distinguishes two events. What distinguishes them is held after the time (a message's id);
// fields before it are often common to the events.
func (k *Key) lintNotUnique(o LintOptions) []Finding {
	if !o.EventRows {
		return nil
	}
	var before, after []string
	var at, finest *number
	offset := 0
	for _, s := range k.slots {
		n, isNumber := s.part.(*number)
		switch {
		case !s.holds:
		case isNumber && n.unit != nil:
			at, offset = n, s.offset
			if finest == nil || n.unit.div < finest.unit.div {
				finest = n
			}
		case at == nil:
			before = append(before, joinNames(s.reads()))
		default:
			after = append(after, joinNames(s.reads()))
		}
	}
	if len(after) > 0 {
		return k.lintCoarse(finest, append(before, after...))
	}
	if at == nil {
		return []Finding{{"not-unique", Advice, 0,
			fmt.Sprintf("two events of one %s share a row, unless that is a number of the event itself", strings.Join(before, ", ")),
			"add their time, such as + " + k.proposal(Time) + ", or say row: entity"}}
	}
	f := Finding{"not-unique", Warning, offset,
		fmt.Sprintf("two events of one %s in the same %s share a row, and one is lost", strings.Join(before, ", "), at.unit.one()),
		"add what differs between them: + " + k.proposal(Text)}
	if fine, ok := at.inMilliseconds(); ok {
		f.Fix = "write " + fine + ", and " + f.Fix
	}
	if len(before) == 0 {
		f.Msg = fmt.Sprintf("two events in the same %s share a row, and one is lost", at.unit.one())
	}
	if len(before) > 1 {
		f.Severity = Advice
	}
	return []Finding{f}
}

// lintCoarse finds keys in which a coarse time has to distinguish events. What follows a time distinguishes events that seldom coincide,
// but within one second or hour they often do.
func (k *Key) lintCoarse(at *number, others []string) []Finding {
	if at.unit.div == 1 {
		return nil
	}
	f := Finding{"not-unique", Advice, 0,
		fmt.Sprintf("two events of one %s in the same %s share a row, unless the key holds a number of the event itself",
			strings.Join(others, ", "), at.unit.one()),
		"add what differs between them: + " + k.proposal(Text)}
	for _, s := range k.slots {
		if s.part == part(at) {
			f.Offset = s.offset
		}
	}
	if fine, ok := at.inMilliseconds(); ok {
		f.Fix = "write " + fine + ", or " + f.Fix
	}
	return []Finding{f}
}

// inMilliseconds returns the part that holds a coarser time in milliseconds, and false if the part has fewer than 64 bits or already holds
// milliseconds.
func (n *number) inMilliseconds() (string, bool) {
	fine := *n
	fine.unit = milliseconds
	return fine.expr(), n.unit.div > 1 && n.bits == 64
}

// one returns the unit in the singular.
func (u *unit) one() string { return strings.TrimSuffix(u.says, "s") }

// proposal returns a declared field of a type that the key does not read, as the part to append.
func (k *Key) proposal(typ Type) string {
	example := map[Type]string{Text: "event_id", Time: "desc(at, ms)"}[typ]
	for _, f := range k.declared {
		if f.Type == typ && !slices.Contains(k.Fields(), f.Name) {
			example = asPart(f.Name, typ)
			break
		}
	}
	if k.slots[len(k.slots)-1].width() == 0 {
		return `"|" + ` + example
	}
	return example
}

// asPart returns a field as a part of a key, by its type.
func asPart(name string, typ Type) string {
	switch typ {
	case Text:
		return name
	case Time:
		return "desc(" + name + ", ms)"
	}
	return "asc(" + name + ")"
}
