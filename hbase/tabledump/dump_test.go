package tabledump_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"brine/hbase"
	"brine/hbase/hbasetest"
	"brine/hbase/tabledump"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill creates a table with cells of all types, some with bytes that are text and some with bytes that are not.
func fill(t *testing.T, client *hbase.Client) {
	t.Helper()
	table := hbase.Table{Name: "t", Families: []hbase.Family{{Name: "f", Values: map[string]string{"VERSIONS": "3", "KEEP_DELETED_CELLS": "TRUE"}}, {Name: "g"}}}
	if err := client.CreateTable(t.Context(), table, [][]byte{{0x80, 0xff}, []byte("m")}[1:]); err != nil {
		t.Fatal(err)
	}
	b := hbase.NewBatch("t")
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		row := make([]byte, 1+random.IntN(5))
		for i := range row {
			row[i] = byte(random.IntN(256))
		}
		b.Mutate(row)
		value := make([]byte, random.IntN(20))
		for i := range value {
			value[i] = byte(random.IntN(256))
		}
		b.Put([]byte("f"), row[:len(row)/2], int64(n), value)
	}
	for _, row := range []string{"a", "中文 \"quoted\" <b>&\u2028", "line\nfeed\t", "\\x00", "z\xff", "\ufffd"} {
		b.Mutate([]byte(row))
		b.Put([]byte("f"), []byte("q"), 5, []byte(row))
		b.Put([]byte("f"), []byte("q"), 6, nil)
		b.Put([]byte("g"), nil, math.MaxInt64-1, []byte("late"))
		b.Mutate([]byte(row))
		b.Delete(hbase.Delete, []byte("f"), []byte("q"), 5)
		b.Delete(hbase.DeleteColumn, []byte("f"), []byte("r"), 9)
		b.Delete(hbase.DeleteFamily, []byte("g"), nil, 3)
		b.Delete(hbase.DeleteFamilyVersion, []byte("g"), nil, 4)
	}
	if failed, err := client.Submit(t.Context(), b).Wait(t.Context()); err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
}

func dump(t *testing.T, client *hbase.Client, table string, live bool) string {
	t.Helper()
	var out bytes.Buffer
	n, err := tabledump.Dump(t.Context(), client, table, live, &out)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != n+1 {
		t.Errorf("%d lines of %d cells", lines, n)
	}
	return out.String()
}

// TestDumpsBecomeTheSameTable loads a dump into another server, and into the same one under another name. Loading twice changes nothing. A
// dump of the loaded table equals the original dump, and readers see the same.
func TestDumpsBecomeTheSameTable(t *testing.T) {
	one, two := hbasetest.Run(t).Client(t), hbasetest.Run(t).Client(t)
	fill(t, one)
	whole := dump(t, one, "t", false)
	for range 2 {
		n, err := tabledump.Load(t.Context(), two, "", strings.NewReader(whole))
		if err != nil || n != strings.Count(whole, "\n")-1 {
			t.Fatalf("%d cells: %v", n, err)
		}
	}
	if again := dump(t, two, "t", false); again != whole {
		t.Errorf("what was loaded is dumped as\n%.2000s\nwhat was dumped is\n%.2000s", again, whole)
	}
	if a, b := dump(t, one, "t", true), dump(t, two, "t", true); a != b || len(a) >= len(whole) {
		t.Error("readers see other cells")
	}
	if _, err := tabledump.Load(t.Context(), one, "copy", strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if copied := dump(t, one, "copy", false); strings.Replace(copied, `"table":"copy"`, `"table":"t"`, 1) != whole {
		t.Error("the copy is another table")
	}
	if d1, err := hbasetest.Digest(t.Context(), one, "t"); err != nil {
		t.Error(err)
	} else if d2, err := hbasetest.Digest(t.Context(), two, "t"); err != nil || d1 != d2 {
		t.Errorf("digests are %s and %s (%v)", d1, d2, err)
	}
}

// TestLinesAreReadable checks that text is written as text.
func TestLinesAreReadable(t *testing.T) {
	client := hbasetest.Run(t).Client(t)
	want := `{"table":"t","families":[{"name":"f"}],"splits":["m",{"base64":"gP8="}]}
{"row":"<o-1>","family":"f","qualifier":"状态","timestamp":7,"type":"put","value":"paid"}
{"row":"<o-1>","family":"f","qualifier":{"base64":"AA=="},"timestamp":7,"type":"delete-column"}
{"row":{"base64":"gP8B"},"family":"f","qualifier":"","timestamp":0,"type":"put","value":""}
`
	if _, err := tabledump.Load(t.Context(), client, "", strings.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	got := strings.SplitAfter(dump(t, client, "t", false), "\n")
	lines := strings.SplitAfter(want, "\n")
	if !strings.HasSuffix(got[0], `"splits":["m",{"base64":"gP8="}]}`+"\n") {
		t.Errorf("the table is %s", got[0])
	}
	for i, line := range []int{2, 1, 3} { // in HBase's order
		if got[i+1] != lines[line] {
			t.Errorf("line %d is %swant %s", i+2, got[i+1], lines[line])
		}
	}
}

func TestLinesThatAreRefused(t *testing.T) {
	client := hbasetest.Run(t).Client(t)
	const table = `{"table":"t","families":[{"name":"f"}]}` + "\n"
	const good = `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"put","value":"v"}` + "\n"
	for lines, want := range map[string]string{
		"":                           "the input is empty",
		good:                         "line 1: the table",
		`{"families":[]}`:            "line 1: the first line must be the table",
		table + good + "x":           "line 3: invalid",
		table + good + good[:40]:     "line 3: unexpected",
		table + "\n" + `{"row":"r"}`: "line 3: type",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"put"}`:                        "line 2: a cell needs",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":-1,"type":"put","value":""}`:            "less than 0",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"delete","value":"v"}`:         "cannot have a value",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"put","value":7}`:              "bytes must be a string",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"put","value":{"base64":"*"}}`: "bytes must be a string",
		table + `{"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"put","value":"v","ttl":1}`:    "unknown field",
		table + `{"row":"r","family":"nope","qualifier":"q","timestamp":1,"type":"put","value":"v"}`:         "from line 2 on",
		table + `{"row":"","family":"f","qualifier":"q","timestamp":1,"type":"put","value":"v"}`:             "from line 2 on",
	} {
		if _, err := tabledump.Load(t.Context(), client, "", strings.NewReader(lines)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", lines, err, want)
		}
	}
}

// TestManyRowsAreLoadedInBatches loads more than one batch holds.
func TestManyRowsAreLoadedInBatches(t *testing.T) {
	client := hbasetest.Run(t).Client(t)
	var lines strings.Builder
	lines.WriteString(`{"table":"t","families":[{"name":"f"}]}` + "\n")
	const rows = 5000
	for n := range rows {
		fmt.Fprintf(&lines, `{"row":"r%06d","family":"f","qualifier":"q","timestamp":1,"type":"put","value":"v"}`+"\n", n)
	}
	if n, err := tabledump.Load(t.Context(), client, "", strings.NewReader(lines.String())); err != nil || n != rows {
		t.Fatalf("%d cells: %v", n, err)
	}
	if out := dump(t, client, "t", false); strings.Count(out, "\n") != rows+1 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
}
