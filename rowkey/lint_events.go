package rowkey

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lintNotUnique finds keys in which only a time distinguishes two events. What distinguishes them is held after the time (a message's id);
// fields before it are often common to the events.
func (k *Key) lintNotUnique(o LintOptions) []Finding {
	if !o.EventRows {
		return nil
	}
	var before, after []string
	var at, finest *number
	exact := "" // the unit of a time in an integer field
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
		case isNumber && fineUnits[n.field.unit] != "":
			exact = fineUnits[n.field.unit]
		case at == nil && exact == "":
			before = append(before, joinNames(s.reads()))
		default:
			after = append(after, joinNames(s.reads()))
		}
	}
	if exact != "" && (len(before) > 1 || len(after) > 0) {
		return nil
	}
	if exact != "" {
		return k.lintExact(exact, before)
	}
	if len(after) > 0 {
		return k.lintCoarse(finest, append(before, after...))
	}
	if at == nil {
		return []Finding{{"not-unique", Advice, 0,
			fmt.Sprintf("two events of one %s share a row, unless that is a number of the event itself", strings.Join(before, ", ")),
			"add their time, such as + " + k.proposedTime() + ", or say row: entity"}}
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

// fineUnits are the units finer than milliseconds, in the singular.
var fineUnits = map[time.Duration]string{time.Microsecond: "microsecond", time.Nanosecond: "nanosecond"}

// lintExact finds keys in which only a time that is finer than milliseconds distinguishes two events, which is seldom too coarse.
func (k *Key) lintExact(unit string, before []string) []Finding {
	of := ""
	if len(before) > 0 {
		of = " of one " + before[0]
	}
	return []Finding{{"not-unique", Advice, 0, fmt.Sprintf("two events%s in the same %s share a row, and one is lost", of, unit),
		"add what differs between them: + " + k.proposal(Text)}}
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
	if f, ok := k.unread(func(f Field) bool { return f.Type == typ }); ok {
		example = asPart(f.Name, typ)
	}
	return k.appended(example)
}

// proposedTime returns the part to append for a declared time, in whatever unit, that the key does not read.
func (k *Key) proposedTime() string {
	f, ok := k.unread(func(f Field) bool { return f.Type == Time || fineUnits[f.Unit] != "" })
	if !ok || f.Type == Time {
		return k.proposal(Time)
	}
	return k.appended("desc(" + f.Name + ")")
}

// unread returns the first declared field of a kind that the key does not read.
func (k *Key) unread(is func(Field) bool) (Field, bool) {
	for _, f := range k.declared {
		if is(f) && !slices.Contains(k.Fields(), f.Name) {
			return f, true
		}
	}
	return Field{}, false
}

// appended returns a part as it can follow the key's last one.
func (k *Key) appended(example string) string {
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
