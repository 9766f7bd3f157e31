package query

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode"

	"brine/bench/measure"
	"brine/query"
)

// reader opens a view of the example.
func (b *bench) reader(view string) (*query.Reader, error) {
	v, err := b.cfg.View(view).Query(b.cfg)
	if err != nil {
		return nil, err
	}
	return query.Open(v, b.client, b.engine)
}

// ask runs one query and reads its whole answer.
func ask(ctx context.Context, r *query.Reader, args ...string) (rows int, cost query.Cost, err error) {
	a, err := r.Ask(ctx, query.Request{Args: args})
	if err != nil {
		return 0, cost, err
	}
	for _, err := range a.Rows {
		if err != nil {
			return rows, cost, err
		}
		rows++
	}
	return rows, a.Cost, nil
}

// timelines queries the events of waybills.
func (b *bench) timelines(ctx context.Context) error {
	waybills, err := b.fillScans(ctx)
	if err != nil {
		return err
	}
	reader, err := b.reader("waybill")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	b.detail.Timeline, err = measure.OpenLoop(ctx, timelineRate, b.asking, func(ctx context.Context, _ int) error {
		waybill := waybills[rand.IntN(len(waybills))]
		rows, cost, err := ask(ctx, reader, "waybill="+waybill)
		if err == nil && rows == 0 {
			err = fmt.Errorf("waybill %s has no events", waybill)
		}
		mu.Lock()
		defer mu.Unlock()
		b.detail.Rows, b.detail.Read = b.detail.Rows+cost.Rows, b.detail.Read+cost.Read
		return err
	})
	return err
}

// byWord queries the orders of users that contain a word from one of their orders.
func (b *bench) byWord(ctx context.Context) error {
	if err := b.fillOrders(ctx); err != nil {
		return err
	}
	questions, err := b.questions()
	if err != nil {
		return err
	}
	reader, err := b.reader("user-orders")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	b.detail.Keyword, err = measure.OpenLoop(ctx, ordersRate, b.asking, func(ctx context.Context, _ int) error {
		rows, _, err := ask(ctx, reader, questions[rand.IntN(len(questions))]...)
		mu.Lock()
		defer mu.Unlock()
		b.detail.Found += rows
		return err
	})
	if err == nil && b.detail.Found == 0 {
		err = fmt.Errorf("no query found an order")
	}
	return err
}

// questions returns, for every few orders, the user and a word of one of that user's orders.
func (b *bench) questions() (out [][]string, err error) {
	for line, err := range b.changes {
		if err != nil {
			return nil, err
		}
		items := text(line, "items")
		for _, word := range strings.FieldsFunc(items, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(word) > 3 {
				out = append(out, []string{"user=" + text(line, "user"), "items=" + word})
				break
			}
		}
	}
	return out, nil
}

// text returns a field of a line of JSON, or an empty string if it has none.
func text(line []byte, field string) string {
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		return ""
	}
	s, _ := fields[field].(string)
	return s
}
