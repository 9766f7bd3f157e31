package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// definition is one setting, as defined by its struct field.
type definition struct {
	name     string
	field    string // name of the struct field, for its comment
	index    int    // index of the field in its struct
	typ      reflect.Type
	required bool
	short    bool     // an element may be written as this setting alone
	secret   bool     // the value is never printed
	fallback string   // default, as a user would write it
	choices  []string // the only texts allowed
	min, max string
	example  string
}

// definitionsOf returns the settings of a struct in order, and the index of the field that holds the element's name, or −1.
func definitionsOf(t reflect.Type) (defs []definition, key int) {
	key = -1
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("set")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		d := definition{name: name, field: f.Name, index: i, typ: f.Type,
			fallback: f.Tag.Get("default"), choices: strings.Fields(f.Tag.Get("oneof")),
			min: f.Tag.Get("min"), max: f.Tag.Get("max"), example: f.Tag.Get("example")}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "key":
				key = i
			case "required":
				d.required = true
			case "short":
				d.short = true
			case "secret":
				d.secret = true
			default:
				panic(fmt.Sprintf("BUG: %s.%s: unknown option %q", t.Name(), f.Name, option))
			}
		}
		if name != "" {
			defs = append(defs, d)
		}
	}
	return defs, key
}

// secretSettings returns the settings whose values are never printed.
var secretSettings = sync.OnceValue(func() (all []string) {
	walk(reflect.TypeFor[Config](), "", func(section string, d *definition) {
		if d.secret {
			all = append(all, join(section, d.name))
		}
	})
	return all
})

// homesOf returns the sections that have a setting with this name.
func homesOf(name string) []string {
	var homes []string
	walk(reflect.TypeFor[Config](), "", func(section string, d *definition) {
		if d.name == name && section != "" && !slices.Contains(homes, section) {
			homes = append(homes, section)
		}
	})
	return homes
}

// walk calls f for every setting with its section, such as tables.<name> or pipelines.<name>.rows[].
func walk(t reflect.Type, section string, f func(section string, d *definition)) {
	defs, _ := definitionsOf(t)
	for i := range defs {
		d := &defs[i]
		f(section, d)
		at := join(section, d.name)
		switch shapeOf(d.typ) {
		case object:
			walk(d.typ, at, f)
		case named:
			walk(elementOf(d.typ), at+".<name>", f)
		case list:
			walk(elementOf(d.typ), at+"[]", f)
		}
	}
}

// shape is how a setting is written.
type shape int

const (
	text shape = iota
	wholeNumber
	truth
	duration
	size
	texts  // list of text
	path   // text joined by dots, or a list
	object // mapping of settings
	named  // mapping of names to objects
	list   // list of objects
)

var shapeNames = map[shape]string{
	text: "a text", wholeNumber: "a whole number", truth: "true or false", duration: "a duration such as 10s",
	size: "a size such as 64MiB", texts: "a list such as [a, b]", path: "a path such as a.b", object: "a mapping of settings",
	named: "a mapping of names", list: "a list of mappings, each beginning with \"-\"",
}

func shapeOf(t reflect.Type) shape {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return duration
	case t == reflect.TypeFor[Bytes]():
		return size
	case t == reflect.TypeFor[Path]():
		return path
	case t == reflect.TypeFor[[]string]():
		return texts
	}
	switch t.Kind() {
	case reflect.String:
		return text
	case reflect.Int:
		return wholeNumber
	case reflect.Bool:
		return truth
	case reflect.Struct:
		return object
	case reflect.Slice:
		if _, key := definitionsOf(elementOf(t)); key >= 0 {
			return named
		}
		return list
	}
	panic("BUG: no setting can be of type " + t.String())
}

// elementOf returns the struct type of the elements of a named or list setting, without its pointer if it has one.
func elementOf(t reflect.Type) reflect.Type {
	if e := t.Elem(); e.Kind() == reflect.Pointer {
		return e.Elem()
	}
	return t.Elem()
}

// scalar reports whether an environment variable can set the setting.
func (s shape) scalar() bool { return s <= texts }

// Comes and Goes mark an element added to or removed from a setting that has many.
const (
	Comes = "+"
	Goes  = "-"
)

// Section is a section, named like pipelines.<name>.read, with the names of the settings in it that hold values, and with Comes and Goes if
// it has many elements.
type Section struct {
	Name     string
	Settings []string
}

// Sections returns all sections, in the order of the reference.
func Sections() (all []*Section) {
	at := func(name string) *Section {
		i := slices.IndexFunc(all, func(s *Section) bool { return s.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, &Section{Name: name})
		}
		return all[i]
	}
	walk(reflect.TypeFor[Config](), "", func(section string, d *definition) {
		switch s := shapeOf(d.typ); s {
		case object:
		case named, list:
			many := at(join(section, d.name))
			many.Settings = append(many.Settings, Comes, Goes)
		default:
			of := at(section)
			of.Settings = append(of.Settings, d.name)
		}
	})
	return all
}
