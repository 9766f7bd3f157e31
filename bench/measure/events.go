package measure

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	"brine/internal/sample"
)

const events = "data/scans.jsonl.gz" // of `make data`

// WriteScans writes n events to a file: the scans repeatedly, from the second time on with a suffix to each waybill, so that every event is
// a row.
func WriteScans(name string, n int) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	for pass := 0; n > 0; pass++ {
		before := n
		if n, err = writePass(w, pass, n); err != nil {
			return err
		}
		if n == before {
			return fmt.Errorf("%s holds no events", events)
		}
	}
	return w.Flush()
}

var waybill = []byte(`{"waybill":"`)

// writePass writes all scans once, or n, and returns the number left to write.
func writePass(w *bufio.Writer, pass, n int) (left int, err error) {
	file, err := os.Open(events)
	if err != nil {
		return n, fmt.Errorf("%w (`make data` brings it)", err)
	}
	defer file.Close()
	for line, err := range sample.Read(file) {
		if err != nil || n == 0 {
			return n, err
		}
		rest, ok := bytes.CutPrefix(line, waybill)
		if !ok {
			return n, fmt.Errorf("%s: a line does not begin with a waybill: %s", events, line)
		}
		number, rest, _ := bytes.Cut(rest, []byte(`"`))
		if pass == 0 {
			fmt.Fprintf(w, "%s%s\"%s\n", waybill, number, rest)
		} else {
			fmt.Fprintf(w, "%s%s-%d\"%s\n", waybill, number, pass, rest)
		}
		n--
	}
	return n, nil
}
