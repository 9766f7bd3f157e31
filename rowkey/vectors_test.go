package rowkey_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"brine/rowkey"
)

// designFields are the fields of the designs below.
var designFields = []rowkey.Field{
	{Name: "order", Type: rowkey.Text}, {Name: "user", Type: rowkey.Text}, {Name: "to", Type: rowkey.Text}, {Name: "word", Type: rowkey.Text},
	{Name: "action", Type: rowkey.Text}, {Name: "station", Type: rowkey.Text}, {Name: "area", Type: rowkey.Text}, {Name: "geohash", Type: rowkey.Text},
	{Name: "at", Type: rowkey.Time}, {Name: "id", Type: rowkey.Int}, {Name: "seq", Type: rowkey.Int}, {Name: "w", Type: rowkey.Float}, {Name: "ok", Type: rowkey.Bool},
	{Name: "lat", Type: rowkey.Float}, {Name: "lon", Type: rowkey.Float},
}

// noted is 2012-11-20T05:05:39.742Z, as a published row holds it: 9223370683466836065.
const noted = 1353387939742

func text(s string) rowkey.Value  { return rowkey.TextValue(s) }
func number(n int64) rowkey.Value { return rowkey.IntValue(n) }
func at(ms int64) rowkey.Value    { return rowkey.TimeValue(ms) }
func real(f float64) rowkey.Value { return rowkey.FloatValue(f) }

// vectors are rows of single functions, computed independently of this package (Python's hashlib, mmh3, xxhash and struct).
var vectors = []struct {
	name   string
	expr   string
	values []rowkey.Value
	row    string
}{
	{"seconds in text", `desc(at, s, 32, text)`, []rowkey.Value{at(noted - 742)}, "0794095708"},
	{"two bytes of salt", `salt(300, order) + order`, []rowkey.Value{text("YT1001")}, "\x00\x53YT1001"},
	{"salt of a time", `salt(300, at) + asc(at, ms)`, []rowkey.Value{at(noted)}, "\x01\x19\x00\x00\x01;\x1c5\x17\x9e"},
	{"murmur3", `murmur3(order, 8) + order`, []rowkey.Value{text("YT1001")}, "789156e3YT1001"},
	{"murmur3 bytes", `murmur3(order, 2 bytes) + order`, []rowkey.Value{text("YT1001")}, "\x78\x91YT1001"},
	{"xxhash", `xxhash(order, 5) + order`, []rowkey.Value{text("YT1001")}, "b3669YT1001"},
	{"xxhash bytes", `xxhash(order, 8 bytes) + order`, []rowkey.Value{text("YT1001")}, "\xb3\x66\x90\x76\xff\x2e\xd2\x5cYT1001"},
	{"md5 of two fields", `md5(user, order, 3 bytes) + user + "|" + order`, []rowkey.Value{text("YT"), text("1001")}, "\x9e\x0a\x78YT|1001"},
	{"labels", `reverse(order, ".")`, []rowkey.Value{text("www.demo.com")}, "com.demo.www"},
	{"reversed characters", `reverse(order)`, []rowkey.Value{text("aé汉")}, "汉éa"},
	{"reversed digits", `reverse(id, 5)`, []rowkey.Value{number(120)}, "02100"},
	{"padded digits", `fixed(id, 5)`, []rowkey.Value{number(120)}, "00120"},
	{"asc 64", `asc(id)`, []rowkey.Value{number(-1)}, "\x7f\xff\xff\xff\xff\xff\xff\xff"},
	{"asc 32", `asc(id, 32)`, []rowkey.Value{number(1)}, "\x80\x00\x00\x01"},
	{"asc 16", `asc(id, 16)`, []rowkey.Value{number(math.MinInt16)}, "\x00\x00"},
	{"asc 8", `asc(id, 8)`, []rowkey.Value{number(127)}, "\xff"},
	{"desc 64 is MAX_LONG − n", `desc(id)`, []rowkey.Value{number(1)}, "\x7f\xff\xff\xff\xff\xff\xff\xfe"},
	{"desc 32 is MAX_INT − n", `desc(id, 32)`, []rowkey.Value{number(1)}, "\x7f\xff\xff\xfe"},
	{"desc 8", `desc(id, 8)`, []rowkey.Value{number(-128)}, "\xff"},
	{"asc float", `asc(w)`, []rowkey.Value{real(1.5)}, "\xbf\xf8\x00\x00\x00\x00\x00\x00"},
	{"asc negative float", `asc(w)`, []rowkey.Value{real(-1.5)}, "\x40\x07\xff\xff\xff\xff\xff\xff"},
	{"asc float 32", `asc(w, 32)`, []rowkey.Value{real(-1.5)}, "\x40\x3f\xff\xff"},
	{"bools", `asc(ok)`, []rowkey.Value{rowkey.BoolValue(true)}, "\x01"},
	{"bools, true first", `desc(ok)`, []rowkey.Value{rowkey.BoolValue(true)}, "\x00"},
	{"geohash", `geohash(lat, lon, 8)`, []rowkey.Value{real(37.83236503601074), real(112.55853652954102)}, "ww8p1r4t"},
	{"descending text", `desc(word) + "\xff" + order`, []rowkey.Value{text("b"), text("1")}, "\x9d\xff1"},
	{"µs", `asc(at, us)`, []rowkey.Value{at(1)}, "\x00\x00\x00\x00\x00\x00\x03\xe8"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			k, err := rowkey.Parse(v.expr, designFields)
			if err != nil {
				t.Fatal(err)
			}
			checkVector(t, k, v.expr, v.values, []byte(v.row))
		})
	}
}

// TestNormalForm checks that what is optional is left out, and that adjacent strings are joined.
func TestNormalForm(t *testing.T) {
	for expr, want := range map[string]string{
		`md5( waybill ,4 hex)+waybill`:          `md5(waybill, 4) + waybill`,
		`md5(waybill, 1 bytes) + waybill`:       `md5(waybill, 1 byte) + waybill`,
		`waybill + "a" + "|" + action`:          `waybill + "a|" + action`,
		`desc(at, ms, 64, text)`:                `desc(at, ms, text)`,
		`asc(n, 64)`:                            `asc(n)`,
		`fixed(waybill, 8, right, "\x00")`:      `fixed(waybill, 8)`,
		`fixed(waybill, 8, " ")`:                `fixed(waybill, 8, " ")`,
		`fixed(waybill, 8, left, "0") + asc(n)`: `fixed(waybill, 8, left) + asc(n)`,
	} {
		k := parse(t, expr)
		if k.String() != want {
			t.Errorf("%s is %s, want %s", expr, k, want)
		}
		if again := parse(t, k.String()); again.String() != want {
			t.Errorf("%s becomes %s when parsed again", want, again)
		}
	}
}

// TestAppendRefuses checks that the error names the values that the key cannot hold, and that dst is returned unchanged.
func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		expr   string
		values []rowkey.Value
		want   string
	}{
		{scanKey, []rowkey.Value{text("A|B"), at(1), text("X")}, `waybill: holds "|", the string that ends it in the key`},
		{scanKey, []rowkey.Value{{}, at(1), text("X")}, `waybill: has no value`},
		{scanKey, []rowkey.Value{text("A"), {}, text("X")}, `at: has no value`},
		{scanKey, []rowkey.Value{text("A"), number(1), text("X")}, `at: is an int, but the key expects a time`},
		{scanKey, []rowkey.Value{text("A"), at(-1), text("X")}, `at: is before 1970 (1969-12-31T23:59:59.999Z), which the key does not hold`},
		{scanKey, []rowkey.Value{text("A")}, `the key needs 3 values, got 1`},
		{scanKey, []rowkey.Value{text("A"), at(1), text(strings.Repeat("x", 40000))}, `action: the row key would have 40015 bytes, but HBase allows 32767`},
		{`waybill + "aa" + action`, []rowkey.Value{text("xa"), text("y")}, `waybill: holds "aa", the string that ends it in the key`},
		{`waybill`, []rowkey.Value{text("")}, `waybill: is empty, and so would the row key be`},
		{`desc(at, s, 32)`, []rowkey.Value{at(math.MaxInt32*1000 + 1000)}, `at: is later (2038-01-19T03:14:08.000Z) than desc(at, s, 32) holds`},
		{`desc(at, us)`, []rowkey.Value{at(math.MaxInt64)}, `at: is later (9223372036854775807) than desc(at, us) holds`},
		{`asc(n, 8)`, []rowkey.Value{number(128)}, `n: 128 is out of the range of asc(n, 8)`},
		{`asc(n, text)`, []rowkey.Value{number(-1)}, `n: -1 is out of the range of asc(n, text)`},
		{`fixed(n, 2)`, []rowkey.Value{number(100)}, `n: 100 is out of the range of fixed(n, 2)`},
		{`asc(weight)`, []rowkey.Value{real(math.NaN())}, `weight: is not a number`},
		{`asc(weight, 32)`, []rowkey.Value{real(1e300)}, `weight: 1e+300 is out of the range of asc(weight, 32)`},
		{`fixed(waybill, 2)`, []rowkey.Value{text("abc")}, `waybill: has 3 bytes, but the key holds 2`},
		{`fixed(waybill, 4, " ")`, []rowkey.Value{text("ab ")}, `waybill: ends with " ", which the key uses as padding`},
		{`fixed(waybill, 4, left)`, []rowkey.Value{text("01")}, `waybill: begins with "0", which the key uses as padding`},
		{`reverse(n)`, []rowkey.Value{number(-5)}, `n: is negative, but the key holds only digits`},
		{`reverse(n, 2)`, []rowkey.Value{number(100)}, `n: has 3 digits, but the key holds 2`},
		{`reverse(n) + "0" + waybill`, []rowkey.Value{number(10), text("x")}, `n: holds "0", the string that ends it in the key`},
		{`reverse(waybill)`, []rowkey.Value{text("\xff")}, `waybill: is not UTF-8, but the key reverses its characters`},
		{`reverse(waybill) + "ba" + action`, []rowkey.Value{text("ab"), text("x")}, `waybill: holds "ba", the string that ends it in the key`},
	} {
		k := parse(t, c.expr)
		row, err := k.Append([]byte("before"), c.values)
		if err == nil {
			t.Errorf("%s takes %v", c.expr, c.values)
			continue
		}
		e, ok := errors.AsType[*rowkey.ValueError](err)
		if !ok || !strings.HasSuffix(err.Error(), c.want) || string(row) != "before" {
			t.Errorf("%s of %v: %q, %v\nwant %s", c.expr, c.values, row, err, c.want)
			continue
		}
		if e.Missing != strings.Contains(c.want, "no value") || e.TooLong != strings.Contains(c.want, "HBase allows") {
			t.Errorf("%s: %+v", c.expr, e)
		}
	}
}
