package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
)

// Mark is a record that a configuration was changed while it ran: records of the partition from an offset on are written otherwise than
// those before. Each mark has a key of its own, so that none takes the place of another.
type Mark struct {
	Group     string    `json:"group"`
	Topic     string    `json:"topic"`
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`   // the first that is written as configured since
	Settings  []string  `json:"settings"` // that have changed, with what they were and became
	Before    string    `json:"before"`   // names of the two configurations
	After     string    `json:"after"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// markKey begins the keys of marks, which are no consumer group's.
const markKey = "reload "

// Mark writes marks, and returns nil once they are durable.
func (t *Topic) Mark(ctx context.Context, marks []Mark) error {
	records := make([]event.Record, len(marks))
	for i := range marks {
		m := &marks[i]
		value, err := json.Marshal(m)
		if err != nil {
			return err
		}
		records[i] = event.Record{Timestamp: m.At.UnixMilli(), Value: value,
			Key: fmt.Appendf(nil, "%s%s %s %d %d", markKey, m.Group, m.Topic, m.Partition, m.Offset)}
	}
	return t.write(ctx, records)
}

// Marks reads all marks, by group, topic, partition and offset; none where there is no topic.
func (t *Topic) Marks(ctx context.Context) (marks []Mark, err error) {
	if _, err = t.cluster.Topic(ctx, t.opts.Topic); errors.Is(err, broker.ErrNoTopic) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	end, err := t.cluster.Offset(ctx, t.opts.Topic, 0, broker.Newest)
	if err != nil {
		return nil, err
	}
	by := map[string]Mark{}
	for rec, err := range t.cluster.Records(ctx, t.opts.Topic, 0, 0, end) {
		if err != nil {
			return nil, err
		}
		var m Mark
		if key := string(rec.Key); strings.HasPrefix(key, markKey) && json.Unmarshal(rec.Value, &m) == nil {
			by[key] = m
		}
	}
	for _, m := range by {
		marks = append(marks, m)
	}
	slices.SortFunc(marks, Mark.compare)
	return marks, nil
}

func (m Mark) compare(other Mark) int {
	return cmp.Or(cmp.Compare(m.Group, other.Group), cmp.Compare(m.Topic, other.Topic), cmp.Compare(m.Partition, other.Partition),
		cmp.Compare(m.Offset, other.Offset))
}
