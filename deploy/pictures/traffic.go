package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"
)

// traffic publishes present scans and order changes: a wave, a burst after a third of the time, some unreadable records after half of it,
// and, for the last third, a courier with more than half of the scans.
type traffic struct {
	broker string
	rate   int
	length time.Duration
	scans  int
}

const tick = 200 * time.Millisecond

func (t *traffic) run(ctx context.Context) (err error) {
	w := &kafka.Writer{Addr: kafka.TCP(t.broker), Balancer: &kafka.Hash{}, BatchTimeout: 10 * time.Millisecond, BatchSize: 1000,
		RequiredAcks: kafka.RequireAll}
	defer func() { err = errors.Join(err, w.Close()) }()
	began := time.Now()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		done := float64(time.Since(began)) / float64(t.length)
		messages := t.events(done)
		if done > .5 && done < .53 {
			messages = append(messages, kafka.Message{Topic: "courier.scans", Value: []byte("no JSON")},
				kafka.Message{Topic: "shop.orders", Value: []byte(`{"order": "O1"}`)})
		}
		if err := w.WriteMessages(ctx, messages...); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// perTick returns the number of scans per tick, given the fraction of the time that has passed.
func (t *traffic) perTick(done float64) int {
	rate := float64(t.rate) * (1 + .35*math.Sin(6*math.Pi*done))
	if done > .33 && done < .36 {
		rate *= 8
	}
	return int(rate * tick.Seconds())
}

func (t *traffic) events(done float64) (messages []kafka.Message) {
	actions := []string{"PICKED_UP", "LOADED", "ARRIVED_AT", "OUT_FOR_DELIVERY", "SIGNED"}
	now := time.Now().UnixMilli()
	for range t.perTick(done) {
		t.scans++
		waybill := fmt.Sprintf("YD%09d", t.scans/len(actions))
		courier := fmt.Sprintf("C%02d", rand.IntN(40))
		if done > .66 && rand.Float64() < .55 {
			courier = "C17"
		}
		messages = append(messages, kafka.Message{Topic: "courier.scans", Key: []byte(waybill), Value: fmt.Appendf(nil,
			`{"waybill": %q, "at": %d, "action": %q, "station": "S%02d", "courier": %q}`, waybill, now, actions[t.scans%len(actions)],
			rand.IntN(30), courier)})
		if t.scans%4 == 0 {
			messages = append(messages, order(t.scans/4, now))
		}
	}
	return messages
}

// order returns a change of an order: every third concerns an existing one.
func order(n int, at int64) kafka.Message {
	const hour = 3_600_000
	status := "created"
	if n%3 == 2 {
		n, status, at = n-1, "paid", at+1 // a different version from that of the order itself, even if both are in the same millisecond
	}
	id := fmt.Sprintf("O%09d", n)
	return kafka.Message{Topic: "shop.orders", Key: []byte(id), Value: fmt.Appendf(nil,
		`{"order": %q, "user": "u%05d", "created": %d, "at": %d, "status": %q, "total": %d.5}`, id, n%2000, at/hour*hour, at, status, n%300)}
}
