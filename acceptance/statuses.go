package main

import (
	"context"

	"brine/query"
)

// checkStatuses counts all orders by status, and checks the newest of each.
func (s *shop) checkStatuses(ctx context.Context) error {
	r, err := s.view("orders-by-status")
	if err != nil {
		return err
	}
	t := begin("orders-by-status")
	want, newest := map[string]int{}, map[string]int64{}
	for i := range s.in.orders {
		if o := &s.in.orders[i]; !o.deleted {
			want[o.status] += s.in.copies(i)
			newest[o.status] = max(newest[o.status], o.created)
		}
	}
	for status, n := range want {
		t.questions += 2
		stop := t.clock()
		args := []string{"status=" + status}
		got, err := r.Count(ctx, query.Request{Args: args})
		if err != nil {
			return err
		}
		if got.Rows != int64(n) {
			s.differs(t.view, args, "counts %d, the input has %d", got.Rows, n)
		}
		page, err := r.Page(ctx, query.Request{Args: args, Limit: 1})
		stop()
		if err != nil {
			return err
		}
		if t.rows += len(page.Rows); len(page.Rows) != 1 || fields(&page.Rows[0].Row).int("created") != newest[status] {
			s.differs(t.view, args, "the newest is not the input's")
		}
	}
	s.out.addAsked(t)
	return nil
}
