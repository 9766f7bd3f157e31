package registry

import (
	"testing"

	"brine/event"
)

// BenchmarkRecord measures the cost of every record before its decoder: its framing and the lookup of its schema.
func BenchmarkRecord(b *testing.B) {
	c, err := New(Options{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for n := range 1000 {
		c.memory.put(&Schema{ID: id(int64(n)), Type: Avro, Text: userSchema})
	}
	c.memory.put(&Schema{ID: guidID(), Type: Avro, Text: userSchema})
	for name, rec := range map[string]*event.Record{
		"prefix": {Value: unhex("0000000007aabb")},
		"header": {Value: unhex("aabb"), Headers: []event.Header{{Key: "__value_schema_id", Value: unhex("01" + someGUID)}, {Key: "traceparent"}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := Confluent.Of(rec, Value)
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := c.Lookup(f.ID); !ok {
					b.Fatal(f.ID)
				}
			}
		})
	}
}
