package publish

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"

	"brine/event"
)

// Source makes records of files: always the same ones in the same order.
type Source struct {
	Files    []string
	Format   string            // json or csv; empty: from the name of each file
	Encoding encoding.Encoding // of the files' text; nil: UTF-8
	Fields   []event.Field     // of the pipeline that reads the topic; none if no pipeline does
	Key      string            // name or path of the field that becomes a record's key
	Time     string            // of the field that becomes its time; empty: the time of publishing
	SkipBad  bool              // skip lines that cannot become records; otherwise the first one ends the records

	Skipped Skipped // since Records began
}

// BadLine explains why a line or row of a file cannot become a record.
type BadLine struct {
	File string
	Line int // from 1; of a row, its first line
	Err  error
}

func (b *BadLine) Error() string { return fmt.Sprintf("%s, line %d: %v", b.File, b.Line, b.Err) }
func (b *BadLine) Unwrap() error { return b.Err }

// Skipped are the lines that were skipped.
type Skipped struct {
	N     int
	First []*BadLine // at most 10
}

func (s *Skipped) add(b *BadLine) {
	if s.N++; s.N <= 10 {
		s.First = append(s.First, b)
	}
}

// Object is one object of a file: a line of JSON, or a row of CSV.
type Object struct {
	Line int // from 1
	JSON []byte
}

// Records yields the records.
func (s *Source) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s.Skipped = Skipped{}
		reader, err := newRecordReader(s)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, file := range s.Files {
			for o, err := range s.Objects(file) {
				var r Record
				if err == nil {
					if r, err = reader.read(o.JSON); err != nil {
						if err = s.bad(file, o.Line, err); err == nil {
							continue
						}
					}
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// bad skips a line, or returns the error that ends the records.
func (s *Source) bad(file string, line int, err error) error {
	b := &BadLine{file, line, err}
	if !s.SkipBad {
		return b
	}
	s.Skipped.add(b)
	return nil
}

// Objects yields the objects of a file; the caller may keep them.
func (s *Source) Objects(file string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		in, err := os.Open(file)
		if err != nil {
			yield(Object{}, err)
			return
		}
		defer in.Close()
		next, err := s.open(file, in)
		for err == nil {
			var o Object
			if o, err = next(); err == nil && !yield(o, nil) {
				return
			}
			if bad, ok := errors.AsType[*BadLine](err); ok {
				err = s.bad(file, bad.Line, bad.Err)
			}
		}
		if _, named := errors.AsType[*BadLine](err); !named && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w", file, err)
		}
		if !errors.Is(err, io.EOF) {
			yield(Object{}, err)
		}
	}
}

var errNoGzip = errors.New("it is not a gzip file, or is truncated; recreate it, or remove .gz from the name of a file " +
	"that is not compressed")

// unzipped is the text of a gzip file. It replaces every error, because one for a file that ends early would look like a broken connection,
// which is retried.
type unzipped struct{ zip *gzip.Reader }

func (u unzipped) Read(to []byte) (int, error) {
	n, err := u.zip.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errNoGzip
	}
	return n, err
}

// open starts reading a file. The returned function reads the next object. Its error is a *BadLine if reading may go on, and io.EOF at the
// end.
func (s *Source) open(name string, file io.Reader) (next func() (Object, error), err error) {
	plain, zipped := strings.CutSuffix(name, ".gz")
	if zipped {
		zip, err := gzip.NewReader(file)
		if err != nil {
			return nil, errNoGzip
		}
		file = unzipped{zip}
	}
	text, err := newText(file, s.Encoding)
	if err != nil {
		return nil, err
	}
	if s.Format == "csv" || s.Format == "" && strings.EqualFold(filepath.Ext(plain), ".csv") {
		return newRows(text, s).next, nil
	}
	return newLines(text).next, nil
}

// timeFormat returns the format of a time field, or nil for other fields.
func timeFormat(f *event.Field) *event.TimeFormat {
	if f.Type != event.Time {
		return nil
	}
	format, err := event.ParseTimeFormat(f.Format, f.Zone)
	if err != nil {
		panic("BUG: publish: a field that was not checked: " + err.Error())
	}
	return format
}

// timeFormatsOf returns the formats of a field that becomes the records' time: the one that the pipeline declares, or those that are
// unambiguous by themselves.
func (s *Source) timeFormatsOf(path []string) []*event.TimeFormat {
	number := event.Field{Type: event.Time, Format: "epoch_ms"}
	for i := range s.Fields {
		switch f := &s.Fields[i]; {
		case !f.OfValue() || !slices.Equal(f.Keys(), path):
		case f.Type == event.Time:
			return []*event.TimeFormat{timeFormat(f)}
		case f.Type == event.TimeS:
			number.Format = "epoch_s"
		}
	}
	return []*event.TimeFormat{timeFormat(&event.Field{Type: event.Time}), timeFormat(&number)}
}

// find returns the path of a field: that of the pipeline's field of this name, otherwise the name split into parts.
func (s *Source) find(name string) []string {
	for _, f := range s.Fields {
		if f.Name == name && f.OfValue() {
			return f.Keys()
		}
	}
	return strings.Split(name, ".")
}
