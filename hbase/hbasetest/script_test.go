package hbasetest

import (
	"math"
	"testing"

	"brine/hbase"

	"github.com/google/go-cmp/cmp"
)

const example = `# A comment.
create t e splits=a,b
  ok

batch t
+ put r e:q@1=x
+ delete r e:q@1/version
  0 ok
  1 stale answer
count t
`

func TestScriptKeepsAllButTheAnswers(t *testing.T) {
	s := parse("dir/example.txt", example)
	ops := []Op{
		{Line: 2, Words: []string{"create", "t", "e", "splits=a,b"}},
		{Line: 5, Words: []string{"batch", "t"}, More: [][]string{{"put", "r", "e:q@1=x"}, {"delete", "r", "e:q@1/version"}}},
		{Line: 10, Words: []string{"count", "t"}},
	}
	if diff := cmp.Diff(ops, s.Ops); diff != "" {
		t.Error(diff)
	}
	got := s.With(Answers{2: {"ok"}, 5: {"0 ok", "1 fresh"}, 10: {"0 rows"}})
	want := `# A comment.
create t e splits=a,b
  ok

batch t
+ put r e:q@1=x
+ delete r e:q@1/version
  0 ok
  1 fresh
count t
  0 rows
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.Text() != example || s.prefix("run_") != "run_example_" || s.OnlyJava {
		t.Errorf("text, prefix or kind: %q, %q, %t", s.Text(), s.prefix("run_"), s.OnlyJava)
	}
	if !parse("x", "# only java: why\n").OnlyJava {
		t.Error("the mark for Java is not seen")
	}
}

func TestCellsReadAndPrint(t *testing.T) {
	for _, word := range []string{
		"e:q@1=x", "e:@0=", `e:\x00\x3A@5=\x2C\xFF`, "e:q@now-5000=x", "e:q@now=x", "e:q@now+3=x",
		"e:q@7/version", "e:q@7/column", "e:@7/family", "e:@7/family-version", "e:q@9223372036854775806=x",
	} {
		c, err := parseCell(word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		c.Row = []byte("r")
		if got := formatCell(c); got != "r "+word {
			t.Errorf("%s is printed as %s", word, got)
		}
	}
	for _, bad := range []string{"e:q", "e:q@1", "e:q@1/nothing", "e:q=x"} {
		if _, err := parseCell(bad); err == nil {
			t.Errorf("%s is no cell, but was read", bad)
		}
	}
	long := formatCell(hbase.Cell{Row: []byte("r"), Family: []byte("e"), Timestamp: math.MaxInt64 - 1, Type: hbase.Put, Value: parseBytes("v*1000")})
	if long != "r e:@9223372036854775806=1000 bytes dfacc21aae3e1d2f" {
		t.Errorf("a long value is printed as %s", long)
	}
}
