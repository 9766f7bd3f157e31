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

// How much of the samples is generated; it comes after what is real.
const (
	trails = 500
	orders = 2000
)

// samples are the bundled events, each kind for its topic.
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

// PublishSamples puts the bundled events into their topics, those that are not there yet, and returns how many there are and how many it
// put. A full disk is waited for, and reported in log.
func (s *Stack) PublishSamples(ctx context.Context, offsets service.Offsets, log io.Writer) (total, fresh int, err error) {
	patience := publish.Patience{Limit: 24 * time.Hour, Log: log} // its disk may be full until somebody makes room
	for _, of := range samples {
		ends := func(ctx context.Context) ([]int64, error) { return offsets.Ends(ctx, of.topic) }
		// Shared: somebody who tries brine out may publish before it does.
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

// certain makes a sequence that may fail of one that does not.
func certain(events iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}
