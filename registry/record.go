package registry

import (
	"context"
	"errors"

	"brine/event"
)

// Of reads the framing of a part of a record. It is pure; an error is the record's reject.
func (c *Client) Of(rec *event.Record, part Part) (Framed, *event.Error) {
	data := rec.Value
	if part == Key {
		data = rec.Key
	}
	var header func(name string) ([]byte, bool)
	if len(rec.Headers) > 0 {
		header = func(name string) ([]byte, bool) { return lastHeader(rec, name) }
	}
	f, err := c.o.Framing.Frame(part, data, header)
	if err != nil {
		return Framed{}, &event.Error{Reason: event.Undecodable, Detail: err.Error()}
	}
	return f, nil
}

// lastHeader returns the last header of a name.
func lastHeader(rec *event.Record, name string) ([]byte, bool) {
	for i := len(rec.Headers) - 1; i >= 0; i-- {
		if rec.Headers[i].Key == name {
			return rec.Headers[i].Value, true
		}
	}
	return nil, false
}

// Await returns the schema of an id, as a Resolver of records needs it: what it cannot have is an *event.Unresolved, with the verdict over the
// record that waits, the error of ctx, or, where no schema will ever come, the *event.Error by which records of the id are rejected. The caller
// keeps what it makes of the schema for as long as it reads records of the id: the client may let it go.
func (c *Client) Await(ctx context.Context, id ID) (*Schema, error) {
	s, err := c.Schema(ctx, id)
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return s, err
	case e.Outcome == Unknown:
		return nil, &event.Error{Reason: event.UnknownSchema, Detail: e.Error()}
	case e.Outcome == Denied:
		return nil, &event.Unresolved{Verdict: event.Halt, Reason: event.Denied, Err: e}
	}
	return nil, &event.Unresolved{Verdict: event.Retry, Reason: event.Unavailable, Err: e}
}
