package devstack

import (
	"context"
	"io"
	"iter"
	"time"

	"brine/internal/sample"
	"brine/publish"
	"brine/service"
)

// The number of generated samples, which follow the real ones.
const (
	trails = 500
	orders = 2000
)

// samples are the bundled events, each kind with its topic.
var samples = []struct {
	topic, key string
	events     func() iter.Seq[[]byte]
}{
	{"courier.scans", "waybill", scans},
	{"shop.orders", "order", func() iter.Seq[[]byte] { return sample.Orders(orders) }},
}

func scans() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, seq := range []iter.Seq[[]byte]{sample.Scans(), sample.Trail(trails)} {
			for event := range seq {
				if !yield(event) {
					return
				}
			}
		}
	}
}

// PublishSamples publishes the bundled events that are missing from their topics, and returns how many there are and how many it published.
// On a full disk it waits, and reports that to log.
func (s *Stack) PublishSamples(ctx context.Context, offsets service.Offsets, log io.Writer) (total, fresh int, err error) {
	patience := publish.Patience{Limit: 24 * time.Hour, Log: log} // the broker's disk may be full until somebody makes room
	for _, of := range samples {
		ends := func(ctx context.Context) ([]int64, error) { return offsets.Ends(ctx, of.topic) }
		// Shared: somebody trying brine out may publish before brine does.
		a := publish.Appender{Kafka: s.broker(), RequestTimeout: requestTimeout, Topic: of.topic, Ends: ends, Shared: true}
		n, err := a.Publish(ctx, publish.Keyed(certain(of.events()), of.key))
		for err != nil {
			if err = patience.Wait(ctx, err); err != nil {
				return total, fresh, err
			}
			var more int
			more, err = a.Publish(ctx, publish.Keyed(certain(of.events()), of.key))
			n += more
		}
		at, err := a.Ends(ctx)
		if err != nil {
			return total, fresh, err
		}
		for _, end := range at {
			total += int(end)
		}
		fresh += n
	}
	return total, fresh, nil
}

// certain adapts a sequence that cannot fail to one that can.
func certain(events iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}
