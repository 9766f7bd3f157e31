package indexer

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"brine/event"
)

func TestRowText(t *testing.T) {
	for row, want := range map[string]string{
		"":                     ``,
		"9f1c|ZTO123":          `9f1c|ZTO123`,
		"\x00\x7f\xffA":        `\x00\x7F\xFFA`,
		`\x41`:                 `\x5Cx41`,
		"上":                    `\xE4\xB8\x8A`,
		strings.Repeat("k", 3): `kkk`,
	} {
		if got := string(AppendRowText(nil, []byte(row))); got != want {
			t.Errorf("%q: %s, want %s", row, got, want)
		}
	}
	for _, text := range []string{`\`, `\x`, `\x4`, `\y41`, `\xZZ`, `a\`} {
		if row, err := ParseRowText([]byte(text)); err == nil {
			t.Errorf("%s is no row's text, and was read as %q", text, row)
		}
	}
}

func FuzzID(f *testing.F) {
	f.Add([]byte("9f1c|ZTO123"))
	f.Add([]byte{0, 0xff, '\\', '"'})
	f.Add([]byte(strings.Repeat("k", maxID)))
	f.Add([]byte(strings.Repeat("\x00", 129)))
	f.Add([]byte(`\sha256:00`))
	f.Fuzz(func(t *testing.T, row []byte) {
		id, hashed := appendID([]byte("before"), row)
		id = id[len("before"):]
		if len(id) > maxID || hashed != hashedID(id) {
			t.Fatalf("row %q: id %s", row, id)
		}
		source := append(appendHead(nil, id, map[bool][]byte{true: AppendRowText(nil, row)}[hashed], 7), '}')
		hit, err := Hit(id, source)
		if err != nil || !bytes.Equal(hit.Row, row) || hit.Version != 7 {
			t.Fatalf("row %q came back as %q, error %v", row, hit.Row, err)
		}
	})
}

func FuzzString(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\\n\t\r\x00\x1f é中\u2028\xff\xc3")
	f.Fuzz(func(t *testing.T, s string) {
		text := appendString(nil, []byte(s))
		var back string
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%q: %s: %v", s, text, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q came back as %q", s, back)
		}
		v, err := fastjson.ParseBytes(text)
		if err != nil {
			t.Fatal(err)
		}
		if again := appendStored(nil, v); !bytes.Equal(again, text) {
			t.Fatalf("%s was written again as %s", text, again)
		}
	})
}

func FuzzFloat(f *testing.F) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -2.5, 1e6, 1e21, 5e-324, math.MaxFloat64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		text := string(appendValue(nil, event.FloatValue(v)))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if text != "null" {
				t.Fatalf("%v became %s", v, text)
			}
			return
		}
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != v {
			t.Fatalf("%v came back as %v from %s", v, back, text)
		}
		if _, ok := number(json.Number(text)).(float64); !ok {
			t.Fatalf("%s is read as an integer", text)
		}
	})
}

// TestExactTypesInDocuments has the JSON of decimals, bytes, dates and times in µs and ns, up to the ends of their types.
func TestExactTypesInDocuments(t *testing.T) {
	nines := strings.Repeat("9", 38)
	decimal := func(s string) event.Value {
		v, ok := event.DecimalValue(s)
		if !ok {
			t.Fatalf("%s is no decimal", s)
		}
		return v
	}
	for _, c := range []struct {
		v    event.Value
		want string
	}{
		{decimal("1.50"), `"1.50"`}, {decimal("-0.001"), `"-0.001"`}, {decimal("-" + nines), `"-` + nines + `"`}, {decimal("0." + nines), `"0.` + nines + `"`},
		{event.BytesValue([]byte{0, 0xff, '\n'}), `"AP8K"`}, {event.BytesValue(nil), `""`},
		{event.InstantValue(event.Date, -719528), "-62167219200000"}, // 0000-01-01
		{event.InstantValue(event.Date, -1), "-86400000"}, {event.InstantValue(event.Date, 15736), "1359590400000"},
		{event.InstantValue(event.Date, 2932896), "253402214400000"}, // 9999-12-31
		{event.InstantValue(event.TimeUS, -1), "-1"}, {event.InstantValue(event.TimeUS, 253402300799999999), "253402300799999999"},
		{event.InstantValue(event.TimeNS, math.MinInt64), "-9223372036854775808"}, {event.InstantValue(event.TimeNS, math.MaxInt64), "9223372036854775807"},
	} {
		if got := appendValue([]byte("x"), c.v)[1:]; string(got) != c.want {
			text, _ := c.v.Textual()
			t.Errorf("%s %s is %s, want %s", c.v.Type, text, got, c.want)
		}
	}
}
