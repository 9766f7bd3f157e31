package publish

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSource reads any bytes as CSV and as JSON lines: the results are JSON in UTF-8, no line counts twice, and CSV has the rows that
// encoding/csv finds.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"id,n\nA,1\n", "\n\r\nid\n\"a\n\"\"b\"\n\nB", "id\nS\xe3o\n", "id,n\nA,\"1\"2\nB,3", "{\"id\":1}\n\n{\"id\":\n", "\xff\xfei\x00"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, file []byte, asCSV bool) {
		s := &Source{Fields: fields, Format: "json"}
		if asCSV {
			s.Format = "csv"
		}
		n, last, bad := 0, 0, false
		next, err := s.open("file", bytes.NewReader(file))
		for err == nil {
			var o Object
			o, err = next()
			if line, ok := errors.AsType[*BadLine](err); ok {
				o.Line, err, bad = line.Line, nil, true
			} else if err == nil {
				if n++; asCSV && !json.Valid(o.JSON) || !utf8.Valid(o.JSON) {
					t.Fatalf("line %d becomes %q", o.Line, o.JSON)
				}
			} else {
				break
			}
			if o.Line <= last || o.Line > bytes.Count(file, newline)+1 {
				t.Fatalf("line %d follows line %d", o.Line, last)
			}
			last = o.Line
		}
		if !asCSV || bad || !errors.Is(err, io.EOF) {
			return
		}
		plain := strings.TrimPrefix(string(file), byteOrderMark)
		all := csv.NewReader(strings.NewReader(plain))
		all.Comma = rune(separator([]byte(plain)))
		rows, err := all.ReadAll()
		if err != nil || n != max(0, len(rows)-1) {
			t.Fatalf("%d objects of %d rows: %v", n, len(rows), err)
		}
	})
}
