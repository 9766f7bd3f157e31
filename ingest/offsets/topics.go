package offsets

import (
	"context"
	"fmt"
	"time"

	"brine/internal/backoff"
)

// TopicNames returns the names of all topics.
func (c *Client) TopicNames(ctx context.Context) ([]string, error) { return c.cluster.TopicNames(ctx) }

// Settings returns some of a topic's settings, by name, without those that the brokers do not return.
func (c *Client) Settings(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	return c.cluster.Settings(ctx, topic, names...)
}

// CreateTopic creates a topic with one replica and waits until all its partitions respond. It is not an error if the topic exists.
func (c *Client) CreateTopic(ctx context.Context, topic string, partitions int) error {
	if _, err := c.cluster.TopicNames(ctx); err != nil {
		return err // its message is useful if no broker can be reached
	}
	if err := c.cluster.Create(ctx, topic, partitions, 1, nil); err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := c.Ends(ctx, topic)
		if !Temporary(err) {
			return err
		}
		if backoff.Wait(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("topic %s was created, but has no leaders yet: %w", topic, err)
		}
	}
}
