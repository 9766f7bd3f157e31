package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestGenerated compares the generated files with the settings; go generate ./config writes them.
func TestGenerated(t *testing.T) {
	golden(t, "../docs/configuration.md", Reference())
	golden(t, "../docs/brine.schema.json", string(Schema()))
}

func TestEverySettingIsDefinedWell(t *testing.T) {
	seen := 0
	check := func(of reflect.Type) {
		defs, _ := definitionsOf(of)
		for i := range defs {
			d := &defs[i]
			seen++
			if doc := comments()[of.Name()][d.field]; !strings.HasSuffix(doc, ".") {
				t.Errorf("%s.%s has no documentation that is a sentence: %q", of.Name(), d.field, doc)
			}
			if d.required && d.fallback != "" {
				t.Errorf("%s.%s is required and has a default", of.Name(), d.field)
			}
			if exampleOf(d) == "…" {
				t.Errorf("%s.%s has neither example nor default nor choices", of.Name(), d.field)
			}
			if s := shapeOf(d.typ); s.scalar() && s != texts {
				for _, value := range []string{d.fallback, d.min, d.max} {
					if value == "" {
						continue
					}
					if wrong := set(reflect.New(d.typ).Elem(), s, d, value); wrong != nil {
						t.Errorf("%s.%s: its own default or bound %s: %v (%s)", of.Name(), d.field, value, wrong, wrong.code)
					}
				}
			}
		}
	}
	check(reflect.TypeFor[Config]())
	walk(reflect.TypeFor[Config](), "", func(_ string, d *definition) {
		switch shapeOf(d.typ) {
		case object:
			check(d.typ)
		case named, list:
			check(elementOf(d.typ))
		}
	})
	if seen < 50 {
		t.Errorf("saw only %d settings", seen)
	}
}
