package publish

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// MaxLine bounds a line or row of a file: more than any record that a broker accepts.
const MaxLine = 64 << 20

// ParseEncoding finds an encoding by one of the names that browsers know, such as latin1 or gb18030; nil is UTF-8.
func ParseEncoding(name string) (encoding.Encoding, error) {
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		return nil, fmt.Errorf("no encoding %q; write utf-8, windows-1252, iso-8859-2, gb18030, big5, shift_jis, euc-kr, utf-16le or another "+
			"name that browsers know", name)
	}
	if canonical, err := htmlindex.Name(e); err == nil && canonical == "utf-8" {
		return nil, nil
	}
	return e, nil
}

// text is a file's text as UTF-8, without the byte order mark.
type text struct {
	*bufio.Reader
	decoded bool // from another encoding
}

const byteOrderMark = "\ufeff"

func newText(file io.Reader, from encoding.Encoding) (*text, error) {
	t := &text{bufio.NewReaderSize(file, 64<<10), from != nil}
	if from != nil {
		t.Reset(from.NewDecoder().Reader(bufio.NewReader(file)))
	}
	start, _ := t.Peek(len(byteOrderMark)) // the first Read returns the error again
	for mark, name := range map[string]string{"\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be"} {
		if from == nil && bytes.HasPrefix(start, []byte(mark)) {
			return nil, fmt.Errorf("its first bytes % x mark it as %s, not UTF-8; write --encoding %s", mark, strings.ToUpper(name), name)
		}
	}
	if string(start) == byteOrderMark {
		_, _ = t.Discard(len(byteOrderMark)) // they were peeked
	}
	return t, nil
}

// fault returns the position of the first byte that is not text, or −1. A decoder puts U+FFFD in place of what it cannot decode.
func (t *text) fault(b []byte) int {
	if t.decoded {
		return bytes.IndexRune(b, utf8.RuneError)
	}
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// explain describes what is wrong with the byte at i of a line.
func (t *text) explain(line []byte, i int) error {
	if t.decoded {
		return fmt.Errorf("character %d cannot be decoded; does --encoding match the file?", utf8.RuneCount(line[:i])+1)
	}
	return fmt.Errorf("byte %d is 0x%02x, which is not UTF-8; if the file is written in another encoding, name it, as in --encoding "+
		"windows-1252", i+1, line[i])
}

// lines reads JSON lines.
type lines struct {
	text *text
	line int    // number of the last line read
	buf  []byte // for a line longer than the reader's buffer
}

func newLines(t *text) *lines { return &lines{text: t} }

// next reads the next line that is not blank.
func (l *lines) next() (Object, error) {
	for {
		line, err := l.read()
		if err != nil {
			return Object{}, err
		}
		if i := l.text.fault(line); i >= 0 {
			return Object{}, &BadLine{Line: l.line, Err: l.text.explain(line, i)}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return Object{l.line, bytes.Clone(line)}, nil
		}
	}
}

// read reads a line, which is valid until the next.
func (l *lines) read() ([]byte, error) {
	l.line++
	part, err := l.text.ReadSlice('\n')
	if err == nil {
		return part, nil
	}
	l.buf = append(l.buf[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.text.ReadSlice('\n')
		l.buf = append(l.buf[:min(len(l.buf), MaxLine+1)], part...) // no more than shows that it is too long
	}
	switch {
	case err != nil && (!errors.Is(err, io.EOF) || len(l.buf) == 0):
		return nil, err
	case len(l.buf) > MaxLine:
		return nil, &BadLine{Line: l.line, Err: fmt.Errorf("it has more than %d MiB", MaxLine>>20)}
	}
	return l.buf, nil
}
