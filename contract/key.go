package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"brine/event"
)

// Key describes the records' keys in the language of their format. The error is ErrFormat if nothing is read from keys, or if the language
// cannot describe them.
func (t *Terms) Key() ([]byte, error) {
	if t.KeyText != nil {
		return t.KeyText, nil
	}
	key := t.key()
	switch {
	case key == nil:
		return nil, unfit("no field of pipeline %s is in its records' keys; omit --key", t.Pipeline)
	case t.KeyFormat == Avro:
		schema, err := t.avroKey(t.part(event.InKey))
		if err != nil {
			return nil, err
		}
		return document(schema), nil
	case t.KeyFormat == Protobuf:
		return t.protoKey(t.part(event.InKey))
	}
	return document(append(object{{"$schema", draft2020}, {"title", "Keys of topic " + t.Topic}}, key...)), nil
}

// avroKey returns the smallest Avro schema of a key: a record of the declared fields, or the key's only value.
func (t *Terms) avroKey(root *tree) (any, error) {
	if len(root.children) == 0 {
		return avroScalar(root.field), nil
	}
	return t.avroRecord(root, t.keyName())
}

// protoKey returns the smallest Protobuf message of a key, as a .proto file.
func (t *Terms) protoKey(root *tree) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "// Keys of the records that pipeline %s of brine accepts from topic %s. "+
		"The publisher chooses the field numbers, and must not change them later.\nsyntax = \"proto3\";\n\n", t.Pipeline, t.Topic)
	err := t.message(&b, root, t.keyName(), "")
	return []byte(b.String()), err
}

// keyName is the name of a key's type.
func (t *Terms) keyName() string { return typeName(t.Pipeline) + "Key" }

// keyInJSON describes a key within a document of JSON Schema; nil: nothing is read from keys. JSON Schema does not describe what other
// formats encode, so their schemas are in the description, if they can be made from the fields.
func (t *Terms) keyInJSON() object {
	if t.KeyFormat != Avro && t.KeyFormat != Protobuf {
		return t.key()
	}
	if t.KeyText == nil && t.key() == nil {
		return nil
	}
	said := "In " + t.KeyFormat
	if text, err := t.Key(); err == nil {
		var short bytes.Buffer
		if t.KeyFormat == Avro && json.Compact(&short, text) == nil {
			text = short.Bytes()
		}
		said += ", as this schema describes it: " + strings.TrimSpace(string(text))
	}
	return object{{"description", said}, {"contentMediaType", media[t.KeyFormat]}}
}

// keyInAsyncAPI describes a key within an AsyncAPI document, whose Kafka binding also takes Avro.
func (t *Terms) keyInAsyncAPI() any {
	if t.KeyFormat == Avro {
		if text, err := t.Key(); err == nil && json.Valid(text) {
			return rawJSON(text)
		}
	}
	if key := t.keyInJSON(); key != nil {
		return key
	}
	return object{{"description", "all records of one entity have the same key, so that they stay in order in one partition"}}
}
