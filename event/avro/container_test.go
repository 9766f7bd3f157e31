package avro_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	twmb "github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"brine/event/avro"
)

const rowSchema = `{"type":"record","name":"Row","fields":[{"name":"id","type":"string"},{"name":"n","type":["null","long"]},` +
	`{"name":"tags","type":{"type":"array","items":"string"}},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}`

var codecs = map[string]func() ocf.Codec{
	"null": nil, "deflate": func() ocf.Codec { return ocf.DeflateCodec(flate.DefaultCompression) }, "snappy": ocf.SnappyCodec,
	"zstandard": func() ocf.Codec { return ocf.MustZstdCodec(nil, nil) },
}

// containerOf returns a container of rows in blocks of two, and the rows.
func containerOf(t testing.TB, codec func() ocf.Codec, rows int) (file []byte, values [][]byte) {
	t.Helper()
	var out bytes.Buffer
	opts := []ocf.WriterOpt{ocf.WithBlockCount(2)}
	if codec != nil {
		opts = append(opts, ocf.WithCodec(codec()))
	}
	s := twmb.MustParse(rowSchema)
	w, err := ocf.NewWriter(&out, s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		row := map[string]any{"id": fmt.Sprint("r", i), "n": nil, "tags": []string{"a", "b"}, "at": int64(i)}
		value, err := s.AppendEncode(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Encode(row); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), values
}

// TestContainers checks that values are those that were written, whatever the codec, up to the number asked for.
func TestContainers(t *testing.T) {
	for name, codec := range codecs {
		for rows := range 6 {
			file, values := containerOf(t, codec, rows)
			got, err := avro.ReadContainer(bytes.NewReader(file), 4)
			if err != nil {
				t.Fatalf("%s of %d: %v", name, rows, err)
			}
			if want := values[:min(4, rows)]; fmt.Sprint(got.Values) != fmt.Sprint(want) {
				t.Errorf("%s of %d: got %x, want %x", name, rows, got.Values, want)
			}
			if s, err := avro.Parse(got.Schema); err != nil || len(s.Fields()) == 0 {
				t.Errorf("%s: the schema %s: %v", name, got.Schema, err)
			}
		}
	}
}

// TestContainersCutOff checks that a container that ends early is an error that says where, wherever it ends except between blocks.
func TestContainersCutOff(t *testing.T) {
	file, _ := containerOf(t, nil, 5)
	whole := 0
	for end := range len(file) {
		got, err := avro.ReadContainer(bytes.NewReader(file[:end]), 100)
		switch {
		case err == nil:
			whole++
			if n := len(got.Values); n%2 != 0 || n > 4 {
				t.Errorf("%d values of %d bytes", n, end)
			}
		case !strings.Contains(err.Error(), "it ends within "):
			t.Errorf("%d bytes: %v", end, err)
		}
	}
	if whole != 3 {
		t.Errorf("%d places between blocks, want 3", whole)
	}
}

// TestHostileContainers checks that what a container says of sizes is not believed, and that it is named.
func TestHostileContainers(t *testing.T) {
	empty, _ := containerOf(t, nil, 0)
	sync := empty[len(empty)-16:]
	block := func(begin []byte, count, size int64, data []byte) []byte {
		out := binary.AppendVarint(binary.AppendVarint(bytes.Clone(begin), count), size)
		return append(append(out, data...), sync...)
	}
	bomb := func(name string) []byte {
		codec := codecs[name]()
		packed, err := codec.Compress(make([]byte, 100<<20))
		if err != nil {
			t.Fatal(err)
		}
		file, _ := containerOf(t, codecs[name], 0)
		sync = file[len(file)-16:]
		return block(file, 1<<20, int64(len(packed)), packed)
	}
	long := append([]byte("Obj\x01"), binary.AppendVarint(binary.AppendVarint(nil, 1), 11)...)
	long = append(append(long, "avro.schema"...), binary.AppendVarint(nil, 60<<20)...)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"a block of 2⁶² bytes":      {block(empty, 1, 1<<62, nil), "it cannot be read after 0 values: "},
		"a block of 31 MiB":         {block(empty, 1, 31<<20, []byte("x")), "it ends within a block, after 0 values"},
		"more values than bytes":    {block(empty, 1<<40, 3, []byte("abc")), "it cannot be read after 0 values: "},
		"negative sizes":            {block(empty, -1, -1, nil), "it cannot be read after 0 values: "},
		"another end":               {append(block(empty, 1, 1, []byte("x"))[:len(empty)+3], make([]byte, 16)...), "it cannot be read after 0 values: "},
		"a text of 2⁶² bytes":       {block(empty, 1, 9, binary.AppendVarint(nil, 1<<61)), "it cannot be read after 0 values: "},
		"a header without an end":   {append(long, make([]byte, 20<<20)...), "its header has more than 16 MiB"},
		"a header that is cut off":  {long, "it ends within its header"},
		"nothing but the beginning": {[]byte("Obj\x01"), "it ends within its header"},
		"no schema":                 {append([]byte("Obj\x01\x00"), make([]byte, 16)...), "its header cannot be read: "},
		"a bomb of deflate":         {bomb("deflate"), "it cannot be read after 0 values: "},
		"a bomb of snappy":          {bomb("snappy"), "it cannot be read after 0 values: "},
		"a bomb of zstandard":       {bomb("zstandard"), "it cannot be read after 0 values: "},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := avro.ReadContainer(bytes.NewReader(c.file), 100)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 160 {
			t.Errorf("%s: %d MiB allocated", name, n)
		}
		t.Logf("%s: %d MiB, %v", name, (after.TotalAlloc-before.TotalAlloc)>>20, err)
	}
}

// FuzzContainer checks that any bytes are a container of no more values than asked for, or an error.
func FuzzContainer(f *testing.F) {
	for name, codec := range codecs {
		for rows := range 4 {
			file, _ := containerOf(f, codec, rows)
			f.Add(file)
			f.Add(file[:len(file)-len(name)])
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := avro.ReadContainer(bytes.NewReader(file), 3)
		if err == nil && len(got.Values) > 3 || (err == nil) != (got != nil) {
			t.Errorf("%x: %v, %v", file, got, err)
		}
	})
}
