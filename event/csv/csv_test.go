package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"brine/event"
	"brine/event/csv"
)

var schema = event.Schema{Version: -1, Format: csv.Format{Columns: []string{"id", "at", "note", "weight", "extra"}}, Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.Time}, {Name: "note", Type: event.Text}, {Name: "weight", Type: event.Float},
}}

func decode(s event.Schema, value string) string {
	var b event.Batch
	if err := event.NewDecoder(s).Decode(&event.Record{Value: []byte(value)}, &b); err != nil {
		if reject := (*event.Error)(nil); !errors.As(err, &reject) || reject.Reason == "" {
			return fmt.Sprintf("%T: %v", err, err)
		}
		return err.Error()
	}
	var out []string
	for i, v := range b.Events[0].Values {
		switch {
		case v.Null():
		case v.Type == event.Text:
			out = append(out, fmt.Sprintf("%s=%q", s.Fields[i].Name, v.Text()))
		case v.Type == event.Float:
			out = append(out, fmt.Sprintf("%s=%g", s.Fields[i].Name, v.Float()))
		default:
			out = append(out, fmt.Sprintf("%s=%d", s.Fields[i].Name, v.Int()))
		}
	}
	return strings.Join(out, " ")
}

func TestRows(t *testing.T) {
	semicolons := schema
	semicolons.Format = csv.Format{Columns: []string{"note", "id"}, Separator: ';'}
	semicolons.Fields = schema.Fields[:1]
	exact := schema
	exact.Fields = []event.Field{{Name: "id", Type: event.Int}, {Name: "weight", Type: event.Decimal}, {Name: "note", Type: event.TimeNS}}
	for _, c := range []struct {
		name, in, want string
		schema         event.Schema
	}{
		{"all", "p1,1970-01-01T00:00:01Z,hello,1.5,x", `id="p1" at=1000 note="hello" weight=1.5`, schema},
		{"a line's end behind it", "p1,,,,\r\n", `id="p1"`, schema},
		{"several line's ends behind it", "p1,,,,\n\r\n\n", `id="p1"`, schema},
		{"empty is null, and an empty text is one", `"",,"",,`, `id="" note=""`, schema},
		{"quotes", `"a,b",,"he said ""no""",,`, `id="a,b" note="he said \"no\""`, schema},
		{"line's ends within quotes stay as they are", "\"a\r\nb\nc\",,,,", `id="a\r\nb\nc"`, schema},
		{"a byte-order mark", "\xef\xbb\xbfp1,,,,", `id="p1"`, schema},
		{"white space is part of a value", " p1 ,,,,", `id=" p1 "`, schema},
		{"a carriage return within a value", "p\r1,,,,", `id="p\r1"`, schema},
		{"another separator", "a,b;p1", `id="p1"`, semicolons},

		{"empty", "", "undecodable: the value is empty", schema},
		{"too few", "p1,,", "undecodable: the row has 3 values, but 5 columns are declared", schema},
		{"too many", "p1,,,,,", "undecodable: the row has 6 values, but 5 columns are declared", schema},
		{"a blank line", "\n", "undecodable: the row has 1 values, but 5 columns are declared", schema},
		{"two rows", "p1,,,,\np2,,,,", "undecodable: a second row begins at byte 7; a record must hold one row", schema},
		{"two rows behind a mark", "\xef\xbb\xbfp1,,,,\r\np2,,,,", "undecodable: a second row begins at byte 11; a record must hold one row", schema},
		{"a quote within", `p"1,,,,`, "undecodable: there is a quote inside an unquoted value, at byte 1", schema},
		{"behind a quote", `"p1"x,,,,`, "undecodable: there is data after the closing quote at byte 3", schema},
		{"never closed", `p1,"a,,,`, "undecodable: the quote at byte 3 is never closed", schema},
		{"bad UTF-8, in a column that is not declared too", "p1,,,,\xff", "undecodable: the row is not UTF-8", schema},
		{"no time", "p1,soon,,,", `wrong_type: field at: a time as 2013-01-31T08:00:00Z (RFC 3339) is expected, found "soon"`, schema},
		{"no number", "p1,,,heavy,", `wrong_type: field weight: a number is expected, found "heavy"`, schema},
		{"NaN", "p1,,,NaN,", `wrong_type: field weight: a number is expected, found "NaN"`, schema},
		{"infinity", "p1,,,-inf,", `wrong_type: field weight: a number is expected, found "-inf"`, schema},
		{"past a float's range", "p1,,,1e999,", `wrong_type: field weight: the number is out of range`, schema},
		{"below a float's range", "p1,,,1e-400,", `wrong_type: field weight: the number is out of range`, schema},
		{"past 2⁶³", "9223372036854775808,,,,", "wrong_type: field id: the number does not fit 64 bits", exact},
		{"a decimal of 39 digits", "1,,," + strings.Repeat("7", 39) + ",", "wrong_type: field weight: the decimal has more than 38 digits", exact},
		{"a time past 64 bits of ns", "1,,9999-12-31T23:59:59Z,,",
			`wrong_type: field note: a time in ns since 1970, or as 2013-01-31T08:00:00.000000001Z, is expected, found "9999-12-31T23:59:59Z"`, exact},
		{"year 0", "p1,0000-01-01T00:00:00Z,,,", `id="p1" at=-62167219200000`, schema},
		{"year 9999", "p1,9999-12-31T23:59:59.999Z,,,", `id="p1" at=253402300799999`, schema},
		{"year 10000", "p1,10000-01-01T00:00:00Z,,,", `wrong_type: field at: a time as 2013-01-31T08:00:00Z (RFC 3339) is expected, found "10000-01-01T00:00:00Z"`, schema},
		{"the magic byte of a frame", "\x00\x00\x00\x00\x01p1,,,,", `id="\x00\x00\x00\x00\x01p1"`, schema},
	} {
		if got := decode(c.schema, c.in); got != c.want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", c.name, c.in, got, c.want)
		}
	}
}

// TestWideAndLongRows reads 100,000 columns, and a value of 5 MB.
func TestWideAndLongRows(t *testing.T) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	s := event.Schema{Version: -1, Format: csv.Format{Columns: names}, Fields: []event.Field{{Name: "c99999", Type: event.Text}}}
	if got := decode(s, strings.Repeat("x,", 99_999)+"last"); got != `c99999="last"` {
		t.Errorf("the last of 100,000: %.100s", got)
	}
	s.Format = csv.Format{Columns: []string{"c99999"}}
	if got := decode(s, `"`+strings.Repeat("y", 5<<20)+`"`); len(got) != 5<<20+len(`c99999=""`) {
		t.Errorf("%d bytes of a value of 5 MiB: %.50s", len(got), got)
	}
}

// TestReadingAllocatesNothing checks that the reader itself does not allocate: values are cut out of the record.
func TestReadingAllocatesNothing(t *testing.T) {
	d, rec := event.NewDecoder(schema), &event.Record{Value: []byte(`"p1",1970-01-01T00:00:01Z,"he said ""no""",1.5,x`)}
	var b event.Batch
	if n := testing.AllocsPerRun(100, func() {
		d.Reset(&b)
		if err := d.Decode(rec, &b); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// oracle returns what encoding/csv reads of a record with three columns, nil for a null; ok is false if the record must be a reject. Brine's
// rows differ in that
//   - a record is exactly one row: blank lines before it, which encoding/csv skips, and rows after it are rejects;
//   - it is UTF-8, perhaps with a byte-order mark, which encoding/csv would take for a part of the first value;
//   - an empty value is null, unless it is in quotes: encoding/csv does not say whether it was;
//   - line breaks within quotes stay as they are, where encoding/csv makes "\r\n" a "\n". See lineBreaks.
func oracle(record []byte, separator rune) (values []*string, ok bool) {
	row := bytes.TrimPrefix(record, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(row) || bytes.HasPrefix(row, []byte("\n")) || bytes.HasPrefix(row, []byte("\r\n")) {
		return nil, false
	}
	r := stdcsv.NewReader(bytes.NewReader(row))
	r.Comma = separator
	texts, err := r.Read()
	if err != nil || len(texts) != 3 || len(bytes.Trim(row[r.InputOffset():], "\r\n")) > 0 {
		return nil, false
	}
	lines := bytes.SplitAfter(row, []byte("\n"))
	for i, text := range texts {
		line, column := r.FieldPos(i)
		if text == "" && !bytes.HasPrefix(lines[line-1][column-1:], []byte{'"'}) {
			values = append(values, nil)
			continue
		}
		values = append(values, &text)
	}
	return values, true
}

// lineBreaks returns how many "\r\n" the values of a record hold that is one row.
func lineBreaks(record []byte) int {
	return bytes.Count(bytes.TrimRight(record, "\r\n"), []byte("\r\n"))
}

// FuzzCSV checks that any bytes yield what encoding/csv reads, or a reject where it finds none; see oracle for what differs.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b,c", `"a","b ""x""",`, "a,b,c\r\n", "\xef\xbb\xbfa,,c", "a,\"b\r\nc\",d", `"`, "a,b\nc,d", "\r", "a,b,\r", `"",,""`, "\n\na,b,c", "a;\"b\r\n\";c\r\r\n\n",
		`a,b"c,d`, `a,"b"c,d`, "a,b,\"c\"\r", "a,b,\"c\"\r\r\n", "\r\r\n", "a,b,c\n\r\n\r", "a,b,c\nd", "a,\xff,c"} {
		f.Add([]byte(seed))
	}
	fields := []event.Field{{Name: "a", Type: event.Text}, {Name: "b", Type: event.Text}, {Name: "c", Type: event.Text}}
	var decoders []*event.Decoder
	separators := []byte{',', ';'}
	for _, s := range separators {
		decoders = append(decoders, event.NewDecoder(event.Schema{Version: -1, Fields: fields, Format: csv.Format{Columns: []string{"a", "b", "c"}, Separator: s}}))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if len(record) == 0 {
			return // nil is a tombstone
		}
		for i, d := range decoders {
			want, ok := oracle(record, rune(separators[i]))
			var b event.Batch
			err := d.Decode(&event.Record{Value: record}, &b)
			if reject := (*event.Error)(nil); err != nil && (!errors.As(err, &reject) || reject.Reason != event.Undecodable) {
				t.Fatalf("%T: %v", err, err)
			}
			if ok != (err == nil) {
				t.Fatalf("%q: %v, encoding/csv reads %d values", record, err, len(want))
			}
			if !ok {
				continue
			}
			breaks := 0
			for i, v := range b.Events[0].Values {
				breaks += strings.Count(string(v.Text()), "\r\n")
				if v.Null() != (want[i] == nil) || want[i] != nil && strings.ReplaceAll(string(v.Text()), "\r\n", "\n") != *want[i] {
					t.Fatalf("%q: value %d is %q, encoding/csv says %v", record, i, v.Text(), want[i])
				}
			}
			if breaks != lineBreaks(record) {
				t.Fatalf("%q: the values hold %d line breaks of two characters, the record %d", record, breaks, lineBreaks(record))
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	d, rec := event.NewDecoder(schema), &event.Record{Value: []byte(`p1,1970-01-01T00:00:01Z,hello,1.5,x`)}
	var batch event.Batch
	b.ReportAllocs()
	for b.Loop() {
		d.Reset(&batch)
		if err := d.Decode(rec, &batch); err != nil {
			b.Fatal(err)
		}
	}
}
