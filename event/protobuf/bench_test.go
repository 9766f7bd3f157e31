package protobuf

import (
	"errors"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
	"brine/registry"
)

const (
	eight = `id:"UA-1545-20130101-EWR" i64:1545 total:1400.5 paid:true status:PAID user_name:"Newark Liberty Intl" at:{seconds:1357034220 nanos:5} first:{sku:"N14228"}`
	named = "id text\ni64 int\ntotal float\npaid bool\nstatus text\nuser_name text\nat time_ms\nsku text first.sku"
)

// BenchmarkRead is the comparison in docs/adr: eight fields read by a plan, and by dynamicpb.
func BenchmarkRead(b *testing.B) {
	m := order(b)
	fields, in := declare(b, named), encode(b, m, eight)
	b.Run("plan", func(b *testing.B) {
		d, batch := event.NewDecoder(event.Schema{Fields: fields, Version: 6, Format: m}), new(event.Batch)
		rec := &event.Record{Value: in, Timestamp: 1357034220000}
		b.ReportAllocs()
		for b.Loop() {
			if len(batch.Events) == 1000 {
				d.Reset(batch)
			}
			if err := d.Decode(rec, batch); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plan by a registry", func(b *testing.B) {
		text, err := os.ReadFile("testdata/shop.proto")
		imported, err2 := os.ReadFile("testdata/legacy.proto")
		if err := errors.Join(err, err2); err != nil {
			b.Fatal(err)
		}
		format := Registered(registry.Confluent, &single{&registry.Schema{Type: registry.Protobuf, Text: string(text),
			References: []registry.Reference{{Name: "legacy.proto", Text: string(imported)}}}})
		d, batch := event.NewDecoder(event.Schema{Fields: fields, Version: 6, Format: format}), new(event.Batch)
		rec := &event.Record{Value: frame(5, []byte{2, byte(2 * m.desc.Index())}, in), Timestamp: 1357034220000}
		ctx := b.Context()
		b.ReportAllocs()
		for b.Loop() {
			if len(batch.Events) == 1000 {
				d.Reset(batch)
			}
			if err := d.Resolve(ctx, rec); err != nil {
				b.Fatal(err)
			}
			if err := d.Decode(rec, batch); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dynamicpb", func(b *testing.B) {
		var wanted []protoreflect.FieldDescriptor
		for _, f := range fields[:7] {
			wanted = append(wanted, m.desc.Fields().ByName(protoreflect.Name(f.Name)))
		}
		b.ReportAllocs()
		for b.Loop() {
			d := dynamicpb.NewMessage(m.desc)
			if err := proto.Unmarshal(in, d); err != nil {
				b.Fatal(err)
			}
			for _, fd := range wanted {
				if !d.Get(fd).IsValid() {
					b.Fatal(fd.Name())
				}
			}
		}
	})
}

// The fields of the benchmark, and elements and values of maps, allocate nothing once a batch has its size.
func TestReadingAllocatesNothing(t *testing.T) {
	m := order(t)
	for fields, text := range map[string]string{
		named: eight,
		"a text words.1\nb int deltas.1\nc text labels.k\nd text by_number.7.sku\ne text nick\nf text item.note\ng text lines.0.sku": `words:"a" words:"b" deltas:[1,2] labels:{key:"k" value:"v"} by_number:{key:7 value:{sku:"s"}} nick:{value:"n"} item:{} lines:{sku:"s"}`,
	} {
		d, batch := event.NewDecoder(event.Schema{Fields: declare(t, fields), Version: -1, Format: m}), new(event.Batch)
		rec := &event.Record{Value: encode(t, m, text), Timestamp: 1357034220000}
		n := testing.AllocsPerRun(100, func() {
			d.Reset(batch)
			for range 10 {
				if err := d.Decode(rec, batch); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n > 0 {
			t.Errorf("%s: %.1f allocations for ten events", text, n)
		}
	}
}
