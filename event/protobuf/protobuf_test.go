package protobuf

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// order is the message that most tests read.
func order(t testing.TB) *Message {
	t.Helper()
	s, err := CompileFile("testdata/shop.proto")
	if err != nil {
		t.Fatal(err)
	}
	return s.Message("Order")
}

// encode returns the bytes of a message in text form.
func encode(t testing.TB, m *Message, text string) []byte {
	t.Helper()
	d := dynamicpb.NewMessage(m.desc)
	if err := (prototext.UnmarshalOptions{Resolver: m.schema.types, AllowPartial: true}).Unmarshal([]byte(text), d); err != nil {
		t.Fatal(text, err)
	}
	b, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(d)
	if err != nil {
		t.Fatal(text, err)
	}
	return b
}

// declare makes fields of "name type path" lines; the path is the name by default, and a type "number" is a text from a number.
func declare(t testing.TB, lines string) (out []event.Field) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		w := strings.Fields(line)
		f := event.Field{Name: w[0]}
		if len(w) > 2 {
			f.Path = strings.Split(w[2], ".")
		}
		if len(w) > 3 {
			f.Format = w[3]
		}
		if w[1] == "number" {
			w[1], f.Numbers = "text", true
		}
		var err error
		if f.Type, err = event.ParseType(w[1]); err != nil {
			t.Fatal(line, err)
		}
		out = append(out, f)
	}
	return out
}

// read reads a value and returns the values of its fields, "-" for null, or its reject.
func read(m event.Format, fields []event.Field, values ...[]byte) string {
	d, b := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: m}), new(event.Batch)
	for _, v := range values {
		d.Reset(b)
		if err := d.Decode(&event.Record{Value: v, Timestamp: 1e12}, b); err != nil {
			return err.Error()
		}
	}
	var out []string
	for i, v := range b.Events[0].Values {
		out = append(out, fields[i].Name+"="+show(v))
	}
	return strings.Join(out, " ")
}

func show(v event.Value) string {
	switch v.Type {
	case event.Text:
		return fmt.Sprintf("%q", v.Text())
	case event.Nested:
		return string(v.Text())
	case event.Float:
		return fmt.Sprint(v.Float())
	case event.Bool:
		return fmt.Sprint(v.Bool())
	case event.Decimal:
		text, _ := v.Textual()
		return text
	case event.Bytes:
		return fmt.Sprintf("%x", v.Text())
	case 0:
		return "-"
	}
	return fmt.Sprint(v.Int())
}

func TestRead(t *testing.T) {
	m := order(t)
	for _, c := range []struct{ name, fields, in, want string }{
		{"every kind", "id text\ni32 int\ni64 int\nu32 int\nu64 int\ns32 int\ns64 int\nf32 int\nf64 int\nsf32 int\nsf64 int\nsingle float\ntotal float\npaid bool\nraw text\nstatus text\nmaybe int\nfar text",
			`id:"a" i32:-1 i64:-9223372036854775808 u32:4294967295 u64:9223372036854775807 s32:-2147483648 s64:-5 f32:4294967295 f64:7 sf32:-7 sf64:-8 single:1.5 total:-2.25 paid:true raw:"x" status:PAID maybe:0 far:"f"`,
			`id="a" i32=-1 i64=-9223372036854775808 u32=4294967295 u64=9223372036854775807 s32=-2147483648 s64=-5 f32=4294967295 f64=7 sf32=-7 sf64=-8 single=1.5 total=-2.25 paid=true raw="x" status="PAID" maybe=0 far="f"`},
		{"nothing", "id text\ni32 int\ntotal float\npaid bool\nraw text\nstatus text\nmaybe int\nnote text\nat time_ms\nnick text\nsku text first.sku\nlabel text labels.a\nword text words.0\ncard text\nsent time",
			``, `id="" i32=0 total=0 paid=false raw="" status="STATUS_UNKNOWN" maybe=- note=- at=- nick=- sku=- label=- word=- card=- sent=-`},
		{"nothing, as JSON", "words json\nlabels json\nfirst json\ni64 json\nstatus json\npaid json\nid json\nraw json\nmaybe json\nlines json\nat json\ncash json",
			``, `words=[] labels={} first=- i64="0" status="STATUS_UNKNOWN" paid=false id="" raw="" maybe=- lines=[] at=- cash=-`},
		{"an empty message within", "sku text first.sku\npieces number first.pieces\ngift text first.gift.id", `first:{}`, `sku="" pieces="0" gift=-`},
		{"enums", "status text\nn int i32", `status:FAR`, `status="FAR" n=0`},
		{"enum as int", "status int", `status:REFUNDED`, `status=-1`},
		{"JSON names", "name text userName", `user_name:"ann"`, `name="ann"`},
		{"two names of a field", "a text user_name\nb text userName", `user_name:"ann"`, `a="ann" b="ann"`},
		{"numbers as texts", "i64 number\ntotal number\ns32 number", `i64:12 total:1.5 s32:-3`, `i64="12" total="1.5" s32="-3"`},
		{"numbers as times", "i64 time_ms\ni32 time_s\nu64 time u64 epoch_us", `i64:1700000000000 i32:1700000000 u64:1700000000123456`,
			`i64=1700000000000 i32=1700000000000 u64=1700000000123`},
		{"texts as times", "sent time", `sent:"2023-11-14T22:13:20Z"`, `sent=1700000000000`},
		{"an empty time is absent", "sent time\nid text", `sent:"" id:"x"`, `sent=- id="x"`},
		{"a timestamp", "at time_ms", `at:{seconds:1700000000 nanos:123999999}`, `at=1700000000123`},
		{"a timestamp before 1970", "at time", `at:{seconds:-1 nanos:1}`, `at=-1000`},
		{"the last timestamp", "at time_s", `at:{seconds:253402300799 nanos:999999999}`, `at=253402300799999`},
		{"a timestamp as text", "at text", `at:{seconds:1700000000 nanos:120000000}`, `at="2023-11-14T22:13:20.120Z"`},
		{"the fields of a timestamp", "s int at.seconds\nns int at.nanos", `at:{seconds:1700000000}`, `s=1700000000 ns=0`},
		{"a duration", "took float", `took:{seconds:-1 nanos:-500000000}`, `took=-1.5`},
		{"a duration as text", "took text", `took:{nanos:-500}`, `took="-0.000000500s"`},
		{"a date", "day time_ms\nnick text\npoints int\nvip bool", `day:{year:2023 month:11 day:14} nick:{value:"n"} points:{} vip:{value:true}`,
			`day=1699920000000 nick="n" points=0 vip=true`},
		{"a date as text", "day text", `day:{year:2024 month:2 day:29}`, `day="2024-02-29"`},
		{"elements", "a text words.0\nb text words.2\nc int deltas.1\nd text lines.1.sku\ne text lines.1.tags.1\nf int lines.2.pieces",
			`words:"x" words:"y" words:"z" deltas:[5,-6] lines:{} lines:{sku:"s" tags:"t" tags:"u"}`, `a="x" b="z" c=-6 d="s" e="u" f=-`},
		{"elements of elements", "a text lines.0.tags.0\nb text lines.1.tags.0", `lines:{tags:"t"} lines:{tags:"u"}`, `a="t" b="u"`},
		{"elements as JSON", "a json words.1\nb json deltas.1\nc json lines.0\nd json lines.4", `words:"x" words:"y\"" deltas:[5,0] lines:{pieces:3}`,
			`a="y\"" b=0 c={"pieces":3} d=-`},
		{"maps", "a text labels.a\nb text labels.b\nc text by_number.-3.sku\nd float by_truth.true\ne json by_number.7",
			`labels:{key:"a" value:"1"} labels:{key:"a" value:"2"} by_number:{key:-3 value:{sku:"s"}} by_truth:{key:true value:1.5} by_number:{key:7 value:{tags:"t"}}`,
			`a="2" b=- c="s" d=1.5 e={"tags":["t"]}`},
		{"entries without values", "a text labels.a\nb text by_number.0.sku\nc float by_truth.false\nd json by_number.1", `labels:{key:"a"} by_number:{} by_truth:{} by_number:{key:1}`,
			`a="" b="" c=0 d={}`},
		{"JSON", "lines json\nlabels json\nat json\ntook json\nnick json\nfree json\nextra json\nstatus json\nraw json",
			`lines:{sku:"s" gift:{u64:18446744073709551615}} labels:{key:"k" value:"v"} at:{seconds:1} took:{seconds:1} nick:{value:"n"} free:{fields:{key:"x" value:{number_value:1}}} extra:{[type.googleapis.com/shop.Other]:{name:"o"}} status:PAID raw:"\xff"`,
			`lines=[{"sku":"s","gift":{"u64":"18446744073709551615"}}] labels={"k":"v"} at="1970-01-01T00:00:01Z" took="1s" nick="n" free={"x":1} extra={"@type":"type.googleapis.com/shop.Other","name":"o"} status="PAID" raw="/w=="`},
		{"a oneof", "card text\ncash int\nsku text swap.sku", `cash:0`, `card=- cash=0 sku=-`},
		{"proto2", "n int item.pieces\nnote text item.note\ngrade text item.grade\nweight float item.weight\nplain text item.plain\noffset int item.offset\nraw text item.raw\nlabel text item.box.label\nl int item.loose.0",
			`item:{sku:"s" loose:4}`, `n=1 note="none \"so far\"" grade="GOOD" weight=1.5 plain=- offset=-3 raw="\x01\x02" label=- l=4`},
		{"proto2 as JSON", "j json item.note\nk json item.plain\nl json item.loose", `item:{sku:"s"}`, `j="none \"so far\"" k=- l=[]`},
		{"a group", "label text item.box.label", `item:{sku:"s" Box:{label:"l"}}`, `label="l"`},
		{"a group as JSON", "box json item.box", `item:{sku:"s" Box:{label:"l"}}`, `box={"label":"l"}`},
		{"a field that the schema has not", "id text\nnew text", `id:"a"`, `id="a" new=-`},
		{"decimal digits", "u64 number", `u64:18446744073709551615`, `u64="18446744073709551615"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields, in := declare(t, c.fields), encode(t, m, c.in)
			if got := read(m, fields, in); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
			// Another record leaves nothing behind.
			full := encode(t, m, `id:"z" words:"q" words:"r" words:"s" labels:{key:"b" value:"z"} lines:{sku:"z" tags:"z"} first:{sku:"z" gift:{id:"z"}} at:{seconds:9} cash:3 maybe:3 item:{sku:"z" plain:"z"} took:{seconds:8} free:{}`)
			if got := read(m, fields, full, in); got != c.want && !strings.Contains(got, "wrong_type") {
				t.Errorf("after another record\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}
