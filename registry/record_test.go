package registry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr/srfake"

	"brine/event"
)

func TestOfARecord(t *testing.T) {
	rec := &event.Record{Key: unhex("0000000009aa"), Value: unhex("0000000007bb"), Headers: []event.Header{
		{Key: "__key_schema_id", Value: unhex("000000000a")}, {Key: "x", Value: nil}, {Key: "__key_schema_id", Value: unhex("000000000b")}}}
	if f, err := Confluent.Of(rec, Value); err != nil || f.ID != id(7) {
		t.Errorf("value: %+v, %v", f, err)
	}
	if f, err := Confluent.Of(rec, Key); err != nil || f.ID != id(11) || !f.InHeader {
		t.Errorf("key: %+v, %v", f, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = Confluent.Of(rec, Value) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, err := Confluent.Of(&event.Record{Value: []byte("{}")}, Value); err == nil || err.Reason != event.Undecodable {
		t.Errorf("%v", err)
	}
}

func TestJudge(t *testing.T) {
	f := newFake(t)
	c, at := open(t, Options{URLs: []string{f.URL()}})
	judged := func(c *Client) error {
		_, err := c.Schema(t.Context(), id(8))
		return Judge(err)
	}
	if u, ok := errors.AsType[*event.Unresolved](judged(c)); !ok || u.Verdict != event.Retry || u.Reason != event.Unavailable {
		t.Errorf("%v", u)
	}
	at.Pass(time.Hour)
	if e, ok := errors.AsType[*event.Error](judged(c)); !ok || e.Reason != event.UnknownSchema {
		t.Errorf("%v", e)
	}
	denied, _ := open(t, Options{URLs: []string{newFake(t, srfake.WithAuth("Bearer x")).URL()}})
	if u, ok := errors.AsType[*event.Unresolved](judged(denied)); !ok || u.Verdict != event.Halt || u.Reason != event.Denied {
		t.Errorf("%v", u)
	}
	if err := Judge(context.Canceled); err != context.Canceled { //nolint:errorlint // it must be returned unchanged
		t.Errorf("%v", err)
	}
}

// upper is a format that records what it is to read.
type upper struct{ read, resolved *[]string }

func (u upper) NewReader(*event.Node) event.Reader { return u }

func (u upper) Read(rec *event.Record, _ *event.Builder) *event.Error {
	*u.read = append(*u.read, rec.Topic+" "+string(rec.Value))
	return nil
}

func (u upper) Resolve(_ context.Context, rec *event.Record) error {
	*u.resolved = append(*u.resolved, string(rec.Value))
	return nil
}

func TestUnframed(t *testing.T) {
	var read, resolved []string
	d := event.NewDecoder(event.Schema{Version: -1, Format: Unframed(Confluent, upper{&read, &resolved}), Fields: []event.Field{{Name: "a", Type: event.Text}}})
	for _, c := range []struct{ value, want string }{
		{"0000000007" + "7b7d", ""},
		{"7b7d", "the value begins with 7b7d, not with 00 and a schema id"},
		{"0000000007", "nothing follows id 7"},
	} {
		rec := &event.Record{Topic: "t", Value: unhex(c.value)}
		err := d.Resolve(t.Context(), rec)
		if err == nil {
			err = d.Decode(rec, new(event.Batch))
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
	if len(read) != 1 || read[0] != "t {}" || len(resolved) != 1 || resolved[0] != "{}" {
		t.Errorf("read %q, resolved %q", read, resolved)
	}
}
