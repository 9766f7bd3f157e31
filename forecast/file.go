package forecast

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"brine/event"
	"brine/internal/sample"
	"brine/internal/term"
	"brine/publish"
)

// IsCSV reports whether OpenFile reads a file of this name as CSV, whose columns are parsed by a pipeline's fields.
func IsCSV(name string) bool {
	return strings.EqualFold(filepath.Ext(strings.TrimSuffix(name, ".gz")), ".csv")
}

// OpenFile returns the sample in a file of JSON lines or, with the fields of its columns, of CSV, in an encoding that publish supports;
// either may be gzipped. A record's place is its line, and its timestamp is now. The error is a *SampleError.
func OpenFile(name, encoding string, fields []event.Field) (Sample, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, badSample("%w; name a file of JSON lines or CSV, or topic:NAME", err)
	}
	if info.IsDir() {
		return nil, badSample("%s is a folder; name a file of JSON lines or CSV", name)
	}
	f := lineFile{name: name, now: time.Now().UnixMilli()}
	from, err := publish.ParseEncoding(encoding)
	if err != nil {
		return nil, &SampleError{err}
	}
	if IsCSV(name) || from != nil {
		return &sourceFile{f, publish.Source{Fields: fields, Encoding: from}}, nil
	}
	return &f, nil
}

// lineFile is a file of JSON lines.
type lineFile struct {
	name string
	now  int64 // ms since 1970
}

func (f *lineFile) describe(place int64) string { return "line " + term.Thousands(place) }

// blockBytes is the size of a block of a file.
const blockBytes = 1 << 20

func (f *lineFile) read(ctx context.Context, emit func(block) error) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	line, rest := int64(1), []byte(nil)
	for ended := false; !ended; {
		buf := make([]byte, max(blockBytes, 2*len(rest)))
		n, err := fill(r, buf, copy(buf, rest))
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return badSample("%s: %w", f.name, err)
		}
		end := n
		if !ended {
			end = bytes.LastIndexByte(buf[:n], '\n') + 1
		}
		if n-end > sample.MaxLine {
			return badSample("%s: line %d has more than %d MiB; check that it is a file of JSON lines", f.name, line, sample.MaxLine>>20)
		}
		if err := emit(block{first: line, records: f.lines(line, buf[:end])}); err != nil {
			return err
		}
		line += int64(bytes.Count(buf[:end], []byte{'\n'}))
		rest = buf[end:n]
	}
	return nil
}

type unpacked struct {
	io.Reader
	io.Closer // of the packed file
}

func (f *lineFile) open() (io.ReadCloser, error) {
	file, err := os.Open(f.name)
	if err != nil {
		return nil, &SampleError{err}
	}
	if !strings.HasSuffix(f.name, ".gz") {
		return file, nil
	}
	r, err := gzip.NewReader(file)
	if err != nil {
		file.Close()
		return nil, badSample("%s: %w", f.name, err)
	}
	return unpacked{r, file}, nil
}

// fill reads until buf is full; it already contains n bytes.
func fill(r io.Reader, buf []byte, n int) (int, error) {
	for n < len(buf) {
		read, err := r.Read(buf[n:])
		if n += read; err != nil {
			return n, err
		}
	}
	return n, nil
}

// lines yields the records of whole lines; it skips empty lines.
func (f *lineFile) lines(line int64, text []byte) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		rec := event.Record{Topic: f.name, Timestamp: f.now}
		for ; len(text) > 0; line++ {
			var value []byte
			value, text, _ = bytes.Cut(text, []byte{'\n'})
			if rec.Value = bytes.TrimSuffix(value, []byte{'\r'}); len(rec.Value) > 0 && !yield(line, &rec) {
				return
			}
		}
	}
}
