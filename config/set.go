package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/when"
)

// set reads a scalar into the field v. Its error reads "what is wrong; fix", going on from the value.
func set(v reflect.Value, s shape, d *definition, value string) (Code, error) {
	switch s {
	case text:
		return setText(v, d, value)
	case path:
		return setPath(v, d, value)
	case truth:
		if value != "true" && value != "false" {
			return Type, fmt.Errorf("is neither true nor false; write %s: true or %s: false", d.name, d.name)
		}
		v.SetBool(value == "true")
		return "", nil
	}
	n, err := number(s, value)
	if err != nil {
		return Type, fmt.Errorf("%w; write %s: %s", err, d.name, exampleOf(d))
	}
	for _, bound := range []struct {
		text, word string
		sign       int64
	}{{d.min, "least", 1}, {d.max, "most", -1}} {
		if limit, err := number(s, bound.text); err == nil && (n < limit && bound.sign > 0 || n > limit && bound.sign < 0) {
			return Range, fmt.Errorf("is out of range; write at %s %s", bound.word, bound.text)
		}
	}
	v.SetInt(n)
	return "", nil
}

// number reads a whole number, a duration in nanoseconds or a size in bytes.
func number(s shape, value string) (int64, error) {
	switch s {
	case duration:
		d, err := when.Duration(value)
		return int64(d), err
	case size:
		b, err := parseBytes(value)
		return int64(b), err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("is out of range")
	} else if err != nil {
		return 0, errors.New("is not a whole number")
	}
	return n, nil
}

func setText(v reflect.Value, d *definition, value string) (Code, error) {
	if value == "" {
		return Missing, fmt.Errorf("is empty; write %s: %s", d.name, exampleOf(d))
	}
	if len(d.choices) > 0 && !slices.Contains(d.choices, value) {
		fix := "write " + oneOf(d.choices)
		if near := nearest(value, d.choices); near != "" {
			fix = "did you mean " + near + "? It can be " + oneOf(d.choices)
		}
		return Choice, fmt.Errorf("is not known; %s", fix)
	}
	v.SetString(value)
	return "", nil
}

func setPath(v reflect.Value, d *definition, value string) (Code, error) {
	keys := strings.Split(value, ".")
	if slices.Contains(keys, "") {
		return Type, fmt.Errorf("has an empty key; write %s: %s, or a list of keys", d.name, exampleOf(d))
	}
	v.Set(reflect.ValueOf(Path(keys)))
	return "", nil
}

// exampleOf is what a fix shows.
func exampleOf(d *definition) string {
	switch {
	case d.example != "":
		return d.example
	case len(d.choices) > 0:
		return d.choices[0]
	case d.fallback != "":
		return d.fallback
	case shapeOf(d.typ) == object:
		defs, _ := definitionsOf(d.typ)
		return "{ " + defs[0].name + ": " + exampleOf(&defs[0]) + " }"
	case d.typ == reflect.TypeFor[time.Duration]():
		return "10s"
	}
	return "…"
}

// homesOf lists the sections that have a setting of this name.
func homesOf(name string) []string {
	var homes []string
	walk(reflect.TypeFor[Config](), "", func(section string, d *definition) {
		if d.name == name && section != "" && !slices.Contains(homes, section) {
			homes = append(homes, section)
		}
	})
	return homes
}

// walk passes every setting to f, with its section: tables.<name>, pipelines.<name>.rows[].
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

// quote shows a value that may be long.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
