package rowkey

import (
	"fmt"
	"slices"
	"strings"
)

// Severity grades a finding.
type Severity string

// A Warning will lose, mix or slow something; an Advice costs bytes.
const (
	Warning Severity = "warning"
	Advice  Severity = "advice"
)

// Finding is something about a key that works, but has a drawback.
type Finding struct {
	Rule     string // such as not-unique
	Severity Severity
	Offset   int // byte offset in the expression
	Msg      string
	Fix      string
}

// LintOptions describe the table as far as it is known. The zero value means a row: entity table of unknown size.
type LintOptions struct {
	EventRows   bool           // each event is its own row: two different events must not share a key
	Servers     int            // region servers; 0 = unknown
	Regions     int            // regions that the table starts with; 0 = unknown
	TextLengths map[string]int // typical bytes of text fields, as measured on a sample; absent ones count as 0
	Queries     []Query        // the queries that the table has to answer
}

// Lint looks for key designs that are known to fail, as far as the key alone shows them.
func (k *Key) Lint(o LintOptions) []Finding {
	var found []Finding
	for _, rule := range []func(LintOptions) []Finding{k.lintLead, k.lintWholeHash, k.lintNotHeld, k.lintNotUnique, k.lintQueries,
		k.lintBuckets, k.lintBeginnings, k.lintRegions, k.lintSeparators, k.lint2038, k.lintLength} {
		found = append(found, rule(o)...)
	}
	return found
}

// lead returns the first part that is not a constant.
func (k *Key) lead() slot {
	i := slices.IndexFunc(k.slots, func(s slot) bool { return len(s.reads()) > 0 })
	return k.slots[i]
}

// firstHeld returns the first field of a type that can be read back from the key.
func (k *Key) firstHeld(typ Type) (field, bool) {
	for _, s := range k.slots {
		if i := slices.IndexFunc(held(s.part), func(f field) bool { return f.typ == typ }); i >= 0 {
			return held(s.part)[i], true
		}
	}
	return field{}, false
}

// lintWholeHash finds a hash of what a scan ranges over: it scatters the rows that the scan wants side by side.
func (k *Key) lintWholeHash(LintOptions) []Finding {
	lead := k.lead()
	h, ok := lead.part.(*hash)
	if !ok {
		return nil
	}
	rest := 0
	for _, f := range k.fields {
		if k.gives(f) && !reads(h, f) {
			rest++
		}
	}
	times := slices.ContainsFunc(h.fields, func(f field) bool { return f.typ == Time && k.gives(f) })
	if !times && (rest > 0 || len(h.fields) == 1) {
		return nil
	}
	keep := k.spreadBy()
	if keep.typ == Time {
		return []Finding{{"whole-key-hash", Warning, lead.offset,
			fmt.Sprintf("%s scatters the times: no scan ranges over %s", h.expr(), keep.name), "replace it with " + saltTimes(16, keep)}}
	}
	return []Finding{{"whole-key-hash", Warning, lead.offset,
		fmt.Sprintf("%s scatters the rows of one %s: no scan finds them together, only a get of all of %s finds a row", h.expr(),
			keep.name, joinNames(h.fields)),
		"hash only what every query knows: " + spreadOver(h, keep)}}
}

func reads(p part, f field) bool {
	return slices.ContainsFunc(p.reads(), func(r field) bool { return r.pos == f.pos })
}

// lintNotHeld finds fields that are only hashed: they cannot be read back, and two values with the same hash share their rows.
func (k *Key) lintNotHeld(LintOptions) []Finding {
	var found []Finding
	for _, f := range k.fields {
		if k.gives(f) {
			continue
		}
		i := slices.IndexFunc(k.slots, func(s slot) bool { return reads(s.part, f) })
		found = append(found, Finding{"not-held", Warning, k.slots[i].offset,
			fmt.Sprintf("%s occurs only in %s: it cannot be read back from a row, and events with the same result share rows", f.name,
				k.slots[i].expr()),
			fmt.Sprintf("add it to the key: + %s", asPart(f.name, f.typ))})
	}
	return found
}

const lettersAndDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// lintSeparators finds separators of letters or digits: values are likely to contain them, and are then refused.
func (k *Key) lintSeparators(LintOptions) []Finding {
	var found []Finding
	for i, s := range k.slots[1:] {
		sep, ok := s.part.(literal)
		variable := k.slots[i]
		if !ok || variable.width() > 0 || strings.Trim(string(sep), lettersAndDigits) != "" {
			continue
		}
		found = append(found, Finding{"separator-in-values", Warning, s.offset,
			fmt.Sprintf("%s ends %s in the key: a value that contains it cannot be written", quote(sep), variable.expr()),
			`use a string that no value contains, such as "|" or "\x00"`})
	}
	return found
}

// lint2038 finds seconds in 32 bits, which overflow on 19 January 2038.
func (k *Key) lint2038(LintOptions) []Finding {
	var found []Finding
	for _, s := range k.slots {
		if n, ok := s.part.(*number); ok && n.unit != nil && n.unit.name == "s" && n.bits == 32 {
			wide := *n
			wide.bits = 64
			found = append(found, Finding{"ends-in-2038", Advice, s.offset,
				n.expr() + " holds times up to 2038-01-19T03:14:07Z; later events become dead letters",
				"write " + wide.expr() + " unless the rows must match those of another writer"})
		}
	}
	return found
}

// lintLength finds long keys: every cell of a row repeats the key.
func (k *Key) lintLength(o LintOptions) []Finding {
	bytes, fixedWidth := 0, true
	for _, s := range k.slots {
		bytes += s.width()
		if s.width() == 0 {
			fixedWidth = false
			bytes += o.TextLengths[s.reads()[0].name]
		}
	}
	switch {
	case bytes > 16:
		atLeast := ""
		if !fixedWidth {
			atLeast = "about "
			if len(o.TextLengths) == 0 {
				atLeast = "at least "
			}
		}
		return []Finding{{"long-key", Advice, 0,
			fmt.Sprintf("the key has %s%s, and every cell of a row repeats it", atLeast, count(bytes, "byte")),
			"pack the fields into fewer columns, leave out what no query needs, or use raw bytes: md5(…, 2 bytes), asc(…, 32)"}}
	case fixedWidth && bytes%8 != 0:
		return []Finding{{"unaligned-key", Advice, 0,
			fmt.Sprintf("the key has %s; rows are read best when it is a multiple of 8", count(bytes, "byte")),
			"change the length of the hash or of a fixed part"}}
	}
	return nil
}
