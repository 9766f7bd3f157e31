package protobuf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// longTags rewrites a message so that the tags of its fields have one byte more than they need, as a writer may have them. No tag is then
// read the quick way if it had two bytes.
func longTags(t *testing.T, p []byte) (out []byte) {
	t.Helper()
	for len(p) > 0 {
		number, wire, n := protowire.ConsumeTag(p)
		size := protowire.ConsumeFieldValue(number, wire, p[max(n, 0):])
		if n < 0 || size < 0 {
			t.Fatalf("%x is no message", p)
		}
		tag := slices.Clone(p[:n])
		tag[n-1] |= 0x80
		out = append(append(append(out, tag...), 0), p[n:n+size]...)
		p = p[n+size:]
	}
	return out
}

// outcome is what a decoder makes of a message, for comparison.
func outcome(d *event.Decoder, value []byte) string {
	var batch event.Batch
	if err := d.Decode(&event.Record{Value: value, Timestamp: 1357034220000}, &batch); err != nil {
		return err.Error()
	}
	return fmt.Sprint(batch.Events[0].Values)
}

// What is read the quick way is what is read otherwise.
func TestQuickFieldsAreThoseReadInFull(t *testing.T) {
	m := order(t)
	fields := declare(t, named+"\ni32 int\nf32 int\nf64 int\nsingle float\nraw bytes\nnote text\ndeltas int deltas.1\nfar text\ntook float\nnick text")
	d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: m})
	for _, text := range []string{eight, eight + ` i32:-1 f32:7 f64:8 single:1.5 raw:"\377" note:"" deltas:[1,2] far:"away" took:{seconds:1 nanos:5} nick:{value:"n"}`,
		`id:"a" first:{} at:{}`, `user_name:"` + fmt.Sprintf("%0200d", 1) + `" i64:-5 first:{sku:"` + fmt.Sprintf("%0300d", 2) + `"}`} {
		in := encode(t, m, text)
		for _, p := range [][]byte{in, slices.Concat(in, in)} {
			if got, want := outcome(d, p), outcome(d, longTags(t, p)); got != want {
				t.Errorf("%s: %s, with longer tags %s", text, got, want)
			}
		}
		for end := range in {
			var batch event.Batch
			err, broken := d.Decode(&event.Record{Value: in[:end]}, &batch), proto.Unmarshal(in[:end], dynamicpb.NewMessage(m.desc))
			if (err == nil) != (broken == nil) {
				t.Errorf("%d bytes of %s: %v, by the library %v", end, text, err, broken)
			}
		}
	}
}

// Seconds and nanoseconds in any order and number are those of the whole message: a field that no plan knows forces that they are read in full.
func TestTimesInAnyOrder(t *testing.T) {
	m := order(t)
	seconds := protowire.AppendVarint([]byte{1<<3 | byte(protowire.VarintType)}, 1357034220)
	ago := int64(-1357034220)
	past := protowire.AppendVarint([]byte{1<<3 | byte(protowire.VarintType)}, uint64(ago))
	nanos := protowire.AppendVarint([]byte{2<<3 | byte(protowire.VarintType)}, 123_456_789)
	tooMany := protowire.AppendVarint([]byte{2<<3 | byte(protowire.VarintType)}, 1_000_000_000)
	wide := protowire.AppendVarint([]byte{2<<3 | byte(protowire.VarintType)}, 1<<40|5)
	for _, parts := range [][][]byte{{}, {seconds}, {nanos}, {seconds, nanos}, {nanos, seconds}, {past, nanos}, {seconds, seconds}, {seconds, past, nanos}, {seconds, tooMany},
		{seconds, tooMany, nanos}, {seconds, wide}, {seconds, nanos[:2]}, {seconds[:1]}, {seconds, {2 << 3}}, {{1<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0}}, {seconds, nanos, {0}}} {
		contents := slices.Concat(parts...)
		for _, as := range []string{"time_ms", "time_ns", "text"} {
			d := event.NewDecoder(event.Schema{Fields: declare(t, "at "+as+"\ntook text"), Version: -1, Format: m})
			for _, number := range []protowire.Number{20, 21} { // at, took
				field := func(p []byte) []byte {
					return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), p)
				}
				unknown := []byte{15<<3 | byte(protowire.VarintType), 1}
				got, want := outcome(d, field(contents)), outcome(d, slices.Concat(field(unknown), field(contents)))
				both := strings.Contains(got, "undecodable") && strings.Contains(want, "undecodable") // at another byte
				if got != want && !both {
					t.Errorf("%d, %x: %s, read in full %s", number, contents, got, want)
				}
			}
		}
	}
}
