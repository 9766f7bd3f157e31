package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/config"
	"brine/plan"
)

// foreseeSample reads a sample, and once more if events collide, to show them.
func foreseeSample(ctx context.Context, cfg *config.Config, source sampleSource, regions int, pipelines ...string) ([]foresight, error) {
	now := time.Now()
	if topic := source.topic(); topic != "" {
		for _, p := range cfg.Pipelines {
			if p.Topic == topic {
				pipelines = append(pipelines, p.Name)
			}
		}
		if len(pipelines) == 0 {
			return nil, usage(fmt.Errorf("--sample: no pipeline reads topic %s", topic))
		}
	}
	fresh := func() ([]*foreseer, error) { return foreseers(cfg, now, pipelines...) }
	all, err := readSample(ctx, source, fresh)
	if err != nil {
		return nil, err
	}
	out := make([]foresight, len(all))
	again := false
	for i, f := range all {
		if out[i], err = f.result(regions); err != nil {
			return nil, err
		}
		for reason, r := range out[i].Rejected {
			r.Place = source.place(r.at)
			out[i].Rejected[reason] = r
		}
		again = again || out[i].Pairs() != nil
	}
	if !again {
		return out, nil
	}
	all, err = readSample(ctx, source, func() ([]*foreseer, error) {
		second, err := fresh()
		for i, f := range second {
			f.pairs = cmp.Or(out[i].Pairs(), &plan.Pairs{})
		}
		return second, err
	})
	for i, f := range all {
		out[i].Collided = f.pairs.List()
		f.fixCollision(&out[i])
	}
	return out, err
}

// readSample deals a sample out to as many workers as there are processors, and merges what they counted.
func readSample(ctx context.Context, source sampleSource, fresh func() ([]*foreseer, error)) ([]*foreseer, error) {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan block, workers)
	counted := make([][]*foreseer, workers)
	for w := range workers {
		var err error
		if counted[w], err = fresh(); err != nil {
			return nil, err
		}
		group.Go(func() error {
			for b := range blocks {
				measure := b.first < plan.MeasuredEvents
				for at, rec := range b.records {
					for _, f := range counted[w] {
						f.add(at, rec, measure)
					}
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(blocks)
		return source.read(ctx, func(b block) error {
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
		for i, f := range others {
			counted[0][i].merge(f)
		}
	}
	return counted[0], nil
}
