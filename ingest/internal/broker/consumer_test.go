package broker

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A member that is stopped while it joins ends at once, even if its watcher waits for brokers that do not return the topics.
func TestStopDoesNotWaitForTheWatchersQuestion(t *testing.T) {
	c := new(Cluster)
	c.consumers.Store(consumerVersion)
	m, err := c.Consumer(Membership{})
	if err != nil {
		t.Fatal(err)
	}
	asks := make(chan struct{}, 2)
	m.Topics = func(ctx context.Context) (map[string]Topic, error) {
		asks <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	silent, answer := context.WithCancel(t.Context())
	watcher, joins := make(chan error, 1), make(chan error, 1)
	go func() { _, err := m.askTopics(silent); watcher <- err }()
	<-asks
	stop, end := context.WithCancel(t.Context())
	end()
	go func() { joins <- m.join(stop) }()
	select {
	case err := <-joins:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits after a minute")
	}
	answer()
	<-watcher
}
