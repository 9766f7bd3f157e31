package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"brine/rowkey"
	"brine/skew"
)

// hotCase is a table that is first written evenly and then so that a part of it is hot.
type hotCase struct {
	table  string
	key    *rowkey.Key
	splits [][]byte
	event  func(hot bool) map[string]rowkey.Value

	cause  skew.Cause
	action skew.ActionKind
	salted string // the key that the action asks for

	found  time.Duration // after it became hot
	spot   skew.HotSpot
	effect skew.Effect
}

var hotFields = []rowkey.Field{{Name: "courier", Type: rowkey.Text}, {Name: "waybill", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}}

func hotKey(t *testing.T, expr string) *rowkey.Key {
	t.Helper()
	key, err := rowkey.Parse(expr, hotFields)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (h *hotCase) row(t *testing.T, event map[string]rowkey.Value) []byte {
	t.Helper()
	var values []rowkey.Value
	for _, name := range h.key.Fields() {
		values = append(values, event[name])
	}
	row, err := h.key.Append(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// hits reports whether a region is one of those that are made hot: it takes at least a quarter of the rows, while the mean is at most an
// eighth.
func (h *hotCase) hits(t *testing.T, r *skew.Region) bool {
	const rows = 1000
	in := 0
	for range rows {
		row := h.row(t, h.event(true))
		if bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0) {
			in++
		}
	}
	return in >= rows/4
}

// hotCases are the three ways in which regions become hot, by a clock.
func hotCases(t *testing.T, now func() time.Time) []*hotCase {
	rnd := rand.New(rand.NewPCG(1, 2))
	waybill := func() rowkey.Value { return rowkey.TextValue(fmt.Sprintf("YD%012d", rnd.Int64N(1e12))) }
	courier := func(n int) rowkey.Value { return rowkey.TextValue(fmt.Sprintf("c%04d", n)) }

	heavy := &hotCase{table: "heavy", key: hotKey(t, `courier + "|" + waybill`), cause: skew.HeavyKey, action: skew.Split}
	for i := 1; i < 8; i++ {
		heavy.splits = append(heavy.splits, fmt.Appendf(nil, "c%04d", i*1250))
	}
	heavy.event = func(hot bool) map[string]rowkey.Value {
		n := rnd.IntN(10_000)
		if hot && rnd.IntN(100) < 40 {
			n = 4242
		}
		return map[string]rowkey.Value{"courier": courier(n), "waybill": waybill()}
	}

	began := now().UnixMilli()
	growing := &hotCase{table: "growing", key: hotKey(t, `asc(at, ms) + waybill`), cause: skew.Monotonic, action: skew.Salt, salted: `salt(16, at, waybill) + asc(at, ms) + waybill`}
	const hour = 3_600_000
	for i := int64(1); i < 8; i++ {
		row := growing.row(t, map[string]rowkey.Value{"at": rowkey.TimeValue(began - (8-i)*hour), "waybill": waybill()})
		growing.splits = append(growing.splits, row[:8])
	}
	growing.event = func(hot bool) map[string]rowkey.Value {
		at := began - rnd.Int64N(8*hour)
		if hot {
			at = now().UnixMilli()
		}
		return map[string]rowkey.Value{"at": rowkey.TimeValue(at), "waybill": waybill()}
	}

	few := &hotCase{table: "few", key: hotKey(t, `salt(16, courier) + courier + "|" + waybill`), cause: skew.FewBuckets, action: skew.Salt, salted: `salt(16, courier, waybill) + courier + "|" + waybill`}
	var three []rowkey.Value // of three buckets
	seen := map[int]bool{}
	for n := 0; len(three) < 3; n++ {
		bucket := few.key.Salt().Bucket(few.row(t, map[string]rowkey.Value{"courier": courier(n), "waybill": waybill()}))
		if !seen[bucket] {
			seen[bucket] = true
			three = append(three, courier(n))
		}
	}
	few.event = func(hot bool) map[string]rowkey.Value {
		if hot {
			return map[string]rowkey.Value{"courier": three[rnd.IntN(3)], "waybill": waybill()}
		}
		return map[string]rowkey.Value{"courier": courier(rnd.IntN(10_000)), "waybill": waybill()}
	}
	var err error
	if few.splits, err = few.key.Splits(16); err != nil {
		t.Fatal(err)
	}
	return []*hotCase{heavy, growing, few}
}
