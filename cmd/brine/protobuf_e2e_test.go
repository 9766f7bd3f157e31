package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"

	"brine/internal/testenv"
)

// numbersOf returns the field numbers of the nth version's waybill, action, station, at, courier, weight and added field, which differ from
// version to version.
func numbersOf(n int) (numbers [7]int) {
	for i := range numbers {
		numbers[i] = 1 + (i+n)%len(numbers) + n%3*20
	}
	return numbers
}

// behind reports whether another message comes before the scan in the nth version's file, so that records say that theirs is the second.
func behind(n int) bool { return n%4 == 3 }

// stamped reports whether the nth version has a google.protobuf.Timestamp instead of milliseconds.
func stamped(n int) bool { return n%2 == 1 }

// versionInProtobuf returns the nth version of the schema, which it registers: the fields of a scan under varying numbers, at times without
// the courier, with varying other fields, a weight that is widened now and then, and varying kinds of `at`.
func (r *schemaRegistry) versionInProtobuf(n int) (id int) {
	id = n + 1
	if r.inProtobuf[id] {
		return id
	}
	r.inProtobuf[id] = true
	f := numbersOf(n)
	var b strings.Builder
	b.WriteString("syntax = \"proto3\"; package courier;\nimport \"google/protobuf/timestamp.proto\";\n")
	if behind(n) {
		b.WriteString("message Courier { string waybill = 1; }\n")
	}
	at := "int64"
	if stamped(n) {
		at = "google.protobuf.Timestamp"
	}
	weight := map[string]string{"int": "int32", "long": "int64"}[widthOf(n)]
	if weight == "" {
		weight = widthOf(n)
	}
	fmt.Fprintf(&b, "message Scan { // version %d\n  enum Action { DEPART = 0; ARRIVE = 1; CANCEL = 2; }\n  string waybill = %d;\n  Action action = %d;\n"+
		"  optional string station = %d;\n  %s at = %d;\n  %s weight = %d;\n", n, f[0], f[1], f[2], at, f[3], weight, f[5])
	if !courierless(n) {
		fmt.Fprintf(&b, "  optional string courier = %d;\n", f[4])
	}
	if n%3 == 0 {
		fmt.Fprintf(&b, "  repeated int32 added%d = %d;\n", n, f[6])
	}
	b.WriteString("}\n")
	r.SeedSchema(r.subject, id, id, sr.Schema{Schema: b.String(), Type: sr.TypeProtobuf})
	return id
}

var changingProtobuf = changing{
	"protobuf",
	func(t *testing.T, r *schemaRegistry, n int, scan []byte) []byte {
		t.Helper()
		id, f, v := r.versionInProtobuf(n), numbersOf(n), newScanOf(t, n, scan)
		action := map[string]int{"DEPART": 0, "ARRIVE": 1, "CANCEL": 2}[v.Action]
		fields := []any{f[0], v.Waybill, f[1], action, f[5], v.Weight}
		if stamped(n) {
			fields = append(fields, f[3], testenv.Protobuf(1, v.At/1000, 2, v.At%1000*1_000_000+7))
		} else {
			fields = append(fields, f[3], v.At)
		}
		if v.Station != nil {
			fields = append(fields, f[2], *v.Station)
		}
		if v.Courier != nil {
			fields = append(fields, f[4], *v.Courier)
		}
		if n%3 == 0 {
			fields = append(fields, f[6], n)
		}
		frame := []byte{0, 0, 0, byte(id >> 8), byte(id), 0}
		if behind(n) {
			frame = append(frame[:5], 2, 2) // one index: 1
		}
		return append(frame, testenv.Protobuf(fields...)...)
	},
	sr.Schema{Schema: `syntax = "proto3"; package courier; message Scan { string waybill = 1; bool at = 2; string station = 3; }`, Type: sr.TypeProtobuf},
	"it is declared time_ms, but at of the message is bool",
	"the schema has nothing at courier",
}

// TestProtobufSchemasChange is TestAvroSchemasChange for Protobuf, whose schemas say by which numbers fields go, and whose records say which
// message of the schema they are.
func TestProtobufSchemasChange(t *testing.T) {
	t.Parallel()
	testSchemasChange(t, changingProtobuf)
}
