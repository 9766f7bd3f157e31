package rowkey_test

import (
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/rowkey"
)

// design is a published key, with one of its rows; see testdata/designs.txt.
type design struct {
	name, key, row string
	fields         map[string]string
	hex            string
}

func publishedDesigns(t testing.TB) []design {
	t.Helper()
	file, err := os.ReadFile("testdata/designs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []design
	for line := range strings.Lines(string(file)) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if word == "design" {
			all = append(all, design{name: rest, fields: map[string]string{}})
		}
		if len(all) == 0 || strings.HasPrefix(word, "#") {
			continue
		}
		d := &all[len(all)-1]
		switch rest = strings.TrimSpace(rest); word {
		case "key":
			d.key = rest
		case "hex":
			d.hex = rest
		case "row":
			d.row = rest
		case "":
			name, value, _ := strings.Cut(rest, " ")
			if name != "" {
				d.fields[name] = strings.TrimSpace(value)
			}
		}
	}
	return all
}

func (d design) parse(t testing.TB) *rowkey.Key {
	t.Helper()
	k, err := rowkey.Parse(d.key, designFields)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return k
}

func (d design) bytes(t testing.TB) []byte {
	t.Helper()
	row, err := hex.DecodeString(d.hex)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return row
}

// values returns the fields as the key takes them.
func (d design) values(t testing.TB, k *rowkey.Key) []rowkey.Value {
	t.Helper()
	var values []rowkey.Value
	for _, name := range k.Fields() {
		i := slices.IndexFunc(designFields, func(f rowkey.Field) bool { return f.Name == name })
		values = append(values, readValue(t, designFields[i].Type, d.fields[name]))
	}
	return values
}

func readValue(t testing.TB, typ rowkey.Type, s string) rowkey.Value {
	t.Helper()
	var err error
	v := rowkey.Value{Type: typ}
	switch typ {
	case rowkey.Text:
		v.Text = []byte(s)
	case rowkey.Int:
		v.Int, err = strconv.ParseInt(s, 10, 64)
	case rowkey.Float:
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		v = real(f)
	case rowkey.Time:
		var when time.Time
		when, err = time.Parse(time.RFC3339, s)
		v = at(when.UnixMilli())
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDesigns checks that every published design makes the row that was computed independently of this package, and reads it back.
func TestDesigns(t *testing.T) {
	all := publishedDesigns(t)
	if len(all) < 16 {
		t.Fatalf("%d designs", len(all))
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			k, want := d.parse(t), d.bytes(t)
			values := d.values(t, k)
			if len(d.fields) != len(values) {
				t.Errorf("the key reads %v", k.Fields())
			}
			checkVector(t, k, d.key, values, want)
			if d.row != rowkey.Binary(want) {
				t.Errorf("the row is shown as %s, want %s", rowkey.Binary(want), d.row)
			}
		})
	}
}

// checkVector checks a key against a known row, in both directions.
func checkVector(t *testing.T, k *rowkey.Key, expr string, values []rowkey.Value, want []byte) {
	t.Helper()
	if k.String() != expr {
		t.Errorf("normal form %s, want %s", k, expr)
	}
	if row := appendRow(t, k, values...); string(row) != string(want) {
		t.Errorf("row %s, want %s", rowkey.Binary(row), rowkey.Binary(want))
	}
	back, err := k.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(back, values, rowkey.Value.Equal) {
		t.Errorf("decodes to %v, want %v", back, values)
	}
}
