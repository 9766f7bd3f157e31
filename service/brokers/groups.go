package brokers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/fault"
)

// Group is the consumer group of one half of a pipeline, as the brokers know it.
type Group struct {
	*offsets.Group
	Half    config.Half
	Session time.Duration // how long brokers list a member that was killed
}

// Groups looks up the groups of halves, one per topic, or only those of the given topic.
func Groups(ctx context.Context, client *offsets.Client, cfg *config.Config, halves []config.Half, topic string) ([]*Group, error) {
	halves, err := EachHalf(ctx, client, halves, topic)
	if err != nil {
		return nil, err
	}
	var out []*Group
	for _, h := range halves {
		g := &Group{Half: h, Session: cfg.Kafka.SessionTimeout}
		if err := g.LookUp(ctx, client); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// HalvesOf returns the halves of groups.
func HalvesOf(groups []*Group) (halves []config.Half) {
	for _, g := range groups {
		halves = append(halves, g.Half)
	}
	return halves
}

// LookUp fetches the group's current state from the brokers.
func (g *Group) LookUp(ctx context.Context, client *offsets.Client) error {
	found, err := client.Group(ctx, g.Half.Group(), g.Half.Pipeline.Topic)
	if err != nil {
		return Error(fmt.Errorf("%s: %w", g.Half.Name(), err))
	}
	if g.Group = found; found.Consumer {
		g.Session = config.ConsumerSession
	}
	return nil
}

// FindPipelines adds the pipelines whose groups the brokers know to a configuration without any.
func FindPipelines(ctx context.Context, client *offsets.Client, cfg *config.Config) error {
	groups, err := client.Groups(ctx)
	if err != nil {
		return Error(err)
	}
	for _, group := range groups {
		name, half, ok := cfg.Kafka.PipelineOf(group)
		if !ok {
			continue
		}
		topics, err := client.Topics(ctx, group)
		if err != nil {
			return Error(err)
		}
		for _, topic := range topics {
			cfg.Found(name, topic, half)
		}
	}
	if len(cfg.Pipelines) == 0 {
		return fault.New(fault.Missing, fmt.Errorf("the brokers know no group %s.PIPELINE.rows or .documents", cfg.Kafka.Group),
			"BRINE_KAFKA_GROUP sets another prefix of the groups; a pipeline that has committed nothing is known only from its configuration: "+
				"-c FILE")
	}
	return nil
}

// Position is the JSON form of a group's position in a partition. Saved reads stored positions.
type Position struct {
	Pipeline  string   `json:"pipeline"` // pipeline.half
	Group     string   `json:"group"`
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest"`
	Committed *int64   `json:"committed"` // null: no commit
	Latest    int64    `json:"latest"`
	Lag       int64    `json:"lag"`             // offsets, an upper bound of the records
	Members   []string `json:"members"`         // of the group, including killed ones until their sessions expire
	Session   float64  `json:"session_seconds"` // how long that takes at most
	Onward    *Onward  `json:"onward,omitempty"`
}

// Onward is the offset from which on the last change of what becomes of records applies to a partition.
type Onward struct {
	Offset int64     `json:"offset"`
	Until  int64     `json:"until,omitempty"` // records before it may be written as before and as after the change; 0: none
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// Positions returns the group's position in each partition.
func (g *Group) Positions() []Position {
	out := make([]Position, len(g.Ends))
	for p := range out {
		out[p] = Position{Pipeline: g.Half.Name(), Group: g.Group.Group, Topic: g.Topic, Partition: p, Earliest: g.Starts[p],
			Latest: g.Ends[p], Lag: g.Lag(p), Members: g.Members, Session: g.Session.Seconds()}
		if next, committed := g.Next(p); committed {
			out[p].Committed = &next
		}
	}
	return out
}

// Saved reads the committed offsets of a half from JSON positions that may include those of other halves. If topic is not empty, only that
// topic counts. Partitions without a commit are absent. found reports whether any position belongs to the half.
func Saved(positions io.Reader, half, topic string) (committed map[int]int64, found bool, err error) {
	committed = map[int]int64{}
	objects := json.NewDecoder(positions)
	for n := 1; ; n++ {
		var p Position
		err := objects.Decode(&p)
		if errors.Is(err, io.EOF) {
			return committed, found, nil
		}
		if err == nil && p.Pipeline == "" {
			err = errors.New("it does not name a pipeline")
		}
		if err != nil {
			return nil, found, fmt.Errorf("object %d was not written by brine offsets show --json: %w", n, err)
		}
		if p.Pipeline != half {
			continue
		}
		if found = true; p.Committed != nil && (topic == "" || topic == p.Topic) {
			committed[p.Partition] = *p.Committed
		}
	}
}

// Move is the JSON form of the change to one partition of a group.
type Move struct {
	Pipeline  string `json:"pipeline"` // pipeline.half
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Now       *int64 `json:"now"` // null: no commit
	Then      int64  `json:"then"`
	Again     int64  `json:"again"`   // offsets read again: an upper bound of the records, as below
	Skipped   int64  `json:"skipped"` // offsets never read
	Done      bool   `json:"done"`
}

// Move returns the JSON form of one of the group's moves.
func (g *Group) Move(m offsets.Move, done bool) Move {
	return Move{g.Half.Name(), g.Topic, m.Partition, m.Now, m.Then, m.Again, m.Skipped, done}
}

// Idle returns an error if a group has members. They would not notice new offsets, and would commit over them.
func Idle(groups []*Group) error {
	var members []string
	for _, g := range groups {
		for _, m := range g.Members {
			members = append(members, g.Group.Group+": "+m)
		}
	}
	if len(members) == 0 {
		return nil
	}
	return fault.New(fault.Failed, fmt.Errorf("the group is in use; nothing was changed:\n%s", strings.Join(members, "\n")),
		"stop these, or use brine replay, which works while they run; a killed member is gone once its session has ended")
}

// SavedIn reads what a file of output of brine offsets show --json holds of a half; --to file:FILE names it.
func SavedIn(file string, h config.Half) (map[int]int64, error) {
	half, topic := h.Name(), ""
	if h.Pipeline.Part() {
		topic = h.Pipeline.Topic
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fault.Misused(fmt.Errorf("--to: %w", err))
	}
	defer f.Close()
	committed, found, err := Saved(f, half, topic)
	switch {
	case err != nil:
		return nil, fault.Misused(fmt.Errorf("--to: %s: %w", file, err))
	case !found:
		return nil, fault.Misused(fmt.Errorf("--to: %s has nothing for %s; choose those it was saved from with --pipeline and --half",
			file, half))
	}
	return committed, nil
}

// SetAll sets the offsets of groups, each with its moves, and returns the number of groups that were set. An error names them, too.
func SetAll(ctx context.Context, client *offsets.Client, groups []*Group, moves [][]offsets.Move) (done int, err error) {
	var set []string
	for i, g := range groups {
		if err := g.Set(ctx, client, moves[i]); err != nil {
			if len(set) > 0 {
				err = fmt.Errorf("%w; set before: %s", err, strings.Join(set, ", "))
			}
			return i, err
		}
		if len(moves[i]) > 0 {
			set = append(set, g.Half.Name())
		}
	}
	return len(groups), nil
}

// Set sets the group's offsets.
func (g *Group) Set(ctx context.Context, client *offsets.Client, moves []offsets.Move) error {
	err := client.Set(ctx, g.Group, moves)
	switch {
	case errors.Is(err, offsets.ErrMembers):
		err = fmt.Errorf("group %s now has a member: its offsets were not set: %w", g.Group.Group, err)
		err = fault.New(fault.Failed, err, "stop it first")
	case errors.Is(err, offsets.ErrNotSet):
		err = Error(err)
	case err != nil && !offsets.Answered(err):
		err = Error(fmt.Errorf("%w; the offsets may or may not have been set: check with brine offsets show", err))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", g.Half.Name(), err)
	}
	return nil
}
