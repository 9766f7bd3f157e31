package publish

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fastjson"

	"brine/event"
)

// Record is one record to publish.
type Record struct {
	Key, Value []byte
	Time       time.Time // zero: the time of publishing
}

// recordReader makes records of objects. It reads them as pipelines do: what they do not accept as an object, it does not either.
type recordReader struct {
	decoder *event.Decoder
	batch   event.Batch
	key     place
	time    place
	formats []*event.TimeFormat // of the time; nil: records have no times of their own
}

// place is where an object holds a field, and the position of its value.
type place struct {
	path string // for people
	at   int
}

func newRecordReader(s *Source) (*recordReader, error) {
	r := &recordReader{}
	schema := event.Schema{Version: -1}
	add := func(flag string, path []string) place {
		schema.Fields = append(schema.Fields, event.Field{Name: flag, Type: event.Nested, Path: path})
		return place{strings.Join(path, "."), len(schema.Fields) - 1}
	}
	key := s.find(s.Key)
	r.key = add("--key", key)
	if s.Time != "" {
		at := s.find(s.Time)
		r.formats = s.timeFormatsOf(at)
		if r.time = r.key; !slices.Equal(at, key) {
			r.time = add("--time", at)
		}
	}
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	r.decoder = event.NewDecoder(schema)
	return r, nil
}

// read makes the record of an object.
func (r *recordReader) read(object []byte) (Record, error) {
	rec := Record{Value: object}
	r.decoder.Reset(&r.batch)
	if err := r.decoder.Decode(&event.Record{Value: object}, &r.batch); err != nil {
		return rec, err
	}
	values := r.batch.Events[0].Values
	var err error
	if rec.Key, err = r.keyOf(values[r.key.at].Text()); err != nil || r.formats == nil {
		return rec, err
	}
	rec.Time, err = r.timeOf(values[r.time.at].Text())
	return rec, err
}

// keyOf returns the key that a field's JSON stands for.
func (r *recordReader) keyOf(json []byte) ([]byte, error) {
	switch kind := jsontext.Value(json).Kind(); kind {
	case '"', '0':
		return unquoted(json), nil
	case 0: // absent, or null
		return nil, fmt.Errorf("--key: the record has no field %s", r.key.path)
	}
	return nil, fmt.Errorf("--key: field %s is not a text or a number", r.key.path)
}

// timeOf returns the time that a field's JSON stands for.
func (r *recordReader) timeOf(json []byte) (time.Time, error) {
	if len(json) == 0 {
		return time.Time{}, fmt.Errorf("--time: the record has no field %s", r.time.path)
	}
	text := unquoted(json)
	for _, f := range r.formats {
		if ms, ok := f.Parse(text); ok {
			return time.UnixMilli(ms), nil
		}
	}
	return time.Time{}, fmt.Errorf("--time: field %s is %s; %s is expected", r.time.path, event.Quoted(text), r.formats[0].Expects())
}

// unquoted returns a copy of a string's text, or of other JSON as it is.
func unquoted(json []byte) []byte {
	if json[0] != '"' {
		return slices.Clone(json)
	}
	text, err := jsontext.AppendUnquote(nil, json)
	if err != nil {
		panic("BUG: publish: a checked string cannot be unquoted: " + err.Error())
	}
	return text
}

// Keyed makes records of JSON objects, with the text of one field as the key, so that records with the same key stay in order.
func Keyed(objects iter.Seq2[[]byte, error], field string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for value, err := range objects {
			if err != nil {
				yield(Record{}, err)
				return
			}
			key := fastjson.GetBytes(value, field)
			if key == nil {
				yield(Record{}, fmt.Errorf("%s has no text field %q to key it by", value, field))
				return
			}
			if !yield(Record{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}
