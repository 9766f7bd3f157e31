package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/ingest/internal/broker"
)

// Mark records from which offset on the records of a partition are written differently, because of a reload or because a process was
// started with another configuration. Each mark has its own key, so that none replaces another.
type Mark struct {
	Group     string    `json:"group"`
	Topic     string    `json:"topic"`
	Of        string    `json:"of,omitempty"` // Kafka's id of the topic when Mark wrote it
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`          // the first that is written with the new configuration
	Until     int64     `json:"until,omitempty"` // records before it may be written with both; 0: none
	Settings  []string  `json:"settings"`        // that changed, with their old and new values
	Before    string    `json:"before"`          // names of the two configurations
	After     string    `json:"after"`
	Was       string    `json:"was,omitempty"` // names of what the two mean for the half, as in Configurations
	Is        string    `json:"is,omitempty"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// Configuration is a configuration by which a half reads, or has read before a mark, as far as it determines what records become.
type Configuration struct {
	Name     string    `json:"name"`            // as in marks
	Pipeline string    `json:"pipeline"`        // that it belongs to
	Written  string    `json:"written"`         // without secrets
	At       time.Time `json:"at,omitzero"`     // when Keep wrote it last
	Place    *Place    `json:"place,omitempty"` // nil: an earlier version wrote it
}

// Place is where a half reads, writes, and leaves dead letters. What it makes of records, and so the Name of its Configuration, is the same
// everywhere: a configuration is stored once for each of its places.
type Place struct {
	Half        string   `json:"half"` // pipeline.half
	Topics      []string `json:"topics,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`      // instead of Topics
	DeadLetters string   `json:"dead_letters,omitempty"` // empty: a topic of its own for each of Topics, whose name follows from it
	Writes      []string `json:"writes"`                 // tables or indexes, such as tables.scans
}

// key returns the key of a configuration. Earlier versions store one for each name, wherever that is.
func (c *Configuration) key() string {
	if c.Place == nil {
		return configurationKey + c.Name
	}
	text, _ := json.Marshal(c.Place) // strings never fail
	sum := sha256.Sum256(text)
	return configurationKey + c.Name + " " + hex.EncodeToString(sum[:6])
}

// markKey and configurationKey begin the keys of marks and configurations. No consumer group has such a name.
const (
	markKey          = "reload "
	configurationKey = "configuration "
)

// Keep writes configurations, replacing those with the same names and places, and returns nil once they are durable.
func (t *Topic) Keep(ctx context.Context, configurations []Configuration) error {
	return t.keeping.do(ctx, configurations, t.keep)
}

// keep is Keep for all who ask at a time, often for the same configuration: it is written once.
func (t *Topic) keep(ctx context.Context, configurations []Configuration) error {
	var records []event.Record
	written := map[string]bool{}
	for _, c := range slices.Backward(configurations) {
		if written[c.key()] {
			continue
		}
		written[c.key()] = true
		c.At = time.Now().Truncate(time.Millisecond)
		value, err := json.Marshal(&c)
		if err != nil {
			return err
		}
		records = append(records, event.Record{Timestamp: c.At.UnixMilli(), Value: value, Key: []byte(c.key())})
	}
	slices.Reverse(records)
	return t.write(ctx, records)
}

// Mark writes marks and returns nil once they are durable.
func (t *Topic) Mark(ctx context.Context, marks []Mark) error {
	return t.marking.do(ctx, marks, t.mark)
}

func (t *Topic) mark(ctx context.Context, marks []Mark) error {
	records, topics := make([]event.Record, len(marks)), map[string]broker.Topic{}
	for i := range marks {
		m := &marks[i]
		if _, asked := topics[m.Topic]; !asked {
			topics[m.Topic], _ = t.cluster.Topic(ctx, m.Topic) // a mark without an id applies to any topic of the name
		}
		m.Of = topics[m.Topic].Mark()
		value, err := json.Marshal(m)
		if err != nil {
			return err
		}
		records[i] = event.Record{Timestamp: m.At.UnixMilli(), Value: value,
			Key: fmt.Appendf(nil, "%s%s %s %d %d %d", markKey, m.Group, m.Topic, m.Partition, m.Offset, m.At.UnixMilli())}
	}
	return t.write(ctx, records)
}

// Marks reads all marks, by group, topic, partition, offset and time, and the stored configurations, in the order in which they were
// stored; none if there is no topic. It leaves out marks of a topic that was recreated since.
func (t *Topic) Marks(ctx context.Context) (marks []Mark, kept []Configuration, err error) {
	if err := t.cluster.LearnVersions(ctx); err != nil {
		return nil, nil, err
	}
	if _, err = t.cluster.Topic(ctx, t.opts.Topic); errors.Is(err, broker.ErrNoTopic) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	end, err := t.cluster.Offset(ctx, t.opts.Topic, 0, broker.Newest)
	if err != nil {
		return nil, nil, err
	}
	by, configurations := map[string]Mark{}, map[string]Configuration{}
	stored := map[string]int64{} // offsets of configurations
	for rec, err := range t.cluster.Records(ctx, t.opts.Topic, 0, 0, end) {
		if err != nil {
			return nil, nil, err
		}
		key := string(rec.Key)
		switch {
		case strings.HasPrefix(key, markKey):
			var m Mark
			if json.Unmarshal(rec.Value, &m) == nil {
				by[key] = m
			}
		case strings.HasPrefix(key, configurationKey):
			var c Configuration
			if json.Unmarshal(rec.Value, &c) == nil {
				configurations[key], stored[key] = c, rec.Offset
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(stored), func(a, b string) int { return cmp.Compare(stored[a], stored[b]) }) {
		kept = append(kept, configurations[key])
	}
	topics := map[string]broker.Topic{}
	for _, m := range by {
		now, asked := topics[m.Topic]
		if !asked && m.Of != "" {
			if now, err = t.cluster.Topic(ctx, m.Topic); err != nil && !errors.Is(err, broker.ErrNoTopic) && !errors.Is(err, broker.ErrDenied) {
				return nil, nil, err
			}
			topics[m.Topic] = now
		}
		if !now.Recreated(m.Of) {
			marks = append(marks, m)
		}
	}
	slices.SortFunc(marks, Mark.compare)
	return marks, kept, nil
}

func (m Mark) compare(other Mark) int {
	return cmp.Or(cmp.Compare(m.Group, other.Group), cmp.Compare(m.Topic, other.Topic), cmp.Compare(m.Partition, other.Partition),
		cmp.Compare(m.Offset, other.Offset), m.At.Compare(other.At))
}
