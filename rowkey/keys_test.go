package rowkey_test

import (
	"math"
	"strings"
	"testing"

	"brine/rowkey"
)

func TestKeysAreChosenByVersion(t *testing.T) {
	key, err := rowkey.Parse("id", []rowkey.Field{{Name: "id", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	keys := rowkey.Keys{{Key: key}, {From: 100, Key: key}, {From: 200, Key: key}}
	if err := keys.Validate(); err != nil {
		t.Error(err)
	}
	for version, want := range map[int64]int{0: 0, 99: 0, 100: 1, 199: 1, 200: 2, math.MaxInt64: 2} {
		at := keys.At(version)
		if from, to := keys.Versions(at); at != want || version < from || version >= to && version != math.MaxInt64 {
			t.Errorf("version %d has key %d, of versions %d to %d; want key %d", version, at, from, to, want)
		}
	}
	if from, to := rowkey.One(key).Versions(0); from != 0 || to != 0 {
		t.Errorf("a table's only key is of versions %d to %d", from, to)
	}
	for want, bad := range map[string]rowkey.Keys{
		"it has no key": {},
		"its first key applies from version 5 on":              {{From: 5, Key: key}},
		"from version 7 on comes after the one from version 7": {{Key: key}, {From: 7, Key: key}, {From: 7, Key: key}},
		"from version 3 on comes after the one from version 0": {{Key: key}, {From: 3}},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Rows of two keys belong to one event only if both hold the same fields of it.
func TestKeysThatHoldAlike(t *testing.T) {
	fields := []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}}
	parse := func(expr string) *rowkey.Key {
		k, err := rowkey.Parse(expr, fields)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`salt(4, user) + user + "|" + desc(at, ms)`, `md5(user, 4) + fixed(user, 8) + asc(at, ms)`, true},
		{`user + "|" + desc(at, ms)`, `user + "|" + desc(at, s)`, false},
		{`user + "|" + desc(at, ms)`, `user`, false},
		{`salt(4, user) + asc(at, ms)`, `salt(8, user) + asc(at, ms)`, false},
	} {
		if got := parse(tt.a).HoldsAs(parse(tt.b)); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

// The start key of a region is shown by the key that could have made it.
func TestTheKeyThatFits(t *testing.T) {
	fields := []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}, {Name: "id", Type: rowkey.Text}, {Name: "zone", Type: rowkey.Text}}
	parse := func(expr string) *rowkey.Key {
		k, err := rowkey.Parse(expr, fields)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	hashed, salted := parse(`md5(user, 4) + user + "|" + desc(at, ms)`), parse(`salt(1000, user) + "u" + fixed(user, 4) + asc(at, s) + id`)
	keys := rowkey.Keys{{Key: hashed}, {From: 100, Key: salted}}
	made := func(k *rowkey.Key, values ...rowkey.Value) string {
		row, err := k.Append(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		return string(row)
	}
	ann, at := rowkey.TextValue("ann"), rowkey.TimeValue(1_700_000_000_000)
	old, young := made(hashed, ann, at), made(salted, ann, at, rowkey.TextValue("i"))
	for row, want := range map[string]*rowkey.Key{
		old: hashed, young: salted, old[:9]: hashed, young[:3]: salted, young[:9]: salted,
		"4000": hashed, "8": hashed, "\x01": salted, "\x01\x02": salted, "\x01\x02u": salted, "\x03\xE8": nil, "\x03\xE7": salted,
		"\x01\x02v": nil, "\x01\x02uann": salted, "xyz": nil, "4000ann|\x00\x00\x00": hashed, "40zz": nil, old + "\x00": nil, "": salted,
	} {
		if got := keys.Fit([]byte(row)); got != want {
			t.Errorf("%q is of %v, want %v", row, got, want)
		}
	}
	if got := (rowkey.Keys{}).Fit([]byte("a")); got != nil {
		t.Errorf("no keys have %v", got)
	}
	if got := strings.Join(keys.Fields(), " "); got != "user at id" || len(keys.Bindable()) != 3 {
		t.Errorf("fields %s, to be bound %v", got, keys.Bindable())
	}
	if keys.Salt() != (rowkey.Salt{}) || rowkey.One(salted).Salt() != salted.Salt() || keys.First() != hashed || keys.Newest() != salted {
		t.Error("of one key, or the wrong one")
	}
}

// The scans of a question are those of each key, each for its versions.
func TestScansOfTwoKeys(t *testing.T) {
	fields := []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}}
	var keys rowkey.Keys
	for i, expr := range []string{`md5(user, 4) + user + "|" + desc(at, ms)`, `salt(16, user) + user + "|" + desc(at, ms)`} {
		k, err := rowkey.Parse(expr, fields)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, rowkey.KeyFrom{From: int64(i) * 1000, Key: k})
	}
	scans, err := keys.Scans(map[string]rowkey.Bound{"user": {Equal: rowkey.TextValue("ann")}})
	if err != nil || len(scans) != 2 || scans[0].From != 0 || scans[0].To != 1000 || scans[1].From != 1000 {
		t.Errorf("%v, %v", scans, err)
	}
	one, err := keys[:1].Scans(nil)
	if err != nil || len(one) != 1 || one[0].To != 0 {
		t.Errorf("of one key: %v, %v", one, err)
	}
}
