package service

import (
	"context"

	"brine/ingest/control"
)

// TakeReload is the admin port's handler for reloads.
var TakeReload = (*Service).takeReload

// FailMarks makes writing marks fail as long as asked returns an error.
func (s *Service) FailMarks(asked func() error) {
	s.FailMarksOf(func(control.Mark) error { return asked() })
}

// FailMarksOf makes writing marks fail as long as asked returns an error for one of them.
func (s *Service) FailMarksOf(asked func(control.Mark) error) {
	s.storing.Lock() // what the start stores is stored
	defer s.storing.Unlock()
	s.marks = failingMarks{s.marks, asked}
}

// FailKeepOf makes storing a configuration fail as long as asked returns an error for one of them.
func (s *Service) FailKeepOf(asked func(control.Configuration) error) {
	s.storing.Lock()
	defer s.storing.Unlock()
	s.marks = failingKeep{s.marks, asked}
}

type failingKeep struct {
	marks
	asked func(control.Configuration) error
}

func (f failingKeep) Keep(ctx context.Context, configurations []control.Configuration) error {
	for i := range configurations {
		if err := f.asked(configurations[i]); err != nil {
			return err
		}
	}
	return f.marks.Keep(ctx, configurations)
}

type failingMarks struct {
	marks
	asked func(control.Mark) error
}

func (f failingMarks) Mark(ctx context.Context, marks []control.Mark) error {
	for _, m := range marks {
		if err := f.asked(m); err != nil {
			return err
		}
	}
	return f.marks.Mark(ctx, marks)
}

// HoldMarks calls hold before anything is written to the control topic: "keep" or "mark".
func (s *Service) HoldMarks(hold func(what string)) {
	s.storing.Lock() // what the start stores is stored
	defer s.storing.Unlock()
	s.marks = heldMarks{s.marks, hold}
}

type heldMarks struct {
	marks
	hold func(what string)
}

func (h heldMarks) Keep(ctx context.Context, configurations []control.Configuration) error {
	h.hold("keep")
	return h.marks.Keep(ctx, configurations)
}

func (h heldMarks) Mark(ctx context.Context, marks []control.Mark) error {
	h.hold("mark")
	return h.marks.Mark(ctx, marks)
}

// Formers returns the number of open writers of earlier configurations.
func (s *Service) Formers() int { return len(s.former) }
