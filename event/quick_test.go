package event

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// quickSeeds are values that JSON accepts and others that it does not.
var quickSeeds = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-1.50e+3`, `1E9`, `0.0`, `null`, `true`, `false`, `{"a":{"b":[1,{"c":null}]},"a":2}`, " \t\r\n{ \"a\" : [ 1 , 2 ] } ", `"\ud83d\ude9a"`,
	`"\u0041\n\/\\\""`, `"上海, a text that is longer than eight bytes é"`, `"` + strings.Repeat("x", 40) + `"`, strings.Repeat("[", 60) + strings.Repeat("]", 60),
	``, ` `, `{`, `}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `01`, `-`, `-01`, `1.`, `.5`, `1e`, `1e+`, `+1`, `NaN`, `nul`, `nullx`, `tru`, `"`,
	`"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ude9a"`, `"\ud83d\n"`, "\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
	"\"12345678\x01\"", "\"1234567\xe4\xb8\"", "\"\u20201234\\u00e9\"", `1 2`, `{}x`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`, "\ufeff{}", "\"abc", "{\"\\ud83d\":1}", "\x00", "\"\x00\"",
}

// FuzzQuickJSON checks that what is skipped is JSON according to jsontext.
func FuzzQuickJSON(f *testing.F) {
	for _, s := range quickSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		end := endOfValue(value, skipSpace(value, 0), quickDepth)
		quick := end >= 0 && skipSpace(value, end) == len(value)
		valid := jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true))
		if deep := strings.Count(string(value), "[")+strings.Count(string(value), "{") > quickDepth; quick != valid && !deep || quick && !valid {
			t.Errorf("%q: the quick way says %v, jsontext %v", value, quick, valid)
		}
	})
}

// FuzzQuickEvents checks that the quick path makes the same events as the other one. It reads elements of arrays.
func FuzzQuickEvents(f *testing.F) {
	s := Schema{Version: -1, Fields: []Field{{Name: "text", Type: Text}, {Name: "int", Type: Int}, {Name: "at", Type: Time}, {Name: "inner", Type: Float, Path: []string{"in", "x"}},
		{Name: "second", Type: Bool, Path: []string{"list", "1"}}, {Name: "deep", Type: Text, Path: []string{"list", "0", "y"}}, {Name: "more", Type: Nested},
		{Name: "number", Type: Text, Numbers: true}, {Name: "upper", Type: Text, Convert: Conversion{Case: Upper}}, {Name: "asked", Type: Int, Convert: Conversion{FromText: true}}}}
	if err := s.Validate(); err != nil {
		f.Fatal(err)
	}
	listed := s
	listed.Format = JSONFormat{Array: true}
	one, many := NewDecoder(s), NewDecoder(listed)
	for _, seed := range append(slices.Clone(quickSeeds),
		`{"text":"a\nb","int":5,"at":"2013-01-31T08:00:00Z","in":{"x":1.5,"z":[{}]},"list":[{"y":"u"},true,3],"more":{"a":[1]},"number":1.50,"upper":"x","asked":"7"}`,
		`{"te\u0078t":"a","text":"b"}`, `{"text":null,"in":null,"list":null}`, `{"in":3}`, `{"list":[1]}`, `{"list":[{"y":"a","y":"b"}]}`, `{"list":[]}`, `{"int":1.5}`,
		`{"other\u0041":{"text":1},"in":{},"list":[null,null]}`, `{"text":"a"}x`, `{"text":"a","deep":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)+`}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		rec := &Record{Value: value}
		var alone, among Batch
		err := one.Decode(rec, &alone)
		if !jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true)) {
			if err == nil {
				t.Fatalf("%q is taken", value)
			}
			return // an array of it may be one of others
		}
		wrapped := &Record{Value: slices.Concat([]byte("["), value, []byte("]"))}
		want := many.Decode(wrapped, &among)
		if (err == nil) != (want == nil) {
			t.Fatalf("%q: %v, and in an array %v", value, err, want)
		}
		if err != nil {
			return
		}
		for i, v := range alone.Events[0].Values {
			if w := among.Events[0].Values[i]; !v.Equal(w) {
				t.Errorf("%q: field %s is %s, and in an array %s", value, s.Fields[i].Name, fmt.Sprint(v), fmt.Sprint(w))
			}
		}
	})
}
