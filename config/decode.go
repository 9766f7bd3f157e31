package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// object reads a mapping of settings into the struct v. If the section is absent, n is nil and v gets its defaults.
func (l *loader) object(n *yaml.Node, v reflect.Value, setting string) {
	defs, _ := definitionsOf(v.Type())
	l.settings(n, v, setting, defs, func(key, value *yaml.Node) { l.unknown(key, value, defs, setting) })
}

// settings is object for those settings of the struct v that defs define, and calls others for the rest of the mapping.
func (l *loader) settings(n *yaml.Node, v reflect.Value, setting string, defs []definition, others func(key, value *yaml.Node)) {
	seen := map[string]*yaml.Node{}
	switch {
	case n == nil || isNull(n):
	case n.Kind == yaml.ScalarNode && shortOf(defs) != nil:
		short := shortOf(defs)
		seen[short.name] = n
		l.value(n, v.Field(short.index), short, join(setting, short.name))
	case n.Kind != yaml.MappingNode:
		example := "{ " + defs[0].name + ": … }"
		if short := shortOf(defs); short != nil {
			example = exampleOf(short)
		}
		l.at(n, setting, Type, "is "+kindName(n)+", not "+shapeNames[object], "write it as "+example)
		return
	default:
		l.pairs(n, setting, seen, func(key, value *yaml.Node) {
			if d := find(defs, key.Value); d != nil {
				at := join(setting, d.name)
				l.places[at] = place{key, value}
				l.value(value, v.Field(d.index), d, at)
			} else {
				others(key, value)
			}
		})
	}
	for i := range defs {
		if d := &defs[i]; seen[d.name] == nil {
			l.absent(n, v.Field(d.index), d, join(setting, d.name))
		}
	}
}

// pairs calls f for each key and value of a mapping, once per key.
func (l *loader) pairs(n *yaml.Node, setting string, seen map[string]*yaml.Node, f func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			l.at(key, setting, Type, "a name here is "+kindName(key), "write a name")
			continue
		}
		if first := seen[key.Value]; first != nil {
			at := join(setting, key.Value)
			if cutOff(key, value) {
				at = setting + ".…"
			}
			l.at(key, at, Duplicate, fmt.Sprintf("is set twice, first in line %d", first.Line), "keep one of the two")
			continue
		}
		seen[key.Value] = key
		f(key, value)
	}
}

// absent sets a missing setting to its default, or reports that it is required.
func (l *loader) absent(parent *yaml.Node, v reflect.Value, d *definition, setting string) {
	switch s := shapeOf(d.typ); {
	case d.required && parent == nil: // the section itself is absent, which is reported if it is required
	case d.required:
		l.at(parent, setting, Missing, "is missing", "write "+d.name+": "+exampleOf(d))
	case s == object:
		l.object(nil, v, setting)
	case d.fallback != "":
		if wrong := set(v, s, d, d.fallback); wrong != nil {
			panic("BUG: default of " + setting + ": " + wrong.Error())
		}
	}
}

// value reads a node into the field v according to its definition.
func (l *loader) value(n *yaml.Node, v reflect.Value, d *definition, setting string) {
	s := shapeOf(d.typ)
	if d.secret {
		l.withhold(n.Value, itsValue)
	}
	switch {
	case l.broken[n]:
	case n.Kind == yaml.AliasNode:
		l.at(n, setting, Type, "is an alias", "write the value out: anchors and aliases are not supported")
	case s == object:
		l.object(n, v, setting)
	case isNull(n):
		l.at(n, setting, Type, "has no value", "write "+d.name+": "+exampleOf(d)+", or remove it")
	case s == named:
		l.named(n, v, d, setting)
	case s == list:
		l.list(n, v, d, setting)
	case (s == texts || s == path) && n.Kind == yaml.SequenceNode:
		l.texts(n, v, d, setting)
	case n.Kind != yaml.ScalarNode || s == texts:
		l.at(n, setting, Type, "is "+kindName(n)+", not "+shapeNames[s], "write "+d.name+": "+exampleOf(d))
	default:
		if wrong := set(v, s, d, n.Value); wrong != nil {
			message := wrong.message
			if wrong.code != Missing {
				message = l.show(n, d) + " " + message
			}
			l.at(n, setting, wrong.code, message, wrong.fix)
		}
	}
}

// named reads a mapping of names into a slice of structs, in the order of the file.
func (l *loader) named(n *yaml.Node, v reflect.Value, d *definition, setting string) {
	if n.Kind != yaml.MappingNode {
		l.at(n, setting, Type, "is "+kindName(n)+", not "+shapeNames[named], "write "+d.name+": "+exampleOf(d))
		return
	}
	_, key := definitionsOf(elementOf(d.typ))
	l.pairs(n, setting, map[string]*yaml.Node{}, func(name, value *yaml.Node) {
		at := join(setting, name.Value)
		l.places[at] = place{name, value}
		element := grow(v)
		element.Field(key).SetString(name.Value)
		l.object(value, element, at)
	})
	if v.Len() == 0 {
		l.at(n, setting, Missing, "is empty", "write "+d.name+": "+exampleOf(d))
	}
}

// list reads a sequence of mappings into a slice of structs.
func (l *loader) list(n *yaml.Node, v reflect.Value, d *definition, setting string) {
	if n.Kind != yaml.SequenceNode {
		l.at(n, setting, Type, "is "+kindName(n)+", not a list", "put \"- \" before its first setting: "+d.name+": "+exampleOf(d))
		return
	}
	if len(n.Content) == 0 {
		l.at(n, setting, Missing, "is empty", "write "+d.name+": "+exampleOf(d)+", or remove it")
	}
	for i, item := range n.Content {
		at := setting + "[" + strconv.Itoa(i) + "]"
		l.places[at] = place{item, item}
		l.object(item, grow(v), at)
	}
}

// grow appends a zero element to the slice v and returns it.
func grow(v reflect.Value) reflect.Value {
	e := v.Type().Elem()
	if e.Kind() == reflect.Pointer {
		v.Set(reflect.Append(v, reflect.New(e.Elem())))
		return v.Index(v.Len() - 1).Elem()
	}
	v.Set(reflect.Append(v, reflect.Zero(e)))
	return v.Index(v.Len() - 1)
}

// texts reads a sequence of scalars.
func (l *loader) texts(n *yaml.Node, v reflect.Value, d *definition, setting string) {
	if len(n.Content) == 0 {
		l.at(n, setting, Missing, "is empty", "write "+d.name+": "+exampleOf(d))
	}
	for i, item := range n.Content {
		at := setting + "[" + strconv.Itoa(i) + "]"
		l.places[at] = place{item, item}
		if l.broken[item] {
			continue
		}
		if item.Kind != yaml.ScalarNode || isNull(item) || item.Value == "" {
			l.at(item, at, Type, "is "+kindName(item)+", not a text", "write "+d.name+": "+exampleOf(d))
			continue
		}
		v.Set(reflect.Append(v, reflect.ValueOf(item.Value)))
	}
}

// unknown reports a setting that does not exist, and suggests the likely one.
func (l *loader) unknown(key, value *yaml.Node, defs []definition, setting string) {
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.name
	}
	fix := "use one of " + oneOf(names)
	if cutOff(key, value) {
		fix = "if the comma before it belongs to a value, quote that value"
		if slices.ContainsFunc(defs, func(d definition) bool { return d.secret }) { // it may be the end of a password
			l.at(key, setting+".…", UnknownSetting, "a name here is not a setting", fix)
			return
		}
	}
	if near := nearest(key.Value, names); near != "" {
		fix = "did you mean " + near + "?"
	} else if homes := homesOf(key.Value); len(homes) > 0 {
		fix = "it belongs in " + oneOf(homes)
	}
	l.at(key, join(setting, key.Value), UnknownSetting, "unknown setting", fix)
}

// cutOff reports whether a name may be the end of a value that a comma cut off, as in { key: md5(id, 4) + id }.
func cutOff(key, value *yaml.Node) bool {
	return isNull(value) && value.Value == "" && value.Line == key.Line
}

func find(defs []definition, name string) *definition {
	for i := range defs {
		if defs[i].name == name {
			return &defs[i]
		}
	}
	return nil
}

func shortOf(defs []definition) *definition {
	for i := range defs {
		if defs[i].short {
			return &defs[i]
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindName(n *yaml.Node) string {
	switch {
	case isNull(n) || n.Kind == yaml.ScalarNode && n.Value == "":
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	}
	return "a single value"
}

// join returns the name of a setting within another.
func join(setting, name string) string {
	if setting == "" {
		return name
	}
	return setting + "." + name
}
