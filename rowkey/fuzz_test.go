package rowkey_test

import (
	"bytes"
	"errors"
	"testing"

	"brine/rowkey"
)

// FuzzParse checks that any text is a key or a *SyntaxError with a position, that a key's normal form is stable, and that none of its
// methods panics.
func FuzzParse(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.expr)
	}
	for _, d := range publishedDesigns(f) {
		f.Add(d.key)
	}
	for _, expr := range []string{scanKey, `md5(`, `"`, `a + + b`, `md5(order, 4 bytes)`, `order + "\xff\x00" + user`, "order\x00", `fixed(order, 8, left, "\xff")`} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		k, err := rowkey.Parse(expr, designFields)
		if err != nil {
			e, ok := errors.AsType[*rowkey.SyntaxError](err)
			if !ok || e.Offset < 0 || e.Offset > len(expr) || e.Msg == "" || e.Fix == "" {
				t.Fatalf("%q: %#v", expr, err)
			}
			return
		}
		again, err := rowkey.Parse(k.String(), designFields)
		if err != nil || again.String() != k.String() {
			t.Fatalf("%q: the normal form %q becomes %v, %v", expr, k, again, err)
		}
		if _, err := k.Explain(nil); err != nil {
			t.Fatal(err)
		}
		if points, err := k.Splits(7); err == nil && len(points) != 6 {
			t.Fatalf("%q: %d split points", expr, len(points))
		}
		k.Lint(rowkey.LintOptions{EventRows: true, Servers: 3, Regions: 5})
	})
}

// FuzzDecode checks that any bytes decode to values that encode to them again, or are a *DecodeError.
func FuzzDecode(f *testing.F) {
	var keys []*rowkey.Key
	add := func(expr string, row []byte) {
		k, err := rowkey.Parse(expr, designFields)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(len(keys)), row)
		f.Add(byte(len(keys)), row[:len(row)/2])
		keys = append(keys, k)
	}
	for _, d := range publishedDesigns(f) {
		add(d.key, d.bytes(f))
	}
	for _, v := range vectors {
		add(v.expr, []byte(v.row))
	}
	f.Fuzz(func(t *testing.T, which byte, row []byte) {
		k := keys[int(which)%len(keys)]
		values, err := k.Decode(row)
		if _, explained := k.Explain(row); row != nil && (explained == nil) != (err == nil) {
			t.Fatalf("%s: Decode says %v, Explain %v", k, err, explained)
		}
		if err != nil {
			if e, ok := errors.AsType[*rowkey.DecodeError](err); !ok || e.Offset < 0 || e.Offset > len(row) || e.Error() == "" {
				t.Fatalf("%s: %#v", k, err)
			}
			return
		}
		again, err := k.Append(nil, values)
		if err != nil || !bytes.Equal(again, row) {
			t.Fatalf("%s: %s decodes to %v, which encodes to %s, %v", k, rowkey.Binary(row), values, rowkey.Binary(again), err)
		}
	})
}
