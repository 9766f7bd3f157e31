package pipeline

import (
	"context"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/ingest/offsets"
)

const quiet = time.Second // longest time without a commit that does not count as a stall: brine commits once per second

// groups polls the broker to know how far brine's groups are.
type groups struct {
	broker string // host:port
	client *offsets.Client
	inputs []*input

	mu     sync.Mutex
	at     map[place]progress
	asked  time.Time     // time of the request for the last answers
	moved  time.Time     // when a commit was last seen to advance, or nothing was left to commit
	Stands time.Duration // longest time without a commit although there was something to commit
}

// place is a partition of a topic, which one group reads.
type place struct {
	topic     string
	partition int
}

type progress struct{ committed, end int64 }

// run polls until ctx is done.
func (g *groups) run(ctx context.Context) {
	for fault.Pause(ctx, fault.Ask) == nil {
		asked := time.Now()
		at, err := g.look(ctx)
		if err != nil {
			continue // the broker is away; the next answer shows that
		}
		g.note(at, asked)
	}
}

func (g *groups) note(at map[place]progress, asked time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	moved, left := false, false
	for p, now := range at {
		moved = moved || now.committed > g.at[p].committed
		left = left || now.committed < now.end
	}
	if g.moved.IsZero() || moved || !left {
		g.moved = asked
	}
	if d := asked.Sub(g.moved); d > quiet {
		g.Stands = max(g.Stands, d)
	}
	g.at, g.asked = at, asked
}

func (g *groups) look(ctx context.Context) (map[place]progress, error) {
	at := make(map[place]progress)
	for _, in := range g.inputs {
		all, err := fault.OffsetsOf(ctx, g.client, in.topic, in.group("chaos"))
		if err != nil {
			return nil, err
		}
		for i, of := range all {
			at[place{in.topic, i}] = progress{of.Committed[0], of.End}
		}
	}
	return at, nil
}

// group returns the consumer group that reads the topic with a configuration.
func (in *input) group(configuration string) string {
	return configuration + "." + in.table + ".rows"
}

// now returns the last answers.
func (g *groups) now() (map[place]progress, time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at, g.asked
}

// standing returns the longest time without a commit.
func (g *groups) standing() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Stands
}

// wentOn reports whether, since an earlier answer, something was committed in every partition that had something left.
func (g *groups) wentOn(before map[place]progress) bool {
	now, _ := g.now()
	for p, was := range before {
		if was.committed < was.end && now[p].committed <= was.committed {
			return false
		}
	}
	return true
}

// caughtUp reports whether everything that was published is committed, according to answers requested after a time. Transaction markers
// occupy offsets too.
func (g *groups) caughtUp(after time.Time, inputs []*input) bool {
	now, asked := g.now()
	published, ends := 0, int64(0)
	for _, in := range inputs {
		published += in.Events
	}
	for _, p := range now {
		if p.committed != p.end {
			return false
		}
		ends += p.end
	}
	return asked.After(after) && ends >= int64(published)
}
