package rowkey_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"brine/rowkey"
)

func equal(v rowkey.Value) rowkey.Bound { return rowkey.Bound{Equal: v} }

// show formats ranges as HBase's shell would.
func show(ranges []rowkey.Range) string {
	var parts []string
	for _, r := range ranges {
		stop := "end"
		if r.Stop != nil {
			stop = rowkey.Binary(r.Stop)
		}
		parts = append(parts, rowkey.Binary(r.Start)+" → "+stop)
	}
	return strings.Join(parts, ", ")
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		expr   string
		bounds map[string]rowkey.Bound
		want   string
	}{
		{"all rows", scanKey, nil, ` → end`},
		{"one waybill", scanKey, map[string]rowkey.Bound{"waybill": equal(text("YT1001"))}, `9e0aYT1001| → 9e0aYT1001}`},
		{"one row, whose action begins others", scanKey,
			map[string]rowkey.Bound{"waybill": equal(text("YT1001")), "at": equal(at(noted)), "action": equal(text("A"))},
			`9e0aYT1001|\x7F\xFF\xFE\xC4\xE3\xCA\xE8a|A → 9e0aYT1001|\x7F\xFF\xFE\xC4\xE3\xCA\xE8a|A\x00`},
		{"newest first: the start comes from the later time", scanKey,
			map[string]rowkey.Bound{"waybill": equal(text("YT1001")), "at": {From: at(1000), To: at(2000)}},
			`9e0aYT1001|\x7F\xFF\xFF\xFF\xFF\xFF\xF80 → 9e0aYT1001|\x7F\xFF\xFF\xFF\xFF\xFF\xFC\x18`},
		{"from only", `desc(at, ms)`, map[string]rowkey.Bound{"at": {From: at(1000)}}, ` → \x7F\xFF\xFF\xFF\xFF\xFF\xFC\x18`},
		{"to only", `desc(at, ms)`, map[string]rowkey.Bound{"at": {To: at(1000)}}, `\x7F\xFF\xFF\xFF\xFF\xFF\xFC\x18 → end`},
		{"nothing before 1970", `asc(at, ms)`, map[string]rowkey.Bound{"at": {To: at(-5)}}, ``},
		{"from before 1970", `asc(at, s, 32)`, map[string]rowkey.Bound{"at": {From: at(-5), To: at(1000)}}, `\x00\x00\x00\x00 → \x00\x00\x00\x01`},
		{"to beyond 2038", `asc(at, s, 32)`, map[string]rowkey.Bound{"at": {From: at(1000), To: at(1 << 50)}}, `\x00\x00\x00\x01 → \x80`},
		{"empty", `asc(at, ms)`, map[string]rowkey.Bound{"at": {From: at(5), To: at(5)}}, ``},
		{"salt of a bound field", `salt(16, waybill) + waybill + "|" + desc(at, ms)`, map[string]rowkey.Bound{"waybill": equal(text("YT1001"))}, `\x03YT1001| → \x03YT1001}`},
		{"salt of an unbound field", `salt(3, waybill) + asc(at, s, 32) + waybill`, map[string]rowkey.Bound{"at": {From: at(1000), To: at(3000)}},
			`\x00\x00\x00\x00\x01 → \x00\x00\x00\x00\x03, \x01\x00\x00\x00\x01 → \x01\x00\x00\x00\x03, \x02\x00\x00\x00\x01 → \x02\x00\x00\x00\x03`},
		{"text behind a low separator", `waybill + "\x00" + action`, map[string]rowkey.Bound{"waybill": {From: text("AB"), To: text("B")}}, `AB → B`},
		{"text behind a high separator: A| lies after AB", `waybill + "|" + action`, map[string]rowkey.Bound{"waybill": {From: text("AB"), To: text("B")}}, `AB → A|, A} → B`},
		{"beginnings of a text", `waybill + "|" + action`, map[string]rowkey.Bound{"waybill": {From: text("wx4"), To: text("wx5")}}, `wx4 → wx5`},
		{"the end of the last prefix", `"\xff" + waybill`, map[string]rowkey.Bound{"waybill": {From: text("x")}}, `\xFFx → end`},
		{"hour and time", `asc(at, hour, 32) + waybill + "|" + asc(at, ms)`, map[string]rowkey.Bound{"at": {From: at(3600_000), To: at(7200_001)}},
			`\x00\x00\x00\x01 → \x00\x00\x00\x03`},
		{"an open bound is none", `waybill + "|" + action`, map[string]rowkey.Bound{"waybill": equal(text("A")), "action": {}}, `A| → A}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranges, err := parse(t, c.expr).Ranges(c.bounds)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(ranges); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestTimeRangeEnds checks that From is inclusive and To exclusive to the millisecond, or to the second that the key holds.
func TestTimeRangeEnds(t *testing.T) {
	const from, to = noted - 742, noted - 742 + 10_000
	for _, part := range []string{"asc(at, ms)", "desc(at, ms)", "desc(at, ms, text)", "asc(at, us)", "desc(at, us)"} {
		checkEnds(t, part, from, to, map[int64]bool{from - 1: false, from: true, to - 1: true, to: false})
	}
	for _, part := range []string{"asc(at, s)", "desc(at, s, 32)", "desc(at, s, 32, text)"} {
		checkEnds(t, part, from, to, map[int64]bool{from - 1: false, from - 1000: false, from: true, from + 999: true, to - 1: true, to - 1000: true, to: false, to + 999: false})
		// Bounds within a second include that second, because the key cannot distinguish its milliseconds.
		checkEnds(t, part, from+500, to+1, map[int64]bool{from - 1: false, from: true, to: true, to + 999: true, to + 1000: false})
	}
}

// TestTimeRangeThrough checks that with Through the last millisecond, or second, is in the range.
func TestTimeRangeThrough(t *testing.T) {
	const from, to = noted - 742, noted - 742 + 10_000
	for _, part := range []string{"asc(at, ms)", "desc(at, ms)", "desc(at, ms, text)", "asc(at, us)", "desc(at, us)"} {
		checkBound(t, part, rowkey.Bound{From: at(from), To: at(to), Through: true}, map[int64]bool{from - 1: false, from: true, to: true, to + 1: false})
	}
	for _, part := range []string{"asc(at, s)", "desc(at, s, 32)", "desc(at, s, 32, text)"} {
		checkBound(t, part, rowkey.Bound{From: at(from), To: at(to), Through: true},
			map[int64]bool{from - 1: false, from - 1000: false, from: true, to - 1: true, to: true, to + 999: true, to + 1000: false})
	}
	checkBound(t, "desc(at, ms)", rowkey.Bound{To: at(math.MaxInt64), Through: true}, map[int64]bool{0: true, math.MaxInt64: true})
}

func checkEnds(t *testing.T, part string, from, to int64, want map[int64]bool) {
	t.Helper()
	checkBound(t, part, rowkey.Bound{From: at(from), To: at(to)}, want)
}

func checkBound(t *testing.T, part string, b rowkey.Bound, want map[int64]bool) {
	t.Helper()
	k := parse(t, `salt(4, waybill) + `+part+` + waybill`)
	ranges, err := k.Ranges(map[string]rowkey.Bound{"at": b})
	if err != nil {
		t.Fatal(err)
	}
	for ms, in := range want {
		row := appendRow(t, k, text("YT1001"), at(ms))
		if got := slices.ContainsFunc(ranges, func(r rowkey.Range) bool { return r.Contains(row) }); got != in {
			t.Errorf("%s from %s to %s, through %v: %s is in it: %v", part, b.From, b.To, b.Through, at(ms), got)
		}
	}
}

func TestRangesRefuse(t *testing.T) {
	for _, c := range []struct {
		expr   string
		bounds map[string]rowkey.Bound
		field  string
		want   string
	}{
		{scanKey, map[string]rowkey.Bound{"at": equal(at(1))}, "waybill", "has md5(waybill, 4) before at, so a range needs waybill bound to one value"},
		{scanKey, map[string]rowkey.Bound{"waybill": equal(text("A")), "action": equal(text("X"))}, "at", "has desc(at, ms) before action, so a range needs at bound to one value"},
		{scanKey, map[string]rowkey.Bound{"waybill": {From: text("A")}}, "waybill", "has md5(waybill, 4) before waybill"},
		{scanKey, map[string]rowkey.Bound{"waybill": equal(text("A")), "at": {From: at(1)}, "action": equal(text("X"))}, "at", "has desc(at, ms) before action"},
		{scanKey, map[string]rowkey.Bound{"statoin": equal(text("A"))}, "statoin", "does not hold statoin"},
		{scanKey, map[string]rowkey.Bound{"waybill": {Equal: text("A"), From: text("B")}}, "waybill", "bound to one value and to a range"},
		{`reverse(waybill)`, map[string]rowkey.Bound{"waybill": {From: text("A")}}, "waybill", "is not in the order of waybill"},
		{`fixed(waybill, 8, " ")`, map[string]rowkey.Bound{"waybill": {From: text("A")}}, "waybill", "is not in the order of waybill"},
	} {
		_, err := parse(t, c.expr).Ranges(c.bounds)
		e, ok := errors.AsType[*rowkey.UsageError](err)
		if !ok || e.Field != c.field || !strings.Contains(e.Error(), c.want) || e.Fix == "" {
			t.Errorf("%s over %v: %v\nwant %s: %s", c.expr, c.bounds, err, c.field, c.want)
		}
	}
	for _, bounds := range []map[string]rowkey.Bound{
		{"waybill": equal(number(1))}, {"waybill": equal(text("A|"))}, {"waybill": equal(text("A")), "at": {From: text("x")}},
	} {
		if _, err := parse(t, scanKey).Ranges(bounds); err == nil {
			t.Errorf("%v is taken", bounds)
		} else if _, ok := errors.AsType[*rowkey.ValueError](err); !ok {
			t.Errorf("%v: %T %v", bounds, err, err)
		}
	}
}

func TestSplits(t *testing.T) {
	for _, c := range []struct {
		expr string
		n    int
		want string
	}{
		{scanKey, 1, ""},
		{scanKey, 4, "4000 8000 c000"},
		{scanKey, 3, "5555 aaaa"},
		{scanKey, 16, "1000 2000 3000 4000 5000 6000 7000 8000 9000 a000 b000 c000 d000 e000 f000"},
		{`md5(waybill, 1) + waybill`, 3, "5 a"},
		{`md5(waybill, 2 bytes) + waybill`, 4, `@\x00 \x80\x00 \xC0\x00`},
		{`xxhash(waybill, 1 byte) + waybill`, 3, `U \xAA`},
		{`"v1_" + md5(waybill, 4) + waybill`, 2, "v1_8000"},
		{`salt(16, waybill) + waybill`, 4, `\x04 \x08 \x0C`},
		{`salt(16, waybill) + waybill`, 16, `\x01 \x02 \x03 \x04 \x05 \x06 \x07 \x08 \x09 \x0A \x0B \x0C \x0D \x0E \x0F`},
		{`salt(300, waybill) + waybill`, 3, `\x00d \x00\xC8`},
		{`salt(2, station) + md5(waybill, 4) + waybill`, 4, `\x008000 \x01 \x018000`},
		{`salt(2, station) + md5(waybill, 4) + waybill`, 3, `\x00aaaa \x015555`},
		{`reverse(n)`, 4, `25 5 75`},
		{`reverse(n, 6)`, 8, `125 25 375 5 625 75 875`},
	} {
		points, err := parse(t, c.expr).Splits(c.n)
		if err != nil {
			t.Errorf("%s into %d: %v", c.expr, c.n, err)
			continue
		}
		var got []string
		for _, p := range points {
			got = append(got, rowkey.Binary(p))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s into %d: %s\nwant %s", c.expr, c.n, strings.Join(got, " "), c.want)
		}
	}
	for _, c := range []struct {
		expr string
		n    int
		want string
	}{
		{scanKey, 0, "0 regions"},
		{`waybill + "|" + desc(at, ms)`, 2, "does not begin with a hash or a salt"},
		{`desc(at, ms) + waybill`, 2, "does not begin with a hash or a salt"},
		{`desc(at, ms) + waybill`, 16, "begin it with md5(waybill, 4), or with salt(16, waybill)"},
		{`desc(at, ms)`, 16, "begin it with salt(16, at): a range of at is then one scan in each bucket"},
		{`waybill + "|" + desc(at, ms)`, 16, "begin it with md5(waybill, 4), or omit regions and let brine tables plan --sample … --regions 16 find split points"},
		{`salt(4, waybill) + desc(at, ms)`, 8, "write salt(8, waybill), or use 4 regions"},
		{`md5(waybill, 1) + waybill`, 17, "md5(waybill, 1) gives only 16 distinct prefixes, not enough for 17 regions"},
		{`salt(16, waybill) + waybill`, 17, "salt(16, waybill) gives only 16 distinct prefixes"},
	} {
		_, err := parse(t, c.expr).Splits(c.n)
		if e, ok := errors.AsType[*rowkey.UsageError](err); !ok || !strings.Contains(e.Error(), c.want) || e.Fix == "" {
			t.Errorf("%s into %d: %v\nwant %s", c.expr, c.n, err, c.want)
		}
	}
}

// TestSplitsShareRowsEvenly checks that real waybills are spread evenly over 12 regions, within the limits of chance.
func TestSplitsShareRowsEvenly(t *testing.T) {
	const rows, regions = 24_000, 12
	for _, expr := range []string{`md5(waybill, 4) + waybill`, `murmur3(waybill, 2 bytes) + waybill`, `salt(24, waybill) + waybill`, `reverse(n)`} {
		k := parse(t, expr)
		points, err := k.Splits(regions)
		if err != nil {
			t.Fatal(err)
		}
		var counts [regions]int
		for i := range int64(rows) {
			v := text(fmt.Sprintf("YT%08d", i))
			if k.Fields()[0] == "n" {
				v = number(10_000_000 + i*7)
			}
			row := appendRow(t, k, v)
			region, found := slices.BinarySearchFunc(points, row, func(p, row []byte) int { return strings.Compare(string(p), string(row)) })
			if found {
				region++
			}
			counts[region]++
		}
		if slices.Min(counts[:]) < 1800 || slices.Max(counts[:]) > 2200 {
			t.Errorf("%s: %v", expr, counts)
		}
	}
}

func TestSaltWidth(t *testing.T) {
	for expr, want := range map[string]int{
		scanKey: 0, `salt(16, waybill) + waybill`: 1, `salt(300, waybill) + waybill`: 2, `"v1" + salt(16, waybill) + waybill`: 3, `asc(n) + salt(16, n)`: 0,
	} {
		if got := parse(t, expr).SaltWidth(); got != want {
			t.Errorf("%s: %d, want %d", expr, got, want)
		}
	}
}
