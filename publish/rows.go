package publish

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"brine/event"
)

// rows reads CSV: the first row names the fields, and each other row becomes an object. It keeps what csv has read of the current row, to
// report where a fault is.
type rows struct {
	source  *Source
	text    *text
	csv     *csv.Reader
	columns []csvColumn // nil before the first row

	raw  []byte // bytes read since the end of the last row
	done int    // bytes of raw that belong to earlier rows
	end  int64  // csv's offset of raw[done]
	line int    // lines before raw[done]
}

func newRows(t *text, s *Source) *rows {
	r := &rows{source: s, text: t}
	r.csv = csv.NewReader(keeping{r})
	start, _ := t.Peek(t.Size()) // the first Read returns the error again
	r.csv.Comma = rune(separator(start))
	r.csv.ReuseRecord = true
	return r
}

// separator returns what separates the values of a file that begins with this text: of event.Separators, the one that its first row, which
// names the fields, has most often outside quotes. No later row decides, so that it is the same wherever a reader begins or is resumed.
func separator(start []byte) byte {
	var counts [len(event.Separators)]int
	quoted := false
	for _, b := range bytes.TrimLeft(start, "\r\n") {
		if b == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		if b == '\n' {
			break
		}
		if i := strings.IndexByte(event.Separators, b); i >= 0 {
			counts[i]++
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return event.Separators[best]
}

// keeping is the input of csv. It keeps what is read.
type keeping struct{ *rows }

func (k keeping) Read(p []byte) (int, error) {
	if k.done > 0 {
		k.raw, k.done = append(k.raw[:0], k.raw[k.done:]...), 0
	}
	if len(k.raw) > MaxLine {
		return 0, fmt.Errorf("the row that begins at line %d has more than %d MiB; is a quote never closed?", k.line+1, MaxLine>>20)
	}
	n, err := k.text.Read(p)
	k.raw = append(k.raw, p[:n]...)
	return n, err
}

// next reads the next row.
func (r *rows) next() (Object, error) {
	for {
		fields, err := r.csv.Read()
		parse, malformed := errors.AsType[*csv.ParseError](err)
		if err != nil && !malformed {
			return Object{}, err
		}
		line, row := r.take()
		o := Object{Line: line}
		if err = r.faults(&line, row, fields, parse); err == nil && r.columns != nil {
			o.JSON, err = csvObject(r.columns, fields)
		} else if err == nil {
			if r.columns, err = r.source.columns(fields); err == nil {
				continue
			}
		}
		switch {
		case err == nil:
			return o, nil
		case r.columns == nil || malformed && !errors.Is(parse, csv.ErrFieldCount) && bytes.ContainsRune(row, '\n'):
			return o, fmt.Errorf("line %d: %w", line, err) // what follows cannot be read
		}
		return o, &BadLine{Line: line, Err: err}
	}
}

// take returns the row that csv has read and the number of its first line.
func (r *rows) take() (line int, row []byte) {
	end := r.csv.InputOffset()
	row = r.raw[r.done : r.done+int(end-r.end)]
	r.done, r.end = r.done+len(row), end
	first := r.line + 1
	r.line += bytes.Count(row, newline)
	full := bytes.TrimLeft(row, "\r\n") // csv skips empty lines
	return first + bytes.Count(row[:len(row)-len(full)], newline), bytes.TrimRight(full, "\r\n")
}

var newline = []byte{'\n'}

// faults explains why a row that begins at line cannot become an object. For a byte that is not text, it sets line to that byte's line.
func (r *rows) faults(line *int, row []byte, fields []string, parse *csv.ParseError) error {
	if i := r.text.fault(row); i >= 0 {
		start := bytes.LastIndexByte(row[:i], '\n') + 1
		*line += bytes.Count(row[:i], newline)
		return r.text.explain(row[start:], i-start)
	}
	switch {
	case parse == nil:
		return nil
	case errors.Is(parse, csv.ErrFieldCount):
		return fmt.Errorf("it has %d fields, but the first row has %d", len(fields), len(r.columns))
	case errors.Is(parse, csv.ErrBareQuote):
		return errors.New(`there is a quote inside an unquoted field; write "a ""quoted"" word"`)
	}
	return errors.New("a quoted field is not closed, or continues after its closing quote; double a quote inside it")
}
