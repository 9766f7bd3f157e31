package verify

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/ingest/eras"
)

// Check is one verification. Call Run once, then Repair and DeleteExtra any number of times, then Close.
type Check struct {
	opts    Options
	shards  []shard // of all tables; those of one table in the order of keys
	sorter  *sorter
	began   time.Time
	plans   []ingest.Plan // by source
	records []atomic.Int64
	cancel  context.CancelCauseFunc

	rejected atomic.Int64
	unplaced atomic.Int64   // records for which neither what they made nor where is known
	unknown  []atomic.Int64 // by source: offsets for which it is not known what they made
	// unknownFixes is the number of records that a replay fixed in a way that this configuration cannot repeat.
	unknownFixes int
	unlettered   int64 // records that could not be written and had no dead letter, also if a repair has written that since
	mu           sync.Mutex
	tallies      []tally // by table
	suspects     []Finding
	uncounted    map[tableKind]int64 // findings beyond MaxFindings
	named        map[uint64]bool     // keys of suspects
	letters      letterCounts
	silent       []silent // by source
}

// silent counts the events of a source that make nothing.
type silent struct {
	leftOut  map[event.LeftOut]int64
	filtered map[string]int64 // by the table or index whose condition fails
}

// leaveOut counts events that make nothing, or nothing in some tables.
func (c *Check) leaveOut(source int, i ingest.WroteInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.silent[source]
	for why, n := range i.Events {
		s.leftOut[why] += int64(n)
	}
	for of, n := range i.Filtered {
		s.filtered[of] += int64(n)
	}
}

type tableKind struct {
	table int
	kind  Kind
}

// shard is a range of a table.
type shard struct {
	table    int
	from, to []byte // empty: open
}

const maxShards = 60_000 // a sorter stores the shard in two bytes

// New returns a Check of valid options.
func New(o Options) (*Check, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Check{opts: o, tallies: make([]tally, len(o.Tables)), records: make([]atomic.Int64, len(o.Sources)),
		unknown: make([]atomic.Int64, len(o.Sources)), began: o.Now(),
		uncounted: map[tableKind]int64{}, named: map[uint64]bool{}, cancel: func(error) {}}
	for range o.Sources {
		c.silent = append(c.silent, silent{map[event.LeftOut]int64{}, map[string]int64{}})
	}
	return c, nil
}

// Close removes the temporary file.
func (c *Check) Close() {
	if c.sorter != nil {
		c.sorter.close()
	}
}

// prepare cuts the tables into shards.
func (c *Check) prepare(ctx context.Context) (err error) {
	most := maxShards / max(1, len(c.opts.Tables))
	for i := range c.opts.Tables {
		t := &c.opts.Tables[i]
		splits, err := t.Store.Splits(ctx)
		if err != nil {
			return fmt.Errorf("verify: %s: %w", t.Name, err)
		}
		for len(splits) >= most {
			splits = everyOther(splits)
		}
		from := []byte(nil)
		for _, split := range splits {
			c.shards = append(c.shards, shard{i, from, split})
			from = split
		}
		c.shards = append(c.shards, shard{i, from, nil})
	}
	c.sorter, err = newSorter(c.opts.Dir, c.opts.Memory, len(c.shards)+1)
	return err
}

func everyOther(splits [][]byte) [][]byte {
	out := splits[:0]
	for i := 1; i < len(splits); i += 2 {
		out = append(out, splits[i])
	}
	return out
}

// shardOf returns the shard of a key.
func (c *Check) shardOf(table int, key []byte) int {
	return sort.Search(len(c.shards), func(i int) bool {
		s := &c.shards[i]
		return s.table > table || s.table == table && bytes.Compare(s.from, key) > 0
	}) - 1
}

// letterShard returns the index of the shard for dead letters.
func (c *Check) letterShard() int { return len(c.shards) }

// wanted reports whether a key belongs to the sample.
func (c *Check) wanted(key []byte) bool {
	return c.opts.Sample == 1 || float64(hash(key)>>11)/(1<<53) < c.opts.Sample
}

// suspect reports whether there is a finding at the key.
func (c *Check) suspect(table int, key []byte) bool { return c.named[hash(key)+uint64(table)] }

// abort ends Run with an error.
func (c *Check) abort(err error) { c.cancel(err) }

func (c *Check) read(source, records int) {
	c.records[source].Add(int64(records))
	c.opts.Hooks.Read(ReadInfo{c.opts.Sources[source].Name, records})
}

// Run verifies. It returns an error if the verification could not be done; findings are in the report.
func (c *Check) Run(ctx context.Context) (*Report, error) {
	ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	steps := []func(context.Context) error{c.prepare, c.readSources, c.readLetters, c.firstLook, c.secondLook, c.resolve, c.explain}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, err
		}
	}
	return c.report(), nil
}

// readSources reads all sources.
func (c *Check) readSources(ctx context.Context) error {
	for i := range c.opts.Sources {
		s := &c.opts.Sources[i]
		plan, err := c.readRange(ctx, i, s.From, s.To, s.Partitions, false)
		if err != nil {
			return err
		}
		c.plans = append(c.plans, plan)
	}
	return nil
}

// readRange reads a part of a source's topic.
func (c *Check) readRange(ctx context.Context, source int, from, to ingest.Position, partitions []int, tail bool) (ingest.Plan, error) {
	s := &c.opts.Sources[source]
	x := &expecter{check: c, source: source, reading: eras.Present, tail: tail}
	o := ingest.ReplayOptions{Options: s.Ingest, From: from, To: to, Partitions: partitions, Untracked: true, Patience: s.Patience,
		Eras: s.Eras}
	o.DeadLetters, o.DeadLetterTopic, o.Hooks = x, o.Topic, ingest.Hooks{Skipped: func(i ingest.SkippedInfo) {
		c.abort(fmt.Errorf("verify: %s: %w: offsets %d to %d of partition %d have left the log in the meantime", s.Name, ErrIncomplete,
			i.From, i.To-1, i.Partition))
	}}
	if !tail {
		o.Hooks.Wrote = func(i ingest.WroteInfo) { c.leaveOut(source, i) }
	}
	o.RecordsPerSecond = s.Ingest.RecordsPerSecond
	var err error
	if o.Writer, err = s.writer(func(reading int) event.Writer { return x.of(reading) }); err != nil {
		return ingest.Plan{}, err
	}
	replay, err := ingest.NewReplay(o)
	if err != nil {
		return ingest.Plan{}, fmt.Errorf("verify: %s: %w", s.Name, err)
	}
	plan, err := replay.Plan(ctx)
	if err != nil {
		return plan, fmt.Errorf("verify: %s: %w", s.Name, err)
	}
	if missing := plan.Missing(); len(missing) > 0 && !tail {
		return plan, fmt.Errorf("verify: %s: %w: %s", s.Name, ErrIncomplete, missing[0])
	}
	for _, p := range plan.Partitions {
		if c.opts.Full && !tail && p.From > 0 {
			return plan, fmt.Errorf("verify: %s: %w: the log of partition %d begins at offset %d, so what earlier records wrote would count "+
				"as extra", s.Name, ErrIncomplete, p.Partition, p.From)
		}
	}
	if !tail {
		c.opts.Hooks.Phase(PhaseInfo{"reading " + s.Name, func() (int64, int64) {
			left := replay.Progress().Left()
			return plan.Left() - left, plan.Left()
		}})
	}
	if !tail {
		c.countUnknown(source, plan)
	}
	if plan.Left() > 0 {
		err = replay.Run(ctx, plan)
	}
	if err != nil {
		err = fmt.Errorf("verify: %s: %w", s.Name, err)
	}
	return plan, err
}
