package service

import (
	"context"

	"brine/ingest/control"
)

// TakeReload is the admin port's handler for reloads.
var TakeReload = (*Service).takeReload

// FailMarks makes writing marks fail as long as asked returns an error.
func (s *Service) FailMarks(asked func() error) { s.marks = failingMarks{s.marks, asked} }

type failingMarks struct {
	marks
	asked func() error
}

func (f failingMarks) Mark(ctx context.Context, marks []control.Mark) error {
	if err := f.asked(); err != nil {
		return err
	}
	return f.marks.Mark(ctx, marks)
}
