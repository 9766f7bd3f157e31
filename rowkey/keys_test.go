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
		"it has no key":                                {},
		"its first key is from version 5 on":           {{From: 5, Key: key}},
		"from version 7 on follows one from version 7": {{Key: key}, {From: 7, Key: key}, {From: 7, Key: key}},
		"from version 3 on follows one from version 0": {{Key: key}, {From: 3}},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Rows of two keys are of one event only if both hold the same of it.
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
