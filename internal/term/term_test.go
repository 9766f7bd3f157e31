package term

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var escapes = []struct{ text, line, written string }{
	{"", "", ""},
	{"绿茶 | é \\x1b", "绿茶 | é \\x1b", "绿茶 | é \\x1b"},
	{"a\x1b[2Jb", `a\x1b[2Jb`, `a\x1b[2Jb`},
	{"\x1b]0;title\a", `\x1b]0;title\x07`, `\x1b]0;title\x07`},
	{"a\nb\tc\r", `a\nb\tc\x0d`, "a\nb\tc\\x0d"},
	{"\u009b2J\x7f\u0085", `\u009b2J\u007f\u0085`, `\u009b2J\u007f\u0085`},
	{"\x9b2J", `\x9b2J`, `\x9b2J`}, // CSI in an 8-bit terminal
	{"a\u202eb\u2066c\u2069\u202a", `a\u202eb\u2066c\u2069\u202a`, `a\u202eb\u2066c\u2069\u202a`},
	{"\u2028\u2029", `\u2028\u2029`, `\u2028\u2029`},
	{"\xff\xe7\xbb", `\xff\xe7\xbb`, `\xff\xe7\xbb`},
	{"\ufffd", "\ufffd", "\ufffd"}, // as sent
	{"👩‍🔧 אב", "👩‍🔧 אב", "👩‍🔧 אב"},
}

func TestEscapes(t *testing.T) {
	for _, x := range escapes {
		if got := Line(x.text); got != x.line || Line(got) != got {
			t.Errorf("%q: %q, want %q", x.text, got, x.line)
		}
		if got := written(t, x.text, len(x.text)+1); got != x.written {
			t.Errorf("%q is written as %q, want %q", x.text, got, x.written)
		}
	}
}

// written writes a text in pieces of the given number of bytes.
func written(t *testing.T, text string, piece int) string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for rest := []byte(text); len(rest) > 0; {
		n := min(piece, len(rest))
		if m, err := w.Write(rest[:n]); m != n || err != nil {
			t.Fatalf("%d of %d bytes, %v", m, n, err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// However a text is split into writes, the output is the same, is UTF-8 and has nothing that a terminal acts on; JSON keeps its meaning.
func FuzzWriter(f *testing.F) {
	for _, x := range escapes {
		f.Add(x.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := written(t, text, len(text)+1)
		for piece := 1; piece < 5; piece++ {
			if got := written(t, text, piece); got != whole {
				t.Errorf("%q in pieces of %d: %q, else %q", text, piece, got, whole)
			}
		}
		if !utf8.ValidString(whole) || !onlyBreaks(whole) {
			t.Errorf("%q is written as %q", text, whole)
		}
		if line := Line(text); strings.IndexFunc(line, acts) >= 0 || !utf8.ValidString(line) {
			t.Errorf("%q as a line: %q", text, line)
		}
		document, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if err := json.Unmarshal(document, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(written(t, string(document), 3)), &after); err != nil || after != before {
			t.Errorf("%s is written as %s: %v", document, written(t, string(document), 3), err)
		}
	})
}

// onlyBreaks reports whether a terminal acts only on line breaks and tabs in a text.
func onlyBreaks(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return acts(r) && r != '\n' && r != '\t' }) < 0
}

func TestDrawIsNotEscaped(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	if NewWriter(w) != w {
		t.Error("a text is escaped twice")
	}
	if err := Draw(w, "\x1b[2K"+Line("a\x1b[2J")); err != nil || out.String() != "\x1b[2K"+`a\x1b[2J` {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, ok := File(w); ok {
		t.Error("a buffer is a file")
	}
}
