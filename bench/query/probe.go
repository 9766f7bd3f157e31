package query

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"brine/bench/measure"
	"brine/search"
)

const (
	probePoll  = 25 * time.Millisecond // one search looks for all probes, because each costs the server indexing capacity
	probeLimit = 30 * time.Second      // after that, a document is missing
)

// probes are orders that were sent and are not yet found.
type probes struct {
	mu   sync.Mutex
	away map[string]chan struct{} // by order id; look closes it once the order is found
}

// probe sends orders to Kafka at a rate, and returns how long it took until a search found each.
func (b *bench) probe(ctx context.Context, client *kafka.Client) (took measure.Milliseconds, err error) {
	p := &probes{away: map[string]chan struct{}{}}
	g, ctx := errgroup.WithContext(ctx)
	looking, done := context.WithCancel(ctx)
	g.Go(func() error { return p.look(looking, b.engine) })
	g.Go(func() (err error) {
		defer done()
		took, err = measure.OpenLoop(ctx, freshRate, b.asking, func(ctx context.Context, i int) error { return p.send(ctx, client, i) })
		return err
	})
	return took, g.Wait()
}

// send sends one order, and waits until it is found.
func (p *probes) send(ctx context.Context, client *kafka.Client, i int) error {
	at := time.Now()
	order := fmt.Sprintf("probe-%d-%d", at.Unix(), i)
	value := fmt.Appendf(nil, `{"order":%q,"user":"probe","created":%d,"at":%[2]d,"status":"created","items":"probe"}`, order, at.UnixMilli())
	found := make(chan struct{})
	p.mu.Lock()
	p.away[order] = found
	p.mu.Unlock()
	resp, err := client.Produce(ctx, &kafka.ProduceRequest{Topic: ordersTopic, Partition: 0, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Key: kafka.NewBytes([]byte(order)), Value: kafka.NewBytes(value)})})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return err
	}
	select {
	case <-found:
		return nil
	case <-time.After(probeLimit):
		return fmt.Errorf("order %s is not found after %v", order, probeLimit)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// look searches for all missing orders until ctx is done.
func (p *probes) look(ctx context.Context, in search.Searcher) error {
	tick := time.NewTicker(probePoll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		orders := p.list()
		if len(orders) == 0 {
			continue
		}
		page, err := in.Search(ctx, search.Query{Index: ordersIndex, Size: len(orders),
			Filter: []search.Clause{search.Terms{Field: "order", Values: orders}}})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		p.found(page.Hits)
	}
}

func (p *probes) list() (orders []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for order := range p.away {
		orders = append(orders, order)
	}
	return orders
}

func (p *probes) found(hits []search.Hit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range hits {
		order, _ := h.Fields["order"].(string)
		if found := p.away[order]; found != nil {
			close(found)
			delete(p.away, order)
		}
	}
}
