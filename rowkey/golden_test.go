package rowkey_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/rowkey"
)

var update = flag.Bool("update", false, "rewrite the golden files and docs/rowkeys.md")

// golden compares got with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run go test -update and look at the difference\n%s", file, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\n  want %s\n  got  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// rerun reads a golden file whose unindented lines are inputs, and returns it with the output of each one, indented, after it.
func rerun(t *testing.T, file string, output func(input string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		input := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(input, "    "):
		case input == "" || strings.HasPrefix(input, "# "):
			b.WriteString(line)
		default:
			b.WriteString(line)
			for out := range strings.Lines(output(input)) {
				b.WriteString("    " + out)
			}
		}
	}
	golden(t, file, b.String())
}

// TestErrors checks that every mistake of the language has a position and a fix.
func TestErrors(t *testing.T) {
	rerun(t, "testdata/errors.txt", func(expr string) string {
		k, err := rowkey.Parse(expr, scanFields)
		if err == nil {
			t.Errorf("%s is taken as %s", expr, k)
			return "no error\n"
		}
		e, ok := errors.AsType[*rowkey.SyntaxError](err)
		if !ok || e.Msg == "" || e.Fix == "" || e.Offset < 0 || e.Offset > len(expr) {
			t.Errorf("%s: %#v", expr, err)
			return "no fix\n"
		}
		return fmt.Sprintf("at %d: %s\n%s\n", e.Offset, e.Msg, e.Fix)
	})
}

// TestLint prints the findings for designs that are known to fail, and none for good ones.
func TestLint(t *testing.T) {
	rerun(t, "testdata/lint.txt", func(line string) string {
		expr, opts, fields := line, rowkey.LintOptions{}, scanFields
		if option, rest, ok := strings.Cut(line, ": "); ok {
			expr = rest
			switch option {
			case "row event":
				opts.EventRows = true
			case "row event, n in microseconds":
				opts.EventRows, fields = true, slices.Clone(scanFields)
				fields[slices.IndexFunc(fields, func(f rowkey.Field) bool { return f.Name == "n" })].Unit = time.Microsecond
			case "5 servers":
				opts.Servers, opts.Regions = 5, 16
			case "10 regions":
				opts.Regions = 10
			case "5 servers, 4 regions":
				opts.Servers, opts.Regions = 5, 4
			case "40 servers, 16 regions":
				opts.Servers, opts.Regions = 40, 16
			case "10 servers, 1 regions":
				opts.Servers, opts.Regions = 10, 1
			case "waybill 20":
				opts.TextLengths = map[string]int{"waybill": 20}
			default:
				words, ok := strings.CutPrefix(option, "query ")
				q, err := rowkey.ParseQuery(words)
				if !ok || err != nil {
					t.Fatalf("unknown option %q, %v", option, err)
				}
				opts.Queries = []rowkey.Query{q}
			}
		}
		var b strings.Builder
		key, err := rowkey.Parse(expr, fields)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		for _, f := range key.Lint(opts) {
			fmt.Fprintf(&b, "%s %s at %d: %s\n  %s\n", f.Severity, f.Rule, f.Offset, f.Msg, f.Fix)
		}
		if b.Len() == 0 {
			return "no findings\n"
		}
		return b.String()
	})
}

// TestExplain prints keys part by part.
func TestExplain(t *testing.T) {
	var b strings.Builder
	for _, c := range explained {
		k := parse(t, c.expr)
		var row []byte
		if c.values != nil {
			row = appendRow(t, k, c.values...)
		}
		row = append(row, c.more...)
		parts, err := k.Explain(row)
		fmt.Fprintf(&b, "%s\nrow %s\n", k, rowkey.Binary(row))
		for _, p := range parts {
			fmt.Fprintf(&b, "  %-24s %2d  %-40s %-26s %s\n", p.Expr, p.Width, rowkey.Binary(p.Bytes), p.Value, p.Doc)
		}
		if err != nil {
			fmt.Fprintf(&b, "  error: %v\n", err)
		}
		b.WriteString("\n")
	}
	golden(t, "testdata/explain.txt", b.String())
}

var explained = []struct {
	expr   string
	values []rowkey.Value
	more   string
}{
	{expr: scanKey},
	{expr: scanKey, values: []rowkey.Value{rowkey.TextValue("YT1001"), rowkey.TimeValue(1353387939742), rowkey.TextValue("ARRIVE")}},
	{expr: `salt(16, station) + asc(at, hour) + desc(at, ms, text) + "_" + reverse(station)`, values: []rowkey.Value{rowkey.TextValue("EWR"), rowkey.TimeValue(1353387939742)}},
	{expr: `fixed(waybill, 8) + fixed(n, 5) + desc(weight, 32) + asc(paid) + reverse(action, ".")`, values: []rowkey.Value{
		rowkey.TextValue("YT1001"), rowkey.IntValue(77), rowkey.FloatValue(2.5), rowkey.BoolValue(true), rowkey.TextValue("www.demo.com")}},
	{expr: `fixed(waybill, 4, left) + asc(at, s)`, values: []rowkey.Value{rowkey.TextValue("17"), rowkey.TimeValue(1000)}, more: "!"},
}

// TestDecodeErrors prints the errors for rows that no values encode to.
func TestDecodeErrors(t *testing.T) {
	k := parse(t, scanKey)
	row := appendRow(t, k, rowkey.TextValue("YT1001"), rowkey.TimeValue(1353387939742), rowkey.TextValue("ARRIVE"))
	edit := func(at int, b string) []byte {
		return append(append(append([]byte(nil), row[:at]...), b...), row[at+len(b):]...)
	}
	for _, c := range []struct {
		name string
		key  string
		row  []byte
		want string
	}{
		{"empty", scanKey, nil, `row : a row key has 1 to 32,767 bytes`},
		{"hash of another waybill", scanKey, edit(0, "0"), `at byte 0, md5(waybill, 4): is 0e0a, but waybill YT1001 hashes to 9e0a`},
		{"no hex", scanKey, edit(0, "G"), `at byte 0, md5(waybill, 4): "G" is not a lower-case hex digit`},
		{"cut in the hash", scanKey, row[:3], `at byte 0, md5(waybill, 4): the row ends after 3 of its 4 bytes`},
		{"no separator", scanKey, row[:8], `at byte 4, waybill: its separator "|" is missing`},
		{"cut in the time", scanKey, row[:14], `at byte 11, desc(at, ms): the row ends after 3 of its 8 bytes`},
		{"a time before 1970", scanKey, edit(11, "\xff"), `at byte 11, desc(at, ms): \xFF\xFF\xFE\xC4\xE3\xCA\xE8a is more than its greatest value`},
		{"goes on", "asc(n, 8)", []byte("ab"), `row ab: the key ends at byte 1, but the row has 2`},
		{"bucket", "salt(16, n) + asc(n)", []byte("\x10\x80\x00\x00\x00\x00\x00\x00\x01"), "there is no bucket 16"},
		{"bucket of another", "salt(16, n) + asc(n)", []byte("\x05\x80\x00\x00\x00\x00\x00\x00\x01"), "is bucket 5, but n belongs in bucket 3"},
		{"digits", "desc(at, ms, text)", []byte("92233706834668360x5"), "92233706834668360x5 is not all digits"},
		{"leading zero", "reverse(n)", []byte("10"), "10 reversed begins with 0, as no number does"},
		{"too many digits", "reverse(n)", []byte("99999999999999999999"), "is not a 64-bit number"},
		{"no number", "reverse(n)", []byte("-1"), "1- is not all digits"},
		{"NaN", "asc(weight)", []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), "is not a number"},
		{"bool", "asc(paid)", []byte{2}, `\x02 is more than its greatest value`},
		{"µs", "asc(at, us)", []byte{0, 0, 0, 0, 0, 0, 0, 1}, "1 microseconds since 1970 is not a whole millisecond"},
		{"far future", "asc(at, day)", []byte{0x7f, 0, 0, 0, 0, 0, 0, 1}, "is not a time"},
		{"not UTF-8", "reverse(waybill)", []byte{0xff}, "is not UTF-8, but the key reverses its characters"},
		{"another hour", "asc(at, hour, 32) + asc(at, ms)", []byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), "at byte 0, asc(at, hour, 32): does not agree with the part that holds the field exactly"},
		{"constant", `"v1" + waybill`, []byte("v2x"), `at byte 0, "v1": the bytes here differ`},
	} {
		t.Run(c.name, func(t *testing.T) {
			values, err := parse(t, c.key).Decode(c.row)
			if err == nil {
				t.Fatalf("decodes to %v", values)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant …%s", err, c.want)
			}
		})
	}
}
