package deadletter

import (
	"time"
	"unicode/utf8"

	"brine/event"
)

// Object is a dead letter as JSON. Bytes that are not text go into the fields ending in base64.
type Object struct {
	Pipeline  string       `json:"pipeline"` // whose writer rejected it
	Group     string       `json:"group"`
	Topic     string       `json:"topic"`
	Partition int          `json:"partition"`
	Offset    int64        `json:"offset"`
	Timestamp int64        `json:"timestamp"` // the record's, ms since 1970
	Reason    event.Reason `json:"reason"`
	Field     string       `json:"field,omitempty"`
	Detail    string       `json:"detail,omitempty"`
	Written   time.Time    `json:"written"`
	Replayed  time.Time    `json:"replayed,omitzero"`
	Let       string       `json:"let,omitempty"` // what the record was fixed by when it was replayed
	Place     string       `json:"place"`         // in the topic of dead letters
	Key       *string      `json:"key,omitempty"`
	KeyBytes  []byte       `json:"key_base64,omitempty"`
	Headers   []Header     `json:"headers,omitempty"`
	Value     *string      `json:"value,omitempty"`

	// Instead of key, headers and value, if the pipeline masks fields.
	KeyHidden   string         `json:"key_hidden,omitempty"`
	ValueHidden string         `json:"value_hidden,omitempty"`
	Fields      map[string]any `json:"fields,omitempty"`

	Bytes []byte `json:"value_base64,omitempty"`
}

// Header is a record's header as JSON.
type Header struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
	Bytes []byte  `json:"value_base64,omitempty"`
}

// Object returns the dead letter of a pipeline as JSON, with the record's value and headers only if whole is set.
func (k *Kept) Object(pipeline string, whole bool) Object {
	o := Object{Pipeline: pipeline, Group: k.Group, Topic: k.Record.Topic, Partition: k.Record.Partition, Offset: k.Record.Offset,
		Timestamp: k.Record.Timestamp, Reason: k.Reason, Field: k.Field, Detail: k.Detail, Written: k.Time.UTC(),
		Place: k.Place.String()}
	if !k.Replayed.IsZero() {
		o.Replayed, o.Let = k.Replayed.UTC(), k.Let
	}
	o.Key, o.KeyBytes = textOrBytes(k.Record.Key)
	if whole {
		o.Value, o.Bytes = textOrBytes(k.Record.Value)
		for _, h := range k.Record.Headers {
			text, bytes := textOrBytes(h.Value)
			o.Headers = append(o.Headers, Header{h.Key, text, bytes})
		}
	}
	return o
}

// textOrBytes returns b as text, or as bytes if it is not text; neither for null.
func textOrBytes(b []byte) (*string, []byte) {
	switch {
	case b == nil:
		return nil, nil
	case utf8.Valid(b):
		text := string(b)
		return &text, nil
	}
	return nil, b
}

// SumObject is a Sum as JSON.
type SumObject struct {
	Pipeline string       `json:"pipeline,omitempty"`
	Reason   event.Reason `json:"reason,omitempty"`
	Field    string       `json:"field,omitempty"`
	Schema   string       `json:"schema,omitempty"`
	Other    bool         `json:"other,omitempty"` // all kinds for which there was no room
	Letters  int          `json:"letters"`
	Replayed int          `json:"replayed,omitempty"`
	First    time.Time    `json:"first"`
	Last     time.Time    `json:"last"`
	Example  string       `json:"example"` // the place of the last one's record
}

// Object returns the total of a pipeline's dead letters of one kind as JSON. several reports whether the pipeline reads several topics.
func (s *Sum) Object(pipeline string, several bool) SumObject {
	return SumObject{pipeline, s.Reason, s.Field, s.Schema, s.Other, s.Letters, s.Replayed, s.First, s.Last, s.Example.Among(several)}
}
