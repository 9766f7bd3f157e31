package publish

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fastjson"

	"brine/event"
	"brine/internal/sample"
)

// Source makes records of files, always the same ones in the same order.
type Source struct {
	Files  []string
	Format string        // json or csv; empty: by the name of each file
	Fields []event.Field // of the pipeline that reads the topic; none when no pipeline does
	Key    string        // name or path of the field that becomes a record's key
	Time   string        // of the one that becomes its time; empty: when it is published

	parser    fastjson.Parser // of the current record
	key, time []string        // paths of Key and Time
}

// Records yields the records. An error names file and line.
func (s *Source) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s.key, s.time = s.find(s.Key), s.find(s.Time)
		for _, name := range s.Files {
			for o, err := range s.Objects(name) {
				var r Record
				if err == nil {
					if r, err = s.record(o.JSON); err != nil {
						err = at(name, o.Line, err)
					}
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// Object is one object of a file: a line of JSON, or a row of CSV.
type Object struct {
	Line int // from 1
	JSON []byte
}

// Objects yields the objects of a file, each the caller's to keep. An error names file and line.
func (s *Source) Objects(name string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		line := 0
		for value, err := range s.read(name, &line) {
			if err != nil {
				yield(Object{}, at(name, line, err))
				return
			}
			if !yield(Object{line, value}, nil) {
				return
			}
		}
	}
}

func at(file string, line int, err error) error {
	return fmt.Errorf("%s, line %d: %w", file, line, err)
}

// read yields the objects of a file; line follows along.
func (s *Source) read(name string, line *int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		var in io.Reader = file
		plain, zipped := strings.CutSuffix(name, ".gz")
		if zipped {
			if in, err = gzip.NewReader(file); err != nil {
				yield(nil, err)
				return
			}
		}
		objects := s.jsonLines
		if s.Format == "csv" || s.Format == "" && strings.EqualFold(filepath.Ext(plain), ".csv") {
			objects = s.csvRows
		}
		objects(in, line)(yield)
	}
}

func (s *Source) jsonLines(in io.Reader, line *int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for value, err := range sample.Lines(in) {
			*line++
			if !yield(value, err) {
				return
			}
		}
	}
}

// csvRows makes an object of each row: the first row names the fields.
func (s *Source) csvRows(in io.Reader, line *int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows := csv.NewReader(in)
		rows.ReuseRecord = true
		var columns []csvColumn
		for {
			row, err := rows.Read()
			*line, _ = rows.FieldPos(0)
			var parse *csv.ParseError
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &parse):
				*line, err = parse.Line, parse.Err
			case err == nil && columns == nil:
				if columns, err = s.columns(row); err == nil {
					continue
				}
			}
			var object []byte
			if err == nil {
				object, err = csvObject(columns, row)
			}
			if !yield(object, err) || err != nil {
				return
			}
		}
	}
}

// record makes the record of an object.
func (s *Source) record(value []byte) (Record, error) {
	r := Record{Value: value}
	v, err := s.parser.ParseBytes(value)
	if err != nil {
		return r, fmt.Errorf("no JSON object: %w", err)
	}
	switch key := v.Get(s.key...); {
	case key == nil:
		return r, fmt.Errorf("--key: the record has no field %s", strings.Join(s.key, "."))
	case key.Type() == fastjson.TypeString:
		r.Key = append(r.Key, key.GetStringBytes()...)
	case key.Type() == fastjson.TypeNumber:
		r.Key = key.MarshalTo(nil)
	default:
		return r, fmt.Errorf("--key: field %s is neither text nor number", strings.Join(s.key, "."))
	}
	if s.Time == "" {
		return r, nil
	}
	r.Time, err = s.timeOf(v.Get(s.time...))
	return r, err
}

// timeOf reads a time: milliseconds since 1970, seconds where the pipeline declares that, or text as RFC 3339.
func (s *Source) timeOf(v *fastjson.Value) (time.Time, error) {
	name := strings.Join(s.time, ".")
	if v != nil && v.Type() == fastjson.TypeString {
		t, err := time.Parse(time.RFC3339Nano, string(v.GetStringBytes()))
		if err != nil {
			return t, fmt.Errorf("--time: field %s is no time such as 2013-01-31T08:00:00Z: %w", name, err)
		}
		return t, nil
	}
	if v == nil {
		return time.Time{}, fmt.Errorf("--time: the record has no field %s", name)
	}
	n, err := v.Int64()
	if err != nil {
		return time.Time{}, fmt.Errorf("--time: field %s: %w", name, err)
	}
	for _, f := range s.Fields {
		if slices.Equal(f.Keys(), s.time) && f.Type == event.TimeS {
			return time.Unix(n, 0), nil
		}
	}
	return time.UnixMilli(n), nil
}

// find returns the path of a field: that of the pipeline's field of this name, else the name's own parts.
func (s *Source) find(name string) []string {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Keys()
		}
	}
	return strings.Split(name, ".")
}
