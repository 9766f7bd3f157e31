package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fastjson"

	"brine/config"
	"brine/event"
	"brine/internal/sample"
)

// publishSource makes records of files, always the same ones in the same order.
type publishSource struct {
	files  []string
	format string          // json or csv; empty: by the name of each file
	fields []config.Field  // of the pipeline that reads the topic; none when no pipeline does
	key    []string        // path of the field that becomes the record's key
	time   []string        // path of the one that becomes its time; nil: when it is published
	parser fastjson.Parser // of the current record
}

// records gives the records. An error names file and line.
func (s *publishSource) records() iter.Seq2[sourceRecord, error] {
	return func(yield func(sourceRecord, error) bool) {
		for _, name := range s.files {
			line := 0
			for value, err := range s.objects(name, &line) {
				var r sourceRecord
				if err == nil {
					r, err = s.record(value)
				}
				if err != nil {
					yield(r, fmt.Errorf("%s, line %d: %w", name, line, err))
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// objects gives the JSON objects of a file, each the caller's to keep; line follows along.
func (s *publishSource) objects(name string, line *int) iter.Seq2[[]byte, error] {
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
		if s.format == "csv" || s.format == "" && strings.EqualFold(filepath.Ext(plain), ".csv") {
			objects = s.csvRows
		}
		for value, err := range objects(in, line) {
			if !yield(value, err) || err != nil {
				return
			}
		}
	}
}

func (s *publishSource) jsonLines(in io.Reader, line *int) iter.Seq2[[]byte, error] {
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
func (s *publishSource) csvRows(in io.Reader, line *int) iter.Seq2[[]byte, error] {
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
func (s *publishSource) record(value []byte) (sourceRecord, error) {
	r := sourceRecord{Value: value}
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
	if s.time == nil {
		return r, nil
	}
	r.Time, err = s.timeOf(v.Get(s.time...))
	return r, err
}

// timeOf reads a time: milliseconds since 1970, seconds where the pipeline declares that, or text as RFC 3339.
func (s *publishSource) timeOf(v *fastjson.Value) (time.Time, error) {
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
	for i := range s.fields {
		if f := &s.fields[i]; strings.Join(s.pathOf(f), ".") == name && f.Type == event.TimeS.String() {
			return time.Unix(n, 0), nil
		}
	}
	return time.UnixMilli(n), nil
}

// pathOf is where a field is in a record.
func (s *publishSource) pathOf(f *config.Field) []string {
	if len(f.Path) > 0 {
		return f.Path
	}
	return []string{f.Name}
}

// find gives the path of a field: that of the pipeline's field of this name, else the name's own parts.
func (s *publishSource) find(name string) []string {
	for i := range s.fields {
		if s.fields[i].Name == name {
			return s.pathOf(&s.fields[i])
		}
	}
	return strings.Split(name, ".")
}
