package registry

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"brine/event"
)

func TestOfARecord(t *testing.T) {
	c, _ := open(t, Options{URLs: []string{"http://127.0.0.1:1"}})
	rec := &event.Record{Key: unhex("0000000009aa"), Value: unhex("0000000007bb"), Headers: []event.Header{
		{Key: "__key_schema_id", Value: unhex("000000000a")}, {Key: "x", Value: nil}, {Key: "__key_schema_id", Value: unhex("000000000b")}}}
	if f, err := c.Of(rec, Value); err != nil || f.ID != id(7) {
		t.Errorf("value: %+v, %v", f, err)
	}
	if f, err := c.Of(rec, Key); err != nil || f.ID != id(11) || !f.InHeader {
		t.Errorf("key: %+v, %v", f, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Of(rec, Value) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, err := c.Of(&event.Record{Value: []byte("{}")}, Value); err == nil || err.Reason != event.Undecodable {
		t.Errorf("%v", err)
	}
}

func TestAwait(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	c, at := open(t, Options{URLs: []string{f.URL()}})
	if s, err := c.Await(t.Context(), id(7)); err != nil || s.Text != userSchema {
		t.Errorf("%v, %v", s, err)
	}
	_, err := c.Await(t.Context(), id(8))
	if u, ok := errors.AsType[*event.Unresolved](err); !ok || u.Verdict != event.Retry || u.Reason != event.Unavailable {
		t.Errorf("%v", err)
	}
	at.move(time.Hour)
	_, err = c.Await(t.Context(), id(8))
	if e, ok := errors.AsType[*event.Error](err); !ok || e.Reason != event.UnknownSchema {
		t.Errorf("%v", err)
	}
	denied, _ := open(t, Options{URLs: []string{newFake(t, srfake.WithAuth("Bearer x")).URL()}})
	_, err = denied.Await(t.Context(), id(7))
	if u, ok := errors.AsType[*event.Unresolved](err); !ok || u.Verdict != event.Halt || u.Reason != event.Denied {
		t.Errorf("%v", err)
	}
}
