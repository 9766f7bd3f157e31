package event

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
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

// What was learned of the members of earlier records changes nothing but the time that a record takes, and stays bounded.
func TestQuickLearnsOnlyTheOrder(t *testing.T) {
	s := Schema{Version: -1, Fields: []Field{{Name: "a", Type: Text}, {Name: "b", Type: Int}, {Name: "x", Type: Text, Path: []string{"in", "x"}}}}
	members := []string{`"a":"1"`, `"b":2`, `"in":{"y":1,"x":"3","z":[{"a":5}]}`, `"in":{"x" : "4"}`, `"c":null`, `"d" : {"a":"no"}`, `"A":"no"`, `"aa":"no"`, `"":"no"`, `"\u0061b":"no"`,
		`"` + strings.Repeat("l", longestLearned) + `":1`, `"` + strings.Repeat("l", longestLearned+1) + `":1`, `"e":"a"`, `"上":2`}
	random := rand.New(rand.NewPCG(1, 2))
	learned := NewDecoder(s)
	for range 2000 {
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		some := slices.Clone(members[:random.IntN(len(members)+1)])
		for range random.IntN(3) {
			some = append(some, fmt.Sprintf(`"n%d":%d`, random.IntN(500), random.IntN(10)))
		}
		rec := &Record{Value: []byte("{" + strings.Join(some, ",") + "}")}
		var got, want Batch
		err, wanted := learned.Decode(rec, &got), NewDecoder(s).Decode(rec, &want)
		if fmt.Sprint(err) != fmt.Sprint(wanted) {
			t.Fatalf("%s: %v, by a decoder that has read nothing else %v", rec.Value, err, wanted)
		}
		if err == nil && !slices.EqualFunc(got.Events[0].Values, want.Events[0].Values, Value.Equal) {
			t.Fatalf("%s: %v, by a decoder that has read nothing else %v", rec.Value, got.Events[0].Values, want.Events[0].Values)
		}
	}
	if n := learned.root.learned; n > mostLearned {
		t.Errorf("%d members are learned", n)
	}
}

// Members that no two records have in the same place cost no memory either.
func TestQuickOrderAllocatesNothing(t *testing.T) {
	d, batch := NewDecoder(Schema{Version: -1, Fields: []Field{{Name: "a", Type: Int}}}), new(Batch)
	var records []*Record
	for i := range 300 {
		records = append(records, &Record{Value: fmt.Appendf(nil, `{"n%d":1,"m%d":2,"a":3,"k%d":4}`, i, 300-i, i%7)})
	}
	n := testing.AllocsPerRun(20, func() {
		d.Reset(batch)
		for _, rec := range records {
			if err := d.Decode(rec, batch); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n > 0 {
		t.Errorf("%.1f allocations for %d events", n, len(records))
	}
}

// A number without an exponent is the float that strconv reads, to the bit.
func TestShortDecimal(t *testing.T) {
	for _, text := range []string{"0", "-0", "0.0", "-0.0", "5", "-5.5", "12.5", "0.1", "0.3", "-74.168667", "999999999999999", "0.0000000000001", "123456789012.34", "1e3", "1E-2", "1234567890123456",
		"0.12345678901234"} {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := shortDecimal([]byte(text)); ok == strings.ContainsAny(text, "eE") && len(text) <= 15 || ok && math.Float64bits(f) != math.Float64bits(want) {
			t.Errorf("%s: %v, %v, want %v", text, f, ok, want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		text := strconv.FormatFloat((random.Float64()-0.5)*math.Pow10(random.IntN(12)), 'f', random.IntN(12), 64)
		want, _ := strconv.ParseFloat(text, 64)
		if f, ok := shortDecimal([]byte(text)); ok != (len(text) <= 15) || ok && math.Float64bits(f) != math.Float64bits(want) {
			t.Fatalf("%s: %v, %v, want %v", text, f, ok, want)
		}
	}
}
