package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

// Patterns of values that are texts in YAML: of durations and sizes, and of numbers that ${…} stands for.
const (
	durationPattern  = `^([0-9]+w)?([0-9]+d)?([0-9]*\.?[0-9]+(h|m|s|ms|us|µs|ns))*$|^0$|\$\{`
	sizePattern      = `^[0-9]*\.?[0-9]+ ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$|^[0-9]+$|\$\{`
	expansionPattern = `\$\{`
)

type jsonObject = map[string]any

// Schema is the JSON Schema (draft 2020-12) of brine.yaml, for editors: docs/brine.schema.json. It knows each setting by
// itself; what goes together only check knows.
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

// objectSchema is the schema of a mapping of settings.
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

// jsonDefault is a default as JSON has it.
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
