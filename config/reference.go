package config

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

//go:embed settings*.go
var settingsSource embed.FS

//go:embed reference.md
var referenceIntro string

// comments returns the comments of the settings' structs by struct and field, which are the documentation of the settings.
var comments = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	err := fs.WalkDir(settingsSource, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := settingsSource.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool { return structComments(out, n) })
		}
		return err
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return out
})

// structComments adds the field comments of a struct if n declares one, and reports whether to look below n.
func structComments(out map[string]map[string]string, n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	if s, ok := spec.Type.(*ast.StructType); ok {
		of := map[string]string{}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				of[name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
		out[spec.Name.Name] = of
	}
	return false
}

// Reference returns docs/configuration.md: every setting with its type, default, meaning and example, and every code.
func Reference() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from config/settings*.go and config/reference.md by go generate ./config. -->\n")
	b.WriteString(referenceIntro)
	section(&b, reflect.TypeFor[Config](), "", "At the top")
	b.WriteString("## What check finds\n\nCodes are stable. Errors keep brine from starting; warnings do not.\n\n")
	b.WriteString("| code | meaning |\n|---|---|\n")
	for _, c := range codeMeanings {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.code, c.meaning)
	}
	return b.String()
}

// section writes the table of a struct's settings, followed by the sections of those that have settings of their own.
func section(b *strings.Builder, t reflect.Type, at, title string) {
	defs, _ := definitionsOf(t)
	fmt.Fprintf(b, "## %s\n\n| setting | type | default | meaning |\n|---|---|---|---|\n", title)
	for i := range defs {
		d := &defs[i]
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.name, typeText(d), defaultText(d), meaningText(t, d, at))
	}
	b.WriteString("\n")
	for i := range defs {
		d := &defs[i]
		switch inner := join(at, d.name); shapeOf(d.typ) {
		case object:
			section(b, d.typ, inner, inner)
		case named:
			if defs, _ := definitionsOf(elementOf(d.typ)); len(defs) > 1 {
				section(b, elementOf(d.typ), inner+".<name>", inner+".<name>")
			}
		case list:
			section(b, elementOf(d.typ), inner+"[]", inner+"[]")
		}
	}
}

func typeText(d *definition) string {
	s := shapeOf(d.typ)
	switch {
	case len(d.choices) > 0:
		return "`" + strings.Join(d.choices, "`, `") + "`"
	case s == object:
		return "section"
	case s == list:
		return "list"
	case s == texts:
		return "list of text"
	case s == named:
		return "by name"
	}
	out := map[shape]string{text: "text", wholeNumber: "number", truth: "true or false", duration: "duration", size: "size", path: "path"}[s]
	switch {
	case d.min != "" && d.max != "":
		out += ", " + d.min + " to " + d.max
	case d.min != "":
		out += ", at least " + d.min
	}
	return out
}

func defaultText(d *definition) string {
	switch {
	case d.required:
		return "**required**"
	case d.fallback != "":
		return "`" + d.fallback + "`"
	}
	return ""
}

func meaningText(t reflect.Type, d *definition, at string) string {
	out := comments()[t.Name()][d.field]
	if shapeOf(d.typ) == named {
		if inner, _ := definitionsOf(elementOf(d.typ)); len(inner) == 1 { // it has no section of its own
			if len(inner[0].choices) > 0 {
				out += " " + comments()[elementOf(d.typ).Name()][inner[0].field] + " One of " + typeText(&inner[0]) + "."
			}
		}
	}
	if d.example != "" {
		out += " Example: `" + d.example + "`."
	}
	if s := shapeOf(d.typ); s.scalar() && !strings.ContainsAny(at, "<[") {
		out += " (`" + envName(join(at, d.name)) + "`)"
	}
	return strings.ReplaceAll(out, "|", "\\|")
}

// Patterns of values that are texts in YAML: durations, sizes, and ${…} in place of a number.
const (
	durationPattern  = `^([0-9]+w)?([0-9]+d)?([0-9]*\.?[0-9]+(h|m|s|ms|us|µs|ns))*$|^0$|\$\{`
	sizePattern      = `^[0-9]*\.?[0-9]+ ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$|^[0-9]+$|\$\{`
	expansionPattern = `\$\{`
)

type jsonObject = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of brine.yaml for editors: docs/brine.schema.json. It describes each setting on its own;
// conflicts between settings are known only to check.
func Schema() []byte {
	root := objectSchema(reflect.TypeFor[Config]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "brine.yaml"
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		panic("BUG: " + err.Error())
	}
	return b.Bytes()
}

// objectSchema returns the schema of a mapping of settings.
func objectSchema(t reflect.Type) jsonObject {
	defs, _ := definitionsOf(t)
	properties, required := jsonObject{}, []string{}
	var short *definition
	for i := range defs {
		d := &defs[i]
		property := valueSchema(d)
		property["description"] = comments()[t.Name()][d.field]
		if d.fallback != "" {
			property["default"] = jsonDefault(d)
		}
		properties[d.name] = property
		if d.required {
			required = append(required, d.name)
		}
		if d.short {
			short = d
		}
	}
	out := jsonObject{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if short != nil {
		return jsonObject{"anyOf": []any{valueSchema(short), out}}
	}
	return out
}

func valueSchema(d *definition) jsonObject {
	switch shapeOf(d.typ) {
	case object:
		return objectSchema(d.typ)
	case named:
		return jsonObject{"type": "object", "minProperties": 1, "additionalProperties": objectSchema(elementOf(d.typ))}
	case list:
		return jsonObject{"type": "array", "items": objectSchema(elementOf(d.typ))}
	case texts:
		return jsonObject{"type": "array", "minItems": 1, "items": jsonObject{"type": "string", "minLength": 1}}
	case path:
		return jsonObject{"type": []string{"string", "array"}, "minLength": 1, "minItems": 1, "items": jsonObject{"type": "string"}}
	case truth:
		return jsonObject{"type": []string{"boolean", "string"}, "pattern": expansionPattern}
	case duration:
		return jsonObject{"type": "string", "pattern": durationPattern}
	case size:
		return jsonObject{"type": []string{"string", "integer"}, "pattern": sizePattern}
	case wholeNumber:
		return numberSchema(d)
	}
	if d.typ == reflect.TypeFor[Scalar]() {
		return jsonObject{"type": []string{"string", "number", "boolean"}, "minLength": 1}
	}
	out := jsonObject{"type": "string", "minLength": 1}
	if len(d.choices) > 0 {
		out["enum"] = d.choices
	}
	return out
}

func numberSchema(d *definition) jsonObject {
	out := jsonObject{"type": []string{"integer", "string"}, "pattern": expansionPattern}
	if n, err := strconv.Atoi(d.min); err == nil {
		out["minimum"] = n
	}
	if n, err := strconv.Atoi(d.max); err == nil {
		out["maximum"] = n
	}
	return out
}

// jsonDefault returns a default as a JSON value.
func jsonDefault(d *definition) any {
	switch shapeOf(d.typ) {
	case wholeNumber:
		n, _ := strconv.Atoi(d.fallback)
		return n
	case truth:
		return d.fallback == "true"
	}
	return d.fallback
}
