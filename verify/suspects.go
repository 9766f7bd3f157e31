package verify

import (
	"context"
	"fmt"
	"slices"

	"brine/ingest"
)

// keep takes over what a worker found and counted.
func (c *Check) keep(table int, w *worker, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !again {
		c.tallies[table].add(&w.judge.tally)
	}
	for _, f := range w.names {
		if len(c.suspects) < c.opts.MaxFindings {
			c.suspects = append(c.suspects, f)
		} else {
			c.uncounted[tableKind{table, f.Kind}]++
		}
	}
}

// secondLook checks the suspects against what has come into the topics since the first look, and reads them again: a range may end before
// the change that explains them, and a store may be written while it is compared.
func (c *Check) secondLook(ctx context.Context) error {
	if !slices.ContainsFunc(c.suspects, func(f Finding) bool { return f.Kind != Collided }) {
		return nil
	}
	if err := c.name(); err != nil {
		return err
	}
	for i := range c.opts.Sources {
		from, partitions := map[int]int64{}, []int{}
		for _, p := range c.plans[i].Partitions {
			from[p.Partition] = p.To
			partitions = append(partitions, p.Partition)
		}
		if _, err := c.readRange(ctx, i, ingest.Offsets(from), ingest.Latest, partitions, true); err != nil {
			return err
		}
	}
	return c.lookAgain(ctx)
}

// name records the keys of the suspects, and adds a probe for each, because nothing may be expected there.
func (c *Check) name() error {
	c.named = map[uint64]bool{}
	for i := range c.suspects {
		f := &c.suspects[i]
		if f.Kind == Lost {
			continue
		}
		table := c.opts.table(f.Table, f.Document)
		c.named[hash(f.Key)+uint64(table)] = true
		if err := c.sorter.add(c.shardOf(table, f.Key), f.Key, appendEntry(nil, probe, origin{})); err != nil {
			return err
		}
	}
	return nil
}

// lookAgain finds out which suspects remain. Collisions depend only on the topic and remain.
func (c *Check) lookAgain(ctx context.Context) error {
	before := c.suspects
	c.suspects = nil
	for _, f := range before {
		if f.Kind == Collided {
			c.suspects = append(c.suspects, f)
		}
	}
	return c.look(ctx, &look{check: c, again: true})
}

const explained = 1000 // the number of findings whose rows are read once more for a reason

// explain adds to each missing finding whether a delete marker hides it.
func (c *Check) explain(ctx context.Context) error {
	for i := range c.suspects[:min(len(c.suspects), explained)] {
		f := &c.suspects[i]
		if f.Kind != Missing {
			continue
		}
		store, ok := c.opts.Tables[c.opts.table(f.Table, f.Document)].Store.(hider)
		if !ok {
			continue
		}
		marker, err := store.hiding(ctx, f.Key, []byte(f.Column), f.Expected)
		if err != nil {
			return err
		}
		if marker >= 0 {
			f.Reason += fmt.Sprintf("; a delete marker of version %d hides it, so a repair shows only after a major compaction has dropped that",
				marker)
		}
	}
	return nil
}
