package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"brine/event"
	"brine/query"
)

// row is a row of an answer, by field.
type row map[string]event.Value

func fields(f *query.Row) row {
	r := row{}
	for _, x := range f.Fields {
		r[x.Name] = x.Value
	}
	return r
}

func (r row) text(name string) string {
	if v := r[name]; !v.Null() {
		return string(v.Text())
	}
	return ""
}

func (r row) int(name string) int64 {
	if v := r[name]; !v.Null() {
		return v.Int()
	}
	return 0
}

func (r row) money(name string) float64 {
	if v := r[name]; !v.Null() {
		return round(v.Float())
	}
	return 0
}

// tally counts the requests to one view.
type tally struct {
	view            string
	questions, rows int
	took            time.Duration // by the views, without the comparison
}

func begin(view string) *tally { return &tally{view: view} }

// clock counts the time until the returned function is called.
func (t *tally) clock() func() {
	began := time.Now()
	return func() { t.took += time.Since(began) }
}

// all reads a view page by page to the end. It reports a row for which the index and HBase differ as wrong, because nothing is being
// written.
func (s *shop) all(ctx context.Context, t *tally, r *query.Reader, args ...string) ([]query.Found, error) {
	t.questions++
	defer t.clock()()
	var out []query.Found
	seen := map[string]bool{}
	for ask := (query.Request{Args: args}); ; {
		page, err := r.Page(ctx, ask)
		if err != nil {
			return nil, fmt.Errorf("%s %v: %w", t.view, args, err)
		}
		for _, f := range page.Rows {
			switch {
			case seen[string(f.Key)]:
				s.differs(t.view, args, "row %q comes twice", f.Key)
			case f.State != query.Same:
				s.differs(t.view, args, "row %q is %s", f.Key, f.State)
			}
			seen[string(f.Key)] = true
		}
		out = append(out, page.Rows...)
		t.rows += len(page.Rows)
		if ask.After = page.Next; page.Next == "" {
			return out, nil
		}
	}
}

// same compares an answer with the input, row by row in order.
func same[T any](s *shop, view string, args []string, got []query.Found, want []T, differ func(row, T) string) {
	if len(got) != len(want) {
		s.differs(view, args, "%d rows, the input has %d", len(got), len(want))
		return
	}
	for i := range got {
		if text := differ(fields(&got[i].Row), want[i]); text != "" {
			s.differs(view, args, "row %d of %d: %s", i, len(got), text)
			return
		}
	}
}

// kept returns the elements for which is reports true.
func kept[T any](all []T, is func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !is(x) })
}
