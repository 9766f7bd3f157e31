package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"brine/config"
	"brine/event"
	"brine/publish"
)

// csvSample is a file of CSV, whose rows are the records that publish makes of them. A record's place is its line.
type csvSample struct {
	fileSample
	source publish.Source
}

func isCSV(name string) bool {
	return strings.EqualFold(filepath.Ext(strings.TrimSuffix(name, ".gz")), ".csv")
}

// openCSVSample reads the columns as the pipeline declares its fields, which has to be one.
func openCSVSample(cfg *config.Config, file fileSample, pipelines []string) (*csvSample, error) {
	name := ""
	if len(pipelines) == 1 {
		name = pipelines[0]
	}
	if len(pipelines) > 1 || name == "" && len(cfg.Pipelines) > 1 {
		return nil, usage(errors.New("--sample: the fields of one pipeline say what the columns of a CSV file are; name it with --pipeline"))
	}
	p, err := pipeline(cfg, name)
	if err != nil {
		return nil, err
	}
	return &csvSample{file, publish.Source{Fields: p.Schema().Fields}}, nil
}

func (s *csvSample) read(_ context.Context, emit func(block) error) error {
	var rows []publish.Object
	bytes := 0
	hand := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := emit(block{first: int64(rows[0].Line), records: s.records(rows)})
		rows, bytes = nil, 0 // those are the worker's
		return err
	}
	for row, err := range s.source.Objects(s.name) {
		if err != nil {
			return usage(fmt.Errorf("--sample: %w", err))
		}
		if rows, bytes = append(rows, row), bytes+len(row.JSON); bytes < blockBytes {
			continue
		}
		if err := hand(); err != nil {
			return err
		}
	}
	return hand()
}

func (s *csvSample) records(rows []publish.Object) iter.Seq2[int64, *event.Record] {
	return func(yield func(int64, *event.Record) bool) {
		rec := event.Record{Topic: s.name, Timestamp: s.now}
		for _, row := range rows {
			if rec.Value = row.JSON; !yield(int64(row.Line), &rec) {
				return
			}
		}
	}
}
