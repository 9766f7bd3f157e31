package forecast

import (
	"context"
	"iter"

	"brine/event"
	"brine/publish"
)

// sourceFile is a file of CSV or in an encoding other than UTF-8, with the records that publish makes of it.
type sourceFile struct {
	lineFile
	source publish.Source
}

func (f *sourceFile) read(_ context.Context, emit func(block) error) error {
	var rows []publish.Object
	bytes := 0
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := emit(block{first: int64(rows[0].Line), records: f.records(rows)})
		rows, bytes = nil, 0 // they belong to the worker
		return err
	}
	for row, err := range f.source.Objects(f.name) {
		if err != nil {
			return &SampleError{err}
		}
		if rows, bytes = append(rows, row), bytes+len(row.JSON); bytes < blockBytes {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

func (f *sourceFile) records(rows []publish.Object) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		rec := event.Record{Topic: f.name, Timestamp: f.now}
		for _, row := range rows {
			if rec.Value = row.JSON; !yield(int64(row.Line), &rec) {
				return
			}
		}
	}
}
