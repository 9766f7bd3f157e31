package protobuf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"
	"google.golang.org/protobuf/encoding/protowire"

	"brine/event"
	"brine/registry"
)

const (
	commonText = `syntax = "proto3"; package shop; message Place { string city = 1; }`
	firstText  = `syntax = "proto3"; package shop; import "common.proto"; import "confluent/meta.proto";
message Other { string name = 1; message Inner { string id = 7 [(confluent.field_meta).doc = "x"]; } }
message Order { string id = 1; Place at = 2; int64 n = 3; }`
	secondText = `syntax = "proto3"; package shop; message Order { int64 n = 1; string id = 9; string more = 2; }`
)

// hangs is the status of a registry that does not answer.
const hangs = -1

// asked is a registry, a client of it, and a count of requests for schemas.
type asked struct {
	*srfake.Registry
	client *registry.Client
	status atomic.Int32 // of every answer, unless 0
	count  atomic.Int32
	first  int
	second int
	avro   int
	broken int
}

func newRegistry(t *testing.T) *asked {
	t.Helper()
	a := &asked{Registry: srfake.New()}
	t.Cleanup(a.Close)
	a.Intercept(func(w http.ResponseWriter, req *http.Request) bool {
		a.count.Add(1)
		switch s := a.status.Load(); s {
		case 0:
			return false
		case hangs:
			<-req.Context().Done()
		default:
			http.Error(w, `{"error_code":1,"message":"later"}`, int(s)) // garbage if the status is OK
		}
		return true
	})
	client, err := sr.NewClient(sr.URLs(a.URL()))
	if err != nil {
		t.Fatal(err)
	}
	register := func(subject string, s sr.Schema) int {
		out, err := client.CreateSchema(context.Background(), subject, s)
		if err != nil {
			t.Fatal(err)
		}
		return out.ID
	}
	register("common", sr.Schema{Schema: commonText, Type: sr.TypeProtobuf})
	a.first = register("orders", sr.Schema{Schema: firstText, Type: sr.TypeProtobuf, References: []sr.SchemaReference{{Name: "common.proto", Subject: "common", Version: 1}}})
	a.second = register("orders2", sr.Schema{Schema: secondText, Type: sr.TypeProtobuf})
	a.avro = register("avro", sr.Schema{Schema: `"string"`})
	a.broken = register("broken", sr.Schema{Schema: `syntax = "proto3"; message A { Nowhere x = 1; }`, Type: sr.TypeProtobuf})
	if a.client, err = registry.New(registry.Options{URLs: []string{a.URL()}, UnknownAfter: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.client.Close)
	return a
}

// frame puts an id and message indexes before a message.
func frame(id int, indexes []byte, body []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(id))
	return append(append(b, indexes...), body...)
}

func body(t testing.TB, text, message, fields string) []byte {
	t.Helper()
	s, err := CompileText("x.proto", text, map[string]string{"common.proto": commonText})
	if err != nil {
		t.Fatal(err)
	}
	return encode(t, s.Message(message), fields)
}

// one resolves and decodes a record and returns the values of its fields, or the failure.
func one(d *event.Decoder, fields []event.Field, value []byte, headers ...event.Header) string {
	rec := &event.Record{Value: value, Timestamp: 1e12, Headers: headers}
	b := new(event.Batch)
	if err := d.Resolve(context.Background(), rec); err != nil {
		if u, ok := errors.AsType[*event.Unresolved](err); ok {
			return fmt.Sprintf("verdict %d: %s", u.Verdict, u.Reason)
		}
		return err.Error()
	}
	if err := d.Decode(rec, b); err != nil {
		return err.Error()
	}
	var out []string
	for i, v := range b.Events[0].Values {
		out = append(out, fields[i].Name+"="+show(v))
	}
	return strings.Join(out, " ")
}

func TestRegistered(t *testing.T) {
	a := newRegistry(t)
	fields := declare(t, "id text\nn int\ncity text at.city\nname text")
	d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: Registered(registry.Confluent, a.client)})
	order := body(t, firstText, "Order", `id:"a" at:{city:"Oslo"} n:3`)
	guid := event.Header{Key: "__value_schema_id", Value: append([]byte{0}, binary.BigEndian.AppendUint32(nil, uint32(a.second))...)}
	cases := []struct {
		name    string
		value   []byte
		headers []event.Header
		want    string
	}{
		{"the second message", frame(a.first, []byte{2, 2}, order), nil, `id="a" n=3 city="Oslo" name=-`},
		{"the first, in short", frame(a.first, []byte{0}, body(t, firstText, "Other", `name:"o"`)), nil, `id=- n=- city=- name="o"`},
		{"the first", frame(a.first, []byte{2, 0}, nil), nil, `id=- n=- city=- name=""`},
		{"one within another", frame(a.first, []byte{4, 0, 0}, body(t, firstText, "Other.Inner", `id:"i"`)), nil, `id="i" n=- city=- name=-`},
		{"another schema, in which fields have other numbers", frame(a.second, []byte{0}, body(t, secondText, "Order", `id:"b" n:4`)), nil, `id="b" n=4 city=- name=-`},
		{"an id in a header", body(t, secondText, "Order", `id:"h" n:5`), []event.Header{{Key: "__value_schema_id", Value: []byte{9}}, {Key: guid.Key, Value: append(guid.Value, 0)}}, `id="h" n=5 city=- name=-`},
		{"an id in a header, beside a value that begins with another", frame(a.first, []byte{2, 2}, order), []event.Header{{Key: guid.Key, Value: append(guid.Value, 0)}}, fmt.Sprintf("undecodable: there is no field tag, at byte 0 of 20; it was written with the schema of id %d (orders2 v1)", a.second)},
		{"no such message", frame(a.first, []byte{2, 4}, order), nil, fmt.Sprintf("undecodable: the schema of id %d has no message where the record points", a.first)},
		{"no indexes", frame(a.first, nil, nil), nil, "undecodable: the message indexes behind the schema's id cannot be read; use the registry's Protobuf serializer; for another format, declare that format"},
		{"another type", frame(a.avro, []byte{0}, order), nil, fmt.Sprintf("undecodable: the schema of id %d (avro v1) cannot be used: it is of type AVRO; declare the format avro", a.avro)},
		{"one that does not compile", frame(a.broken, []byte{0}, order), nil, fmt.Sprintf("undecodable: the schema of id %d (broken v1) cannot be used: schema.proto:1:32: field A.x: unknown type Nowhere; check whether protoc compiles it", a.broken)},
		{"another magic byte", []byte{7, 0, 0, 0, 1, 0}, nil, "undecodable: the value begins with 070000000100, not with 00 and a schema id; use a registry's serializer, or declare the record's actual format"},
		{"cut off in the message", frame(a.second, []byte{0}, []byte{8}), nil, fmt.Sprintf("undecodable: the message ends within field number 1, at byte 0 of 1; it was written with the schema of id %d (orders2 v1)", a.second)},
	}
	for _, before := range cases { // each after each: a reader remembers how the record before began
		for _, c := range cases {
			one(d, fields, before.value, before.headers...)
			if got := one(d, fields, c.value, c.headers...); got != c.want {
				t.Errorf("%s, after %s:\ngot  %s\nwant %s", c.name, before.name, got, c.want)
			}
		}
	}
	if got := one(d, fields, frame(9999, []byte{0}, order)); !strings.HasPrefix(got, "unknown_schema: schema registry: schema of id 9999 is unknown: ") {
		t.Error(got)
	}
	// Known schemas need no registry, also in a reader of another partition.
	a.status.Store(http.StatusInternalServerError)
	before := a.count.Load()
	if got := one(d, fields, frame(a.first, []byte{2, 2}, order)); got != `id="a" n=3 city="Oslo" name=-` || a.count.Load() != before {
		t.Error(got)
	}
}

// A registry that is away is waited for, one that refuses us halts the partition, and neither loses a record.
func TestRegisteredOutages(t *testing.T) {
	fields := declare(t, "id text\nn int")
	waits, halts := fmt.Sprintf("verdict %d: unavailable", event.Retry), fmt.Sprintf("verdict %d: denied", event.Halt)
	for status, want := range map[int32]string{hangs: waits, http.StatusOK: waits, 500: waits, 429: waits, 404: waits, 401: halts, 403: halts} {
		a := newRegistry(t)
		patience := time.Minute
		if status == hangs {
			patience = 200 * time.Millisecond
		}
		client, err := registry.New(registry.Options{URLs: []string{a.URL()}, Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: Registered(registry.Confluent, client)})
		a.status.Store(status)
		value := frame(a.second, []byte{0}, body(t, secondText, "Order", `id:"b" n:4`))
		got := one(d, fields, value)
		if got != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
		a.status.Store(0)
		for began := time.Now(); time.Since(began) < time.Minute; {
			if got = one(d, fields, value); got == `id="b" n=4` {
				break
			}
		}
		if got != `id="b" n=4` {
			t.Errorf("%d: afterwards %s", status, got)
		}
	}
}

// Apicurio writes the name of the message before it, or nothing.
func TestRegisteredByName(t *testing.T) {
	a := &single{schema: &registry.Schema{ID: registry.ID{Kind: registry.ContentID, Number: 5}, Type: registry.Protobuf, Text: firstText,
		References: []registry.Reference{{Name: "common.proto", Text: commonText}}}}
	fields := declare(t, "id text\nname text")
	d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: Registered(registry.Apicurio, a)})
	ref := func(name string) []byte {
		b := holding(1, []byte(name))
		return append([]byte{byte(len(b))}, b...)
	}
	order := body(t, firstText, "Order", `id:"a"`)
	for _, c := range []struct {
		name  string
		value []byte
		want  string
	}{
		{"by its name", frame(5, ref("Order"), order), `id="a" name=-`},
		{"with its whole path", frame(5, ref("shop.Order"), order), `id="a" name=-`},
		{"without one", frame(5, nil, holding(1, []byte("o"))), `id=- name="o"`},
		{"by a name of nothing", frame(5, nil, holding(1, []byte("abcdefg"))), `id=- name="abcdefg"`},
	} {
		if got := one(d, fields, c.value); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	got := one(d, fields, order, event.Header{Key: "apicurio.value.contentId", Value: []byte{0, 0, 0, 0, 0, 0, 0, 5}}, event.Header{Key: "apicurio.protobuf.type", Value: []byte("Order")})
	if got != `id="a" name=-` {
		t.Error(got)
	}
}

type single struct{ schema *registry.Schema }

func (n *single) Schema(context.Context, registry.ID) (*registry.Schema, error) { return n.schema, nil }

// 1,000 schemas, each read by its own, with no more plans than allowed.
func TestRegisteredManySchemas(t *testing.T) {
	f := Registered(registry.Confluent, many{}).(*registered)
	fields := declare(t, "id text")
	d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: f})
	for i := 1; i <= 3000; i += 2 {
		number := i%500 + 1
		if got, want := one(d, fields, frame(i, []byte{0}, holding(protowire.Number(number), []byte("x")))), `id="x"`; got != want {
			t.Fatalf("%d: got %s, want %s", i, got, want)
		}
	}
	if len(f.schemas) > maxSchemas {
		t.Error(len(f.schemas))
	}
}

type many struct{}

func (many) Schema(_ context.Context, id registry.ID) (*registry.Schema, error) {
	return &registry.Schema{ID: id, Type: registry.Protobuf, Text: fmt.Sprintf(`syntax = "proto3"; message A { string id = %d; }`, id.Number%500+1)}, nil
}

func TestRegisteredAllocatesNothing(t *testing.T) {
	fields := declare(t, "id text\nn int")
	s := event.Schema{Fields: fields, Version: -1, Format: Registered(registry.Confluent, &single{&registry.Schema{Type: registry.Protobuf, Text: secondText}})}
	rec := &event.Record{Value: frame(5, []byte{0}, body(t, secondText, "Order", `id:"b" n:4`)), Timestamp: 1e12}
	if n := allocsForTen(t, s, rec, new(event.Batch)); n > 0 {
		t.Errorf("%.1f allocations for ten events", n)
	}
}

// allocsForTen returns how often ten decodings of a record into a batch allocate.
func allocsForTen(t *testing.T, s event.Schema, rec *event.Record, batch *event.Batch) float64 {
	d := event.NewDecoder(s)
	return testing.AllocsPerRun(100, func() {
		d.Reset(batch)
		for range 10 {
			if err := d.Resolve(context.Background(), rec); err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(rec, batch); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Keys are read as values are, but their own headers name the schema and the message.
func TestKeys(t *testing.T) {
	a := newRegistry(t)
	fields := declare(t, "id text\nn int")
	for i := range fields {
		fields[i].Place, fields[i].Path = event.InKey, []string{fields[i].Name}
	}
	order := body(t, firstText, "Order", `id:"a" n:3`)
	id := binary.BigEndian.AppendUint32([]byte{0}, uint32(a.first))
	schema, err := CompileText("order.proto", secondText, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := &single{schema: &registry.Schema{ID: registry.ID{Kind: registry.ContentID, Number: 5}, Type: registry.Protobuf, Text: firstText,
		References: []registry.Reference{{Name: "common.proto", Text: commonText}}}}
	content := event.Header{Key: "apicurio.key.contentId", Value: []byte{0, 0, 0, 0, 0, 0, 0, 5}}
	for _, c := range []struct {
		name    string
		format  event.Format
		key     []byte
		headers []event.Header
		want    string
	}{
		{"by its frame", Registered(registry.Confluent, a.client), frame(a.first, []byte{2, 2}, order), nil, "a 3"},
		{"by its header", Registered(registry.Confluent, a.client), order,
			[]event.Header{{Key: "__value_schema_id", Value: []byte{9}}, {Key: "__key_schema_id", Value: append(id, 2, 2)}}, "a 3"},
		{"by Apicurio's headers", Registered(registry.Apicurio, one), order,
			[]event.Header{content, {Key: "apicurio.protobuf.type", Value: []byte("Other")}, {Key: "apicurio.protobuf.type.key", Value: []byte("Order")}}, "a 3"},
		{"by a file", schema.Message("Order"), body(t, secondText, "Order", `id:"b" n:4`), nil, "b 4"},
		{"another magic byte", Registered(registry.Confluent, a.client), []byte{7, 0, 0, 0, 1, 0}, nil, "undecodable: field $key: the key begins with 070000000100"},
		{"no key", Registered(registry.Confluent, a.client), nil, nil, "null null"},
	} {
		d := event.NewDecoder(event.Schema{Fields: append(fields, event.Field{Name: "gone", Type: event.Bool}), Version: -1, KeyFormat: c.format,
			Tombstones: true, Images: event.Images{Deleted: "gone"}})
		rec := &event.Record{Key: c.key, Headers: c.headers, Timestamp: 1e12}
		if err := d.Resolve(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		got, b := "", new(event.Batch)
		if err := d.Decode(rec, b); err != nil {
			got = err.Error()
		} else if v := b.Events[0].Values; v[0].Null() {
			got = "null null"
		} else {
			got = fmt.Sprintf("%s %d", v[0].Text(), v[1].Int())
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
