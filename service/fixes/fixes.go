// Package fixes compiles the fixes of dead letters: expressions that replace some fields of a record when it is replayed. Both service,
// which verifies what such replays wrote, and service/letters, which runs them, import it.
//
// The invariant: a text always compiles to the same fix, as long as the pipeline's fields are the same.
package fixes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"brine/config"
	"brine/derive"
	"brine/event"
)

// Fix is a fix for records of a pipeline.
type Fix struct {
	Of    *event.Fix
	texts []string
	// Moves says which identifying parts of rows, documents and versions the fixed fields belong to, such as "at: the version".
	Moves []string
	// Reveals says which masked fields would be shown because a fixed field that is not masked is made from them, such as "note: phone".
	Reveals []string
}

var assignment = regexp.MustCompile(`(?s)^\s*([A-Za-z_]\w*)\s*=([^=].*)$`)

// New compiles fixes of the form FIELD = EXPRESSION. The expressions are those of let, but fixed fields are texts in them.
func New(p *config.Pipeline, texts []string) (*Fix, error) {
	fields := p.Schema().Fields
	byField := map[int]string{}
	for _, text := range texts {
		m := assignment.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("--let %q: write FIELD = EXPRESSION", text)
		}
		i := slices.IndexFunc(fields, func(f event.Field) bool { return f.Name == m[1] })
		switch {
		case i < 0:
			return nil, fmt.Errorf("--let %s: pipeline %s has no field of this name; it has %s", m[1], p.Name, names(fields))
		case byField[i] != "":
			return nil, fmt.Errorf("--let %s is given twice; combine them into one expression", m[1])
		case fields[i].Fixable() != "":
			return nil, fmt.Errorf("--let %s: the field %s", m[1], fields[i].Fixable())
		}
		byField[i] = strings.TrimSpace(m[2])
	}
	x := &Fix{Of: &event.Fix{Fields: slices.Sorted(maps.Keys(byField))}}
	b, identity := derive.New(x.Of.Declared(fields)), p.Identity()
	for _, i := range x.Of.Fields {
		f := fields[i]
		if err := b.Fix(f.Name, f.Type, settingOf(f), byField[i]); err != nil {
			return nil, fmt.Errorf("--let %s = %s: %w; see docs/filters.md", f.Name, byField[i], err)
		}
		x.texts = append(x.texts, f.Name+" = "+byField[i])
		if of := identity[f.Name]; of != "" {
			x.Moves = append(x.Moves, f.Name+": "+of)
		}
	}
	rules, s := b.Rules(), p.Schema()
	x.Of.Deriver = rules
	for _, i := range x.Of.Fields {
		if slices.Contains(s.Masked, i) {
			continue
		}
		reads, _ := rules.Reads(settingOf(fields[i]))
		for _, from := range reads {
			if slices.Contains(s.Masked, from) {
				x.Reveals = append(x.Reveals, fields[i].Name+": "+fields[from].Name)
			}
		}
	}
	s.Fix = x.Of
	return x, s.Validate()
}

// settingOf returns the name under which errors know the fix of a field.
func settingOf(f event.Field) string { return "--let " + f.Name }

func names(fields []event.Field) string {
	var out []string
	for _, f := range fields {
		if f.Fixable() == "" {
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, ", ")
}

// Apply returns the schema of a pipeline's records with the fix. A nil Fix changes nothing.
func (x *Fix) Apply(s event.Schema) event.Schema {
	if x != nil {
		s.Fix = x.Of
	}
	return s
}

// Text returns the text of the fix, as marks record it, or "" for a nil Fix.
func (x *Fix) Text() string {
	if x == nil {
		return ""
	}
	return strings.Join(x.texts, "\n")
}

// Again compiles a fix from the text that marks record.
func Again(p *config.Pipeline, text string) (*Fix, error) {
	var texts []string
	for line := range strings.SplitSeq(text, "\n") {
		if assignment.MatchString(line) || len(texts) == 0 {
			texts = append(texts, line)
		} else { // an expression of several lines
			texts[len(texts)-1] += "\n" + line
		}
	}
	return New(p, texts)
}
