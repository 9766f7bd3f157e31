package term

import (
	"io"
	"strings"
	"testing"
)

// TestWriterDropsWhatComesAfterItsClose: a log line of a goroutine that outlives its command is not written while others read the output.
func TestWriterDropsWhatComesAfterItsClose(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	if _, err := io.WriteString(w, "before\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := io.WriteString(w, "behind\n"); n != 7 || err != nil || out.String() != "before\n" {
		t.Errorf("%d, %v: %q", n, err, out.String())
	}
}
