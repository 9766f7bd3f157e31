package term

import (
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Writer escapes what is written to it, but for line breaks and tabs. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	out  io.Writer
	text []byte // that is being written, before and after it is escaped
	made []byte
	tail []byte // the beginning of a character whose rest the next write brings

	closed bool
}

// NewWriter makes a Writer to out; one that escapes already is returned as it is.
func NewWriter(out io.Writer) *Writer {
	if w, ok := out.(*Writer); ok {
		return w
	}
	return &Writer{out: out}
}

// Write writes a text escaped.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return len(p), nil
	}
	w.text = append(append(w.text[:0], w.tail...), p...)
	whole := len(w.text) - unfinished(w.text)
	w.tail = append(w.tail[:0], w.text[whole:]...)
	return len(p), w.escaped(w.text[:whole])
}

// Close writes what is left of a text that ended within a character. What is written to it afterwards is dropped: a goroutine
// of a library may log after its command has ended. The writer below stays open.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.tail
	w.tail, w.closed = nil, true
	return w.escaped(text)
}

func (w *Writer) escaped(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	w.made = appendEscaped(w.made[:0], text, "\n\t")
	_, err := w.out.Write(w.made)
	return err
}

// unfinished is how many bytes at the end of a text begin a character that is not whole.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Draw writes a text that brine has made itself as it is, colours and movements of the cursor included. What is put into it goes
// through Line.
func Draw(out io.Writer, text string) error {
	if w, ok := out.(*Writer); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		out = w.out
	}
	_, err := io.WriteString(out, text)
	return err
}

// File is the file that a stream is, or that a Writer writes to.
func File(stream any) (*os.File, bool) {
	if w, ok := stream.(*Writer); ok {
		stream = w.out
	}
	f, ok := stream.(*os.File)
	return f, ok
}
