package publish

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"brine/event"
)

var fields = []event.Field{{Name: "id", Type: event.Text}, {Name: "n", Type: event.Int}, {Name: "x", Type: event.Float, Path: []string{"a", "x"}},
	{Name: "y", Type: event.Bool, Path: []string{"a", "y"}}, {Name: "s", Type: event.TimeS}, {Name: "j", Type: event.Nested}, {Name: "t", Type: event.Time, Format: "%d/%m/%Y %H:%M", Zone: "Asia/Shanghai"},
	{Name: "us", Type: event.Time, Format: "epoch_us"}, {Name: "no", Type: event.Text, Numbers: true}}

// contents returns the values of a file's records and what is wrong with the file; with skip, what is wrong with each of its lines.
func contents(t *testing.T, name, text, encoding string, skip bool) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []string
	say := func(err error) { out = append(out, strings.ReplaceAll(err.Error(), file, "FILE")) }
	s := &Source{Files: []string{file}, Fields: fields, Key: "id", SkipBad: skip}
	var err error
	if s.Encoding, err = ParseEncoding(cmp.Or(encoding, "utf-8")); err != nil {
		t.Fatal(err)
	}
	skipped := func() {
		for _, b := range s.Skipped.First {
			say(b)
		}
		s.Skipped.First = nil
	}
	for r, err := range s.Records() {
		skipped()
		if err != nil {
			say(err)
			break
		}
		out = append(out, string(r.Value))
	}
	skipped()
	return strings.Join(out, "\n")
}

func TestCSVRowsBecomeTheObjectsThatThePipelineDeclares(t *testing.T) {
	for _, c := range []struct{ csv, want string }{
		{"id,n,x,y,s,j,z.z\nA,-7,1.50,true,2013-01-05T00:00:00Z,[1],t\n", `{"a":{"x":1.50,"y":true},"id":"A","j":[1],"n":-7,"s":1357344000,"z":{"z":"t"}}`},
		{"\ufeffid\n\"a\n\"\"b\"\n", `{"id":"a\n\"b"}`},
		{"\ufeff\"id\"\na\n", `{"id":"a"}`},
		{"id,n\n1,\n", `{"id":"1"}`},
		{"\r\nid,n\r\n\r\n1,2\r\n", `{"id":"1","n":2}`},
		{"\r\nid;n;z\nA;2;\"a \"\"b\"\";,,,,\"\n", `{"id":"A","n":2,"z":"a \"b\";,,,,"}`},
		{"id\tn\nA\t2\n", `{"id":"A","n":2}`},
		{"id|n\nA|2\n", `{"id":"A","n":2}`},
		{"\ufeff\"a,b,c\";id;n\nx;A;2\n", `{"a,b,c":"x","id":"A","n":2}`},
		{"id,z\nA,;;;;\n", `{"id":"A","z":";;;;"}`},
		{"id;n\nA,2\n", `FILE, line 2: it has 1 fields, but the first row has 2`},
		{"id,n\nA,x\n", `FILE, line 2: column n: "x": not a whole number`},
		{"id,n\nA,9223372036854775808\n", `FILE, line 2: column n: "9223372036854775808": the number is out of range`},
		{"id,x\nA,0x1p3\n", `FILE, line 2: column x: "0x1p3": not a number`},
		{"id,y\nA,\x1b[2Jperhaps" + strings.Repeat("ä", 100) + "\n",
			`FILE, line 2: column y: "\x1b[2Jperhaps` + strings.Repeat("ä", 24) + `"…: not true or false`},
		{"id,s\nA,soon\n", `FILE, line 2: column s: "soon": not a time such as 2013-01-31T08:00:00Z or a whole number of seconds since 1970`},
		{"id,t,us,no\nA,31/01/2013 08:00,1357344000123456,1.50\n", `{"id":"A","no":"1.50","t":"31/01/2013 08:00","us":"1357344000123456"}`},
		{"id,t\nA,31/02/2013 08:00\n", `FILE, line 2: column t: "31/02/2013 08:00": a time as %d/%m/%Y %H:%M is expected`},
		{"id,j\nA,{\n", `FILE, line 2: column j: "{": not valid JSON`},
		{"id,id\n", `FILE: line 1: the first row names the fields, but column 2 is "id", which is empty or a duplicate`},
		{"id,b,b.c\nA,1,2\n", `FILE: line 1: columns b and b.c would be the same place in the record, or one inside the other; rename one`},
		{"id,x,a.x\nA,1,2\n", `FILE: line 1: columns x and a.x would be the same place in the record, or one inside the other; rename one`},
		{"id,n\n\nA\n", `FILE, line 3: it has 1 fields, but the first row has 2`},
		{"n\n1\n", `FILE, line 2: --key: the record has no field id`},
		{"id,n\nA,\"b\"c\n", `FILE, line 2: a quoted field is not closed, or continues after its closing quote; double a quote inside it`},
		{"id,n\nA,b\"c\n", `FILE, line 2: there is a quote inside an unquoted field; write "a ""quoted"" word"`},
	} {
		if got := contents(t, "rows.csv", c.csv, "", false); got != c.want {
			t.Errorf("%q becomes %s, expected %s", c.csv, got, c.want)
		}
	}
}

const notUTF8 = ", which is not UTF-8; if the file is written in another encoding, name it, as in --encoding windows-1252"

// Text in another encoding is rejected with its place, and read if the encoding is named.
func TestTextIsUTF8OrOfANamedEncoding(t *testing.T) {
	for _, c := range []struct{ name, text, encoding, want string }{
		{"a.csv", "id,station\nA,S\xe3o\n", "", `FILE, line 2: byte 4 is 0xe3` + notUTF8},
		{"a.csv", "id,station\nA,x\n\n\"B\nC\",\"y\n\"\"z\xff\"\n", "", `{"id":"A","station":"x"}` + "\n" + `FILE, line 6: byte 4 is 0xff` + notUTF8},
		{"a.csv", "id,st\xe3\nA,S\n", "", `FILE: line 1: byte 6 is 0xe3` + notUTF8},
		{"a.csv", "id\n\"A\nS\xe3o\n", "", `FILE: line 3: byte 2 is 0xe3` + notUTF8},
		{"a.csv", "id,station\nA,S\xe3o\n", "latin1", `{"id":"A","station":"São"}`},
		{"a.csv", "id,station\nA,\x80\n", "windows-1252", `{"id":"A","station":"€"}`},
		{"a.csv", "id,station\nA,\xb1\xb1\xbe\xa9\n", "gb18030", `{"id":"A","station":"北京"}`},
		{"a.csv", "id,station\nA,\xb1\xb1\xff\n", "gb18030", `FILE, line 2: character 4 cannot be decoded; does --encoding match the file?`},
		{"a.csv", "\xff\xfei\x00d\x00\n\x00A\x00\n\x00", "", `FILE: its first bytes ff fe mark it as UTF-16LE, not UTF-8; write --encoding utf-16le`},
		{"a.csv", "\xff\xfei\x00d\x00\n\x00A\x00\n\x00", "utf-16le", `{"id":"A"}`},
		{"a.csv", "\xfe\xff\x00i\x00d\x00\n\x00A\x00\n", "utf-16be", `{"id":"A"}`},
		{"a.csv", "id,station\nA,\ufffd\n", "", `{"id":"A","station":"` + "\ufffd" + `"}`},
		{"a.jsonl", "{\"id\":\"A\"}\n{\"id\":\"S\xe3o\"}\n", "", `{"id":"A"}` + "\n" + `FILE, line 2: byte 9 is 0xe3` + notUTF8},
		{"a.jsonl", "{\"id\":\"S\xe3o\"}\n", "iso-8859-1", `{"id":"São"}`},
		{"a.jsonl", "\ufeff{\"id\":\"A\"}\n", "", `{"id":"A"}`},
		{"a.jsonl", strings.Repeat(`{"id":`, 20_000), "", "FILE, line 1: undecodable: field " + strings.Repeat("id.", 32) + "id…" + strings.Repeat("id.", 32) + "id: it is nested more than 10,000 levels deep at byte 60000"},
		{"a.jsonl", `{"id":"1","x":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + "}", "", `{"id":"1","x":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + "}"},
		{"a.jsonl", `{"id":"\ud83d"}`, "", "FILE, line 1: undecodable: field id: half of a surrogate pair is missing at byte 7"},
		{"a.jsonl", `{"id":"1"}{}`, "", "FILE, line 1: undecodable: there is data after the object at byte 10"},
		{"a.jsonl", `{"id":"1","id":"2"}`, "", "FILE, line 1: undecodable: field id: it occurs twice"},
		{"a.jsonl", `[1]`, "", "FILE, line 1: undecodable: a JSON object is expected, found an array"},
		{"a.jsonl", "", "", ""},
		{"a.csv", "", "", ""},
	} {
		if got := contents(t, c.name, c.text, c.encoding, false); got != c.want {
			t.Errorf("%q in %q becomes\n%s\nexpected\n%s", c.text, c.encoding, got, c.want)
		}
	}
	if _, err := ParseEncoding("latin-99"); err == nil || !strings.HasPrefix(err.Error(), `no encoding "latin-99"; write utf-8, windows-1252`) {
		t.Error(err)
	}
}

// TestBadLinesAreSkipped checks that each bad line is reported and no other line is lost; if it is unknown where the next one begins,
// nothing is skipped.
func TestBadLinesAreSkipped(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.jsonl", "{\"id\":1}\n\n \t\r\n{\"id\":\n{\"id\":\"\xff\"}\n{}\n{\"id\":[]}\n{\"id\":2}", `{"id":1}
FILE, line 4: undecodable: field id: it ends too early at byte 6
FILE, line 5: byte 8 is 0xff` + notUTF8 + `
FILE, line 6: --key: the record has no field id
FILE, line 7: --key: field id is not a text or a number
{"id":2}`},
		{"a.csv", "id,n\nA,1\nB,x\nC\nD,\xff\nE,\"5\"5\nF,6\"\n,7\nG,8\n", `{"id":"A","n":1}
FILE, line 3: column n: "x": not a whole number
FILE, line 4: it has 1 fields, but the first row has 2
FILE, line 5: byte 3 is 0xff` + notUTF8 + `
FILE, line 6: a quoted field is not closed, or continues after its closing quote; double a quote inside it
FILE, line 7: there is a quote inside an unquoted field; write "a ""quoted"" word"
FILE, line 8: --key: the record has no field id
{"id":"G","n":8}`},
		{"a.csv", "id,n\nA,\"1\nB,2\nC,3\n", `FILE: line 2: a quoted field is not closed, or continues after its closing quote; double a quote inside it`},
		{"a.csv", "id,n,n\nA,1,1\n", `FILE: line 1: the first row names the fields, but column 3 is "n", which is empty or a duplicate`},
	} {
		if got := contents(t, c.name, c.text, "", true); got != c.want {
			t.Errorf("%q becomes\n%s\nexpected\n%s", c.text, got, c.want)
		}
	}
}

// Lines of any length within the limit are read unchanged, and one beyond it costs no other.
func TestLongLinesAreRead(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	want := `{"id":"` + long + `"}`
	if got := contents(t, "a.jsonl", want+"\n"+want, "", false); got != want+"\n"+want {
		t.Errorf("%d bytes, expected %d", len(got), 2*len(want)+1)
	}
	if got := contents(t, "a.csv", "id\n\""+long+"\"\n"+long, "", false); got != want+"\n"+want {
		t.Errorf("%d bytes, expected %d", len(got), 2*len(want)+1)
	}
	giant := strings.Repeat(" ", MaxLine) + "{}"
	if got, want := contents(t, "a.jsonl", giant+"\n{\"id\":1}", "", true), "FILE, line 1: it has more than 64 MiB\n{\"id\":1}"; got != want {
		t.Errorf("%.200s", got)
	}
	if got, want := contents(t, "a.csv", "id\n1\n\""+giant, "", true), "{\"id\":\"1\"}\nFILE: the row that begins at line 3 has more than 64 MiB; is a quote never closed?"; got != want {
		t.Errorf("%.200s", got)
	}
}

// TestRecordsHaveTheTimesOfTheirField: times are read as the pipeline declares the field, in ms or s or another format; an undeclared field
// must be unambiguous.
func TestRecordsHaveTheTimesOfTheirField(t *testing.T) {
	for _, c := range []struct{ field, value, want string }{
		{"t", `"31/01/2013 08:00"`, "2013-01-31T00:00:00Z"},
		{"t", `"2013-01-31T08:00:00Z"`, `FILE, line 1: --time: field t is "2013-01-31T08:00:00Z"; a time as %d/%m/%Y %H:%M is expected`},
		{"us", "1357344000123456", "2013-01-05T00:00:00.123Z"},
		{"s", "1357344000", "2013-01-05T00:00:00Z"},
		{"other", "1357344000123", "2013-01-05T00:00:00.123Z"},
		{"other", `"2013-01-31T08:00:00+08:00"`, "2013-01-31T00:00:00Z"},
		{"other", `"soon\u001b"`, `FILE, line 1: --time: field other is "soon\x1b"; a time as 2013-01-31T08:00:00Z (RFC 3339) is expected`},
		{"other", `[]`, `FILE, line 1: --time: field other is "[]"; a time as 2013-01-31T08:00:00Z (RFC 3339) is expected`},
		{"absent", "1", "FILE, line 1: --time: the record has no field absent"},
	} {
		file := filepath.Join(t.TempDir(), "a.jsonl")
		name := strings.Replace(c.field, "absent", "present", 1)
		if err := os.WriteFile(file, []byte(`{"id":"A","`+name+`":`+c.value+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Source{Files: []string{file}, Fields: fields, Key: "id", Time: c.field}
		for r, err := range s.Records() {
			got := r.Time.UTC().Format(time.RFC3339Nano)
			if err != nil {
				got = strings.ReplaceAll(err.Error(), file, "FILE")
			}
			if got != c.want {
				t.Errorf("%s of %s: %s, expected %s", c.field, c.value, got, c.want)
			}
		}
	}
}

// TestCutOffGzipIsNotWaitedFor: a file that ends too early is faulty, and is not taken for a broker that has gone away.
func TestCutOffGzipIsNotWaitedFor(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(bytes.Repeat([]byte(`{"id":"a"}`+"\n"), 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cut off": zipped.Bytes()[:zipped.Len()-10], "no gzip": []byte(`{"id":"a"}`), "empty": nil} {
		file := filepath.Join(t.TempDir(), "a.jsonl.gz")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range (&Source{Files: []string{file}, Key: "id"}).Records() {
			last = err
		}
		if !errors.Is(last, errNoGzip) || passing(last) {
			t.Errorf("%s: %v", name, last)
		}
	}
}
