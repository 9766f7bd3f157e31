package pipeline

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/valyala/fastjson"

	"brine/internal/sample"
)

// poison is the interval of scans that cannot be written.
const poison = 5000

// input is the events of one topic.
type input struct {
	topic, table, key string
	file              string
	Events            int // all of them
	Rows              int // expected rows
	Poison            int // expected dead letters
}

// writeInputs writes the files that are published, from the first events of `make data`: scans, each of which becomes a row, except for
// those that cannot be written; and the changes of orders, which meet in one row per order.
func writeInputs(place func(name string) string, most int) (all []*input, err error) {
	scans := &input{topic: "courier.scans", table: "scans", key: "waybill", file: place("scans.jsonl")}
	orders := &input{topic: "shop.orders", table: "orders", key: "order", file: place("orders.jsonl")}
	seen := make(map[string]bool)
	err = scans.write("data/scans.jsonl.gz", most, func(line []byte) []byte {
		if scans.Events++; scans.Events%poison != 0 {
			scans.Rows++
			return line
		}
		scans.Poison++
		return bytes.Replace(line, []byte(`"at":`), []byte(`"at":"unknown","was":`), 1)
	})
	if err != nil {
		return nil, err
	}
	return []*input{scans, orders}, orders.write("data/orders.jsonl.gz", most, func(line []byte) []byte {
		orders.Events++
		seen[fastjson.GetString(line, orders.key)] = true
		orders.Rows = len(seen)
		return line
	})
}

// write copies the first lines of a file.
func (in *input) write(from string, most int, line func([]byte) []byte) error {
	source, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("%w (`make data` brings it)", err)
	}
	defer source.Close()
	out, err := os.Create(in.file)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	if err := copyLines(w, source, most, line); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return w.Flush()
}

func copyLines(w *bufio.Writer, from io.Reader, most int, change func([]byte) []byte) error {
	for line, err := range sample.Read(from) {
		if err != nil || most == 0 {
			return err
		}
		most--
		if _, err := w.Write(append(change(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}
