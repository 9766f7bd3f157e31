package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"brine/bench/measure"
	"brine/query"
)

const (
	halfDay = 12 * 60 * 60 * 1000 // ms
)

func requestOf(args ...string) query.Request { return query.Request{Args: args} }

// time runs the four queries of the order centre one after the other, and prints how long they take.
func (s *shop) time(ctx context.Context, asks int) error {
	users, err := s.view("user-orders")
	if err != nil {
		return err
	}
	one, err := s.view("order")
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(8, 4))
	any := func() []order { return s.in.ordersOf(r.IntN(s.in.people)) }
	ask := func(reader *query.Reader, args ...string) (query.Page, error) {
		return reader.Page(ctx, requestOf(args...))
	}
	for _, q := range []struct {
		name string
		once func(orders []order) error
	}{
		{"all orders of a user, a page", func(orders []order) error { _, err := ask(users, "user="+orders[0].user); return err }},
		{"by time, keyword and status", func(orders []order) error {
			args := []string{"user=" + orders[0].user, fmt.Sprintf("created=%d..", orders[len(orders)/2].created), "status=received,shipped"}
			if word := wordOf(orders); word != "" {
				args = append(args, "items="+word)
			}
			_, err := ask(users, args...)
			return err
		}},
		{"by the order's id alone", func(orders []order) error { _, err := ask(one, "order="+orders[0].id); return err }},
	} {
		if err := s.timed(q.name, asks, any, q.once); err != nil {
			return err
		}
	}
	var page query.Page
	load := func() []order {
		orders := any()
		page, err = ask(users, "user="+orders[0].user)
		return orders
	}
	return s.timed("details of one order", asks, load, func([]order) error {
		if err != nil || len(page.Rows) == 0 {
			return err
		}
		_, err := users.Whole(ctx, page.Rows[0].Row)
		return err
	})
}

// timed measures the median and the 99th percentile of a query's time.
func (s *shop) timed(name string, n int, any func() []order, once func([]order) error) error {
	var took measure.Milliseconds
	for range n {
		orders := any()
		begin := time.Now()
		if err := once(orders); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		took.Add(time.Since(begin))
	}
	s.out.addTimed(timed{name, n, took.At(0.5), took.At(0.99)})
	return nil
}
