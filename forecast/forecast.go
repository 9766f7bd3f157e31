package forecast

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/mask"
	"brine/plan"
	"brine/skew"
)

// Run predicts what would become of a sample in each target. regions is the number of regions to propose a split for; 0: the configured
// number. If the sample cannot be read, Run returns a *SampleError, or the error of the topic's Records.
func Run(ctx context.Context, sample Sample, targets []Target, regions int) ([]Report, error) {
	now := time.Now()
	counters := func() ([]*counter, error) {
		var all []*counter
		for i := range targets {
			c, err := newCounter(&targets[i], now)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		return all, nil
	}
	counted, err := count(ctx, sample, counters)
	if err != nil {
		return nil, err
	}
	out := make([]Report, len(counted))
	for i, c := range counted {
		if out[i], err = c.report(sample, regions); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(out, func(r Report) bool { return r.Pairs() != nil }) {
		return out, nil
	}
	return out, addCollided(ctx, sample, counters, out)
}

// addCollided reads the sample again for the events that collide, of which only hashes were stored.
func addCollided(ctx context.Context, sample Sample, counters func() ([]*counter, error), out []Report) error {
	counted, err := count(ctx, sample, func() ([]*counter, error) {
		all, err := counters()
		for i, c := range all {
			c.pairs = cmp.Or(out[i].Pairs(), &plan.Pairs{})
		}
		return all, err
	})
	for i, c := range counted {
		out[i].Collided = c.pairs.List()
		c.target.hide(out[i].Collided)
		c.fixCollision(&out[i])
	}
	return err
}

// count distributes a sample to as many workers as there are processors, and merges their counts.
func count(ctx context.Context, sample Sample, counters func() ([]*counter, error)) ([]*counter, error) {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan block, workers)
	counted := make([][]*counter, workers)
	for w := range workers {
		var err error
		if counted[w], err = counters(); err != nil {
			return nil, err
		}
	}
	for _, mine := range counted {
		group.Go(func() error {
			for b := range blocks {
				if err := b.count(ctx, mine); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(blocks)
		return sample.read(ctx, func(b block) error {
			select {
			case blocks <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, others := range counted[1:] {
		for i, c := range others {
			counted[0][i].merge(c)
		}
	}
	return counted[0], nil
}

func (b *block) count(ctx context.Context, counters []*counter) error {
	measure := b.first < plan.MeasuredEvents
	for at, rec := range b.records {
		for _, c := range counters {
			if err := c.add(ctx, at, rec, measure); err != nil {
				return err
			}
		}
	}
	return nil
}

// hide masks in colliding events what the target's pipeline masks.
func (t *Target) hide(pairs []plan.Pair) {
	if len(t.Schema.Masked) == 0 {
		return
	}
	for i := range pairs {
		if t.Table.Masked != "" {
			pairs[i].Row = skew.Key(t.Table.Masked)
		}
		for n := range pairs[i].Events {
			pairs[i].Events[n].Text = mask.Text
		}
	}
}
