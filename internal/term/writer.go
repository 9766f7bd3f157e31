package term

import (
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Writer escapes what is written to it, except line breaks and tabs. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	out  io.Writer
	text []byte // buffers for the text being written, before and after escaping
	made []byte
	tail []byte // start of a character that the next write completes

	closed bool
}

// NewWriter returns a Writer to out. If out already escapes, it returns out itself.
func NewWriter(out io.Writer) *Writer {
	if w, ok := out.(*Writer); ok {
		return w
	}
	return &Writer{out: out}
}

// Write writes the escaped text.
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

// Close writes the rest of a text that ended within a character. Later writes are dropped: a goroutine of a library may log after its
// command has ended. The underlying writer stays open.
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

// unfinished returns the number of bytes at the end of a text that begin an incomplete character.
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

// Draw writes a text made by brine itself unchanged, including colours and cursor movements. Foreign texts in it must go through Line.
func Draw(out io.Writer, text string) error {
	if w, ok := out.(*Writer); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		out = w.out
	}
	_, err := io.WriteString(out, text)
	return err
}

// File returns the file that a stream is, or that a Writer writes to.
func File(stream any) (*os.File, bool) {
	if w, ok := stream.(*Writer); ok {
		stream = w.out
	}
	f, ok := stream.(*os.File)
	return f, ok
}
