package contract

import (
	"errors"
	"fmt"
)

// media are the content types of records.
var media = map[string]string{JSON: "application/json", JSONArray: "application/json", CSV: "text/csv", Raw: "application/octet-stream",
	Avro: "application/vnd.apache.avro", Protobuf: "application/x-protobuf"}

// security are the types of AsyncAPI's security schemes by SASL mechanism.
var security = map[string]string{"plain": "plain", "scram-sha-256": "scramSha256", "scram-sha-512": "scramSha512",
	"gssapi": "gssapi"}

// draft07 is the version of JSON Schema that every tool for AsyncAPI reads.
const draft07 = "application/schema+json;version=draft-07"

// AsyncAPI returns an AsyncAPI 3.0 document in JSON of the topics, their brokers and their records.
func (t *Terms) AsyncAPI() ([]byte, error) {
	payload, err := t.payload()
	if err != nil {
		return nil, err
	}
	message := object{{"name", t.Pipeline}, {"summary", t.about()}, {"contentType", media[t.Format]}}
	if payload != nil {
		message = message.with("payload", payload)
	}
	var beside object
	if headers := t.headers(); headers != nil {
		beside = beside.with("headers", headers)
	}
	beside = beside.with("bindings", object{{"kafka", object{{"key", t.keyInAsyncAPI()}, {"bindingVersion", "0.5.0"}}}})
	message = append(message, beside...)
	servers, schemes := t.servers()
	messages := object{{t.Pipeline, message}}
	if t.Schema.Tombstones {
		messages = messages.with(t.tombstone(), append(object{{"name", t.tombstone()}, {"summary", deletes},
			{"payload", object{{"schemaFormat", draft07}, {"schema", object{{"type", "null"}}}}}}, beside...))
	}
	components := object{{"messages", messages}}
	if schemes != nil {
		components = components.with("securitySchemes", schemes)
	}
	var refs []any
	for _, s := range servers {
		refs = append(refs, object{{"$ref", "#/servers/" + s.name}})
	}
	channels, operations := t.channels(refs)
	return document(object{
		{"asyncapi", "3.0.0"},
		{"info", object{{"title", "Topic " + t.Topic}, {"version", "1.0.0"},
			{"description", "Records that pipeline " + t.Pipeline + " of brine accepts."}}},
		{"defaultContentType", media[t.Format]},
		{"servers", servers},
		{"channels", channels},
		{"operations", operations},
		{"components", components},
	}), nil
}

// tombstone is the name of the message without a payload.
func (t *Terms) tombstone() string { return t.Pipeline + "_tombstone" }

// channels describes each topic as a channel, and receiving from it as an operation. If a pattern selects the topics, the only channel has
// no address, as AsyncAPI requires for addresses that are known only at run time.
func (t *Terms) channels(servers []any) (channels, operations object) {
	names := []string{t.Pipeline}
	if t.Schema.Tombstones {
		names = append(names, t.tombstone())
	}
	add := func(name string, address any, bindings object) {
		var messages object
		var received []any
		for _, m := range names {
			messages = messages.with(m, object{{"$ref", "#/components/messages/" + m}})
			received = append(received, object{{"$ref", "#/channels/" + name + "/messages/" + m}})
		}
		channels = channels.with(name, object{{"address", address}, {"servers", servers}, {"messages", messages}, {"bindings", bindings}})
		operations = operations.with("receive_"+name, object{{"action", "receive"}, {"channel", object{{"$ref", "#/channels/" + name}}},
			{"messages", received}})
	}
	for _, topic := range t.Topics {
		name := topic
		if len(t.Topics) == 1 {
			name = t.Pipeline
		}
		add(name, topic, object{{"kafka", object{{"topic", topic}, {"bindingVersion", "0.5.0"}}}})
	}
	if len(t.Topics) == 0 {
		add(t.Pipeline, nil, object{{"kafka", object{{"bindingVersion", "0.5.0"}}}})
	}
	return channels, operations
}

// payload describes the records' values in the language of their format; nil: none can.
func (t *Terms) payload() (any, error) {
	switch t.Format {
	case Avro:
		return t.foreign("application/vnd.apache.avro+json;version=1.9.0", t.Avro)
	case Protobuf:
		return t.foreign("application/vnd.google.protobuf;version=3", t.Proto)
	}
	value, err := t.value()
	if err != nil || value == nil {
		return nil, err
	}
	return object{{"schemaFormat", draft07}, {"schema", t.plain(value)}}, nil
}

// plain returns a schema without keywords that draft 07 names differently.
func (t *Terms) plain(v any) any {
	switch v := v.(type) {
	case object:
		var out object
		for _, m := range v {
			if m.name == "prefixItems" {
				m.name = "items"
			}
			out = append(out, member{m.name, t.plain(m.value)})
		}
		return out
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, t.plain(e))
		}
		return out
	}
	return v
}

// foreign returns a schema in a language other than JSON Schema, or nothing if it cannot be made from the fields.
func (t *Terms) foreign(media string, made func() ([]byte, error)) (any, error) {
	text, err := made()
	switch {
	case errors.Is(err, ErrFormat):
		return nil, nil
	case err != nil:
		return nil, err
	case t.Format == Avro:
		return object{{"schemaFormat", media}, {"schema", rawJSON(text)}}, nil
	}
	return object{{"schemaFormat", media}, {"schema", string(text)}}, nil
}

type rawJSON []byte

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// servers describes the brokers, and how publishers authenticate.
func (t *Terms) servers() (servers, schemes object) {
	for i, s := range t.Servers {
		protocol := "kafka"
		if s.Encrypted {
			protocol = "kafka-secure"
		}
		server := object{{"host", s.Address}, {"protocol", protocol}}
		if kind := security[s.Mechanism]; kind != "" {
			server = server.with("security", []any{object{{"$ref", "#/components/securitySchemes/sasl"}}})
			schemes = object{{"sasl", object{{"type", kind}}}}
		}
		servers = servers.with(fmt.Sprintf("kafka%d", i+1), server)
	}
	return servers, schemes
}
