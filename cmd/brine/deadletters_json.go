package main

import (
	"time"
	"unicode/utf8"

	"brine/event"
	"brine/ingest/deadletter"
)

// letterJSON is a letter as JSON. Bytes that are no text are in the fields that end in base64.
type letterJSON struct {
	Pipeline  string       `json:"pipeline"`
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
	Place     string       `json:"place"` // in the topic of dead letters
	Key       *string      `json:"key,omitempty"`
	KeyBytes  []byte       `json:"key_base64,omitempty"`
	Headers   []headerJSON `json:"headers,omitempty"`
	Value     *string      `json:"value,omitempty"`
	Bytes     []byte       `json:"value_base64,omitempty"`
}

type headerJSON struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
	Bytes []byte  `json:"value_base64,omitempty"`
}

// letterObject is the letter of a half; the record's value and headers only when it is asked for whole.
func letterObject(l *deadletter.Kept, name string, whole bool) letterJSON {
	o := letterJSON{Pipeline: name, Group: l.Group, Topic: l.Record.Topic, Partition: l.Record.Partition, Offset: l.Record.Offset,
		Timestamp: l.Record.Timestamp, Reason: l.Reason, Field: l.Field, Detail: l.Detail, Written: l.Time.UTC(),
		Place: l.Place.String()}
	if !l.Replayed.IsZero() {
		o.Replayed = l.Replayed.UTC()
	}
	o.Key, o.KeyBytes = textOrBytes(l.Record.Key)
	if whole {
		o.Value, o.Bytes = textOrBytes(l.Record.Value)
		for _, h := range l.Record.Headers {
			text, bytes := textOrBytes(h.Value)
			o.Headers = append(o.Headers, headerJSON{h.Key, text, bytes})
		}
	}
	return o
}

// textOrBytes returns the text, or the bytes where they are none; neither for null.
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
