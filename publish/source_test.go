package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/event"
)

func TestCSVRowsBecomeTheObjectsThatThePipelineDeclares(t *testing.T) {
	fields := []event.Field{{Name: "id", Type: event.Text}, {Name: "n", Type: event.Int}, {Name: "x", Type: event.Float, Path: []string{"a", "x"}}, {Name: "y", Type: event.Bool, Path: []string{"a", "y"}},
		{Name: "s", Type: event.TimeS}, {Name: "j", Type: event.Nested}}
	for _, c := range []struct{ csv, want string }{
		{"id,n,x,y,s,j,z.z\nA,-7,1.50,true,2013-01-05T00:00:00Z,[1],t\n", `{"a":{"x":1.50,"y":true},"id":"A","j":[1],"n":-7,"s":1357344000,"z":{"z":"t"}}`},
		{"\ufeffid\n\"a\n\"\"b\"\n", `{"id":"a\n\"b"}`},
		{"id,n\n1,\n", `{"id":"1"}`},
		{"id,n\nA,x\n", `FILE, line 2: column n: "x": strconv.ParseInt: parsing "x": invalid syntax`},
		{"id,x\nA,0x1p3\n", `FILE, line 2: column x: "0x1p3": no number`},
		{"id,j\nA,{\n", `FILE, line 2: column j: "{": no JSON`},
		{"id,id\n", `FILE, line 1: the first row names the fields; column 2 is "id", which is empty or there twice`},
		{"id,n\nA\n", `FILE, line 2: wrong number of fields`},
		{"n\n1\n", `FILE, line 2: --key: the record has no field id`},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(file, []byte(c.csv), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Source{Files: []string{file}, Fields: fields, Key: "id"}
		got := ""
		for r, err := range s.Records() {
			if got = string(r.Value); err != nil {
				got = strings.Replace(err.Error(), file, "FILE", 1)
			}
		}
		if got != c.want {
			t.Errorf("%q becomes %s, expected %s", c.csv, got, c.want)
		}
	}
}
