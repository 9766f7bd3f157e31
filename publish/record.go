package publish

import (
	"fmt"
	"iter"
	"time"

	"github.com/valyala/fastjson"
)

// Record is one record to publish.
type Record struct {
	Key, Value []byte
	Time       time.Time // zero: when it is published
}

// Keyed makes records of JSON objects, each with the text of one of its fields as its key: records of one key stay in order.
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
