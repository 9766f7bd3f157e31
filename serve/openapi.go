package serve

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"brine/internal/when"
	"brine/query"
	"brine/rowkey"
	"brine/serve/client"
)

// object is a JSON object. Its members are written in the order of their names.
type object = map[string]any

// OpenAPI returns the OpenAPI 3.1 document of the routes.
func (s *Server) OpenAPI() ([]byte, error) {
	schemas := schemas{}
	paths := object{}
	for _, e := range s.routes {
		item, _ := paths[e.path].(object)
		if item == nil {
			item = object{}
			paths[e.path] = item
		}
		item[strings.ToLower(e.method)] = s.operation(e, schemas)
	}
	schemas.of(reflect.TypeFor[client.Problem]())
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "brine", "version": s.opts.Version,
			"description": "Reads the rows that brine has written, through views and by row key." +
				map[bool]string{true: " Read-only."}[s.opts.Accounts == nil]},
		"paths": paths,
		"components": object{"schemas": schemas, "responses": object{"Problem": object{
			"description": "Problem details (RFC 9457).",
			"content":     object{"application/problem+json": object{"schema": ref("Problem")}},
		}}},
	}
	if s.opts.Accounts != nil {
		doc["components"].(object)["securitySchemes"] = object{
			"session": object{"type": "apiKey", "in": "cookie", "name": cookieName},
			"token":   object{"type": "http", "scheme": "bearer"},
		}
	}
	return json.MarshalIndent(doc, "", "  ")
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// operation describes a route.
func (s *Server) operation(e *endpoint, known schemas) object {
	params := []object{}
	for _, p := range e.params {
		described := p.described()
		if s.opts.Accounts != nil && e.on != nil && p.in == "query" && p.name == s.forced(e.on) {
			described["required"] = false
			described["description"] = p.about + " Customers must leave it out: their own value is used."
		}
		params = append(params, described)
	}
	if e.conditional {
		params = append(params, object{"in": "header", "name": "If-None-Match", "schema": object{"type": "string"},
			"description": "An ETag; the answer is 304 if the row still has it."})
	}
	if e.waits {
		params = append(params, object{"in": "header", "name": afterHeader, "schema": object{"type": "string"},
			"description": "Token of a command: the answer waits until it is applied. If that takes too long, it has the header " +
				staleHeader + "."})
	}
	content := object{}
	if e.answer != nil {
		content[jsonType] = object{"schema": known.of(reflect.TypeOf(e.answer))}
	}
	if e.events {
		event, of := "page", "Page"
		if e.state != nil {
			event, of = "state", reflect.TypeOf(e.state).Name()
			known.of(reflect.TypeOf(e.state))
		}
		text := object{"type": "string"}
		content[eventsType] = object{"schema": object{"type": "object", "properties": object{"event": text, "id": text, "data": text},
			"description": "Server-sent events: " + event + ", whose data is a " + of + "; and problem, whose data is a Problem, " +
				"and after which the last " + event + " may be stale until the next one."}}
	}
	if e.streams {
		line := reflect.TypeFor[client.Line]()
		if e.line != nil {
			line = reflect.TypeOf(e.line)
		}
		content[linesType] = object{"schema": known.of(line)}
	}
	ok := object{"description": "Success.", "content": content}
	problem := object{"$ref": "#/components/responses/Problem"}
	answers := object{"200": ok, "default": problem}
	if e.accepts != "" {
		ok["description"] = e.accepts
		ok["headers"] = object{"Location": object{"description": "Path of its state.", "schema": object{"type": "string"}}}
		answers = object{"202": ok, "default": problem}
	}
	if e.leads != "" {
		ok["description"] = e.leads
		ok["headers"] = object{"Location": object{"description": "Target of the redirect.", "schema": object{"type": "string"}}}
		answers = object{"303": ok, "default": problem}
	}
	for _, k := range e.refuses {
		answers[strconv.Itoa(k.status)] = problem
	}
	if e.conditional {
		ok["headers"] = object{"ETag": object{"description": "Version of the row.", "schema": object{"type": "string"}}}
		answers["304"] = object{"description": "The row still has a version of If-None-Match."}
	}
	if e.missing {
		answers["404"] = problem
	}
	if !e.free {
		answers["400"], answers["503"] = problem, problem
	}
	o := object{"operationId": e.id, "summary": e.about, "parameters": params, "responses": answers}
	if s.opts.Accounts != nil {
		s.guarded(e, o)
	}
	if e.body != nil {
		o["requestBody"] = object{"required": !e.bare, "content": object{jsonType: object{"schema": known.of(reflect.TypeOf(e.body))}}}
	}
	return o
}

// guarded describes who may use a route.
func (s *Server) guarded(e *endpoint, o object) {
	answers, problem := o["responses"].(object), object{"$ref": "#/components/responses/Problem"}
	any := e.role == anybody || e.on != nil && s.may(nil, e.role, e.on).open
	security := []object{{"session": []string{}}}
	if !e.signedIn {
		security = append(security, object{"token": []string{}})
	}
	if any {
		security = append(security, object{})
	}
	o["security"] = security
	answers["401"], answers["403"] = problem, problem
	if any {
		answers["429"] = problem
	}
	if e.on != nil || e.reasons {
		o["parameters"] = append(o["parameters"].([]object), object{"in": "header", "name": reasonHeader, "schema": object{"type": "string"},
			"description": "Why the caller reads rows of others. Required for the role support and above."})
	}
}

func (p *param) described() object {
	schema := object{"type": map[rowkey.Type]string{rowkey.Int: "integer", rowkey.Float: "number", rowkey.Bool: "boolean"}[p.kind]}
	about := p.about
	if schema["type"] == "" {
		schema["type"] = "string"
	}
	if p.timed() {
		schema["type"] = "string"
		about += " RFC 3339, a date, " + when.Counted(p.unit) + " since 1970, or an age such as 2h."
	}
	if p.list {
		schema = object{"type": "array", "items": schema}
	}
	if p.in != "header" && !p.list && schema["type"] == "string" && p.name != query.PageToken {
		schema["minLength"] = 1
	}
	o := object{"in": p.in, "name": p.name, "required": p.required, "schema": schema, "description": about}
	if p.list {
		o["style"], o["explode"] = "form", true
	}
	return o
}

// schemas are the schemas of Go types, by name.
type schemas map[string]any

// of returns the schema of a type. For a struct, it adds the schema and returns a reference.
func (s schemas) of(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return object{} // any value
		}
		list := object{"type": "array", "items": s.of(t.Elem())}
		if t == reflect.TypeFor[client.Values]() {
			return object{"oneOf": []object{{"type": "string"}, list}}
		}
		return list
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		s.add(t)
		return ref(t.Name())
	}
	return object{} // any value
}

// add describes a struct from its tags.
func (s schemas) add(t reflect.Type) {
	if s[t.Name()] != nil {
		return
	}
	properties, required := object{}, []string{}
	s[t.Name()] = object{"type": "object", "properties": properties}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous { // its fields are visible
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := s.of(f.Type)
		if about := f.Tag.Get("doc"); about != "" {
			schema["description"] = about
		}
		properties[name] = schema
		if option != "omitempty" {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		s[t.Name()].(object)["required"] = required
	}
}
