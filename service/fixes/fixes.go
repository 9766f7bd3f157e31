// Package fixes compiles what dead letters are fixed by on their way back: expressions that replace what records hold of some fields. It
// stands below service, which verifies what such replays have written, and service/letters, which makes them.
//
// The invariant: a text that was compiled once is compiled to the same fix again, as long as the pipeline's fields are the same.
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

// Fix is what records of a pipeline are fixed by.
type Fix struct {
	Of    *event.Fix
	texts []string
	// Moves says what the fixed fields are part of that rows, documents and their versions are known by, as "at: the version".
	Moves []string
}

var assignment = regexp.MustCompile(`(?s)^\s*([A-Za-z_]\w*)\s*=([^=].*)$`)

// New compiles fixes: each a field of the pipeline, =, and an expression as those of let, in which fixed fields are texts.
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
			return nil, fmt.Errorf("--let %s is given twice; write one expression", m[1])
		case fields[i].Fixable() != "":
			return nil, fmt.Errorf("--let %s: the field %s", m[1], fields[i].Fixable())
		}
		byField[i] = strings.TrimSpace(m[2])
	}
	x := &Fix{Of: &event.Fix{Fields: slices.Sorted(maps.Keys(byField))}}
	b, identity := derive.New(x.Of.Declared(fields)), p.Identity()
	for _, i := range x.Of.Fields {
		f := fields[i]
		if err := b.Fix(f.Name, f.Type, "--let "+f.Name, byField[i]); err != nil {
			return nil, fmt.Errorf("--let %s = %s: %w; see docs/filters.md", f.Name, byField[i], err)
		}
		x.texts = append(x.texts, f.Name+" = "+byField[i])
		if of := identity[f.Name]; of != "" {
			x.Moves = append(x.Moves, f.Name+": "+of)
		}
	}
	x.Of.Deriver = b.Rules()
	s := p.Schema()
	s.Fix = x.Of
	return x, s.Validate()
}

func names(fields []event.Field) string {
	var out []string
	for _, f := range fields {
		if f.Fixable() == "" {
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, ", ")
}

// Apply returns the schema of a pipeline's records with the fix; nil changes nothing.
func (x *Fix) Apply(s event.Schema) event.Schema {
	if x != nil {
		s.Fix = x.Of
	}
	return s
}

// Text is the fix as marks have it; empty of nil.
func (x *Fix) Text() string {
	if x == nil {
		return ""
	}
	return strings.Join(x.texts, "\n")
}

// Again compiles a fix of the text that marks have of it.
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
