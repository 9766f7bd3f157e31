package verify

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"brine/event"
	"brine/ingest/eras"
)

// letterCounts counts records that are not in the stores, by what became of them.
type letterCounts struct {
	rejected int64 // cannot be written, and are dead letters
	excused  int64 // findings that a dead letter explains
	lost     int64 // cannot be written, and are not dead letters
}

// readLetters sorts what fixed records have become, and sorts the dead letters together with the records that must be among them.
func (c *Check) readLetters(ctx context.Context) error {
	for i := range c.opts.Sources {
		if c.opts.Sources[i].Letters == nil {
			continue
		}
		for letter, err := range c.opts.Sources[i].Letters(ctx) {
			if err != nil {
				return fmt.Errorf("verify: dead letters of %s: %w", c.opts.Sources[i].Name, err)
			}
			if letter.Let != "" {
				if err := c.expectFixed(ctx, i, &letter); err != nil {
					return err
				}
			}
			o := origin{source: i, partition: letter.Partition, offset: letter.Offset}
			if err := c.sorter.add(c.letterShard(), o.key(), append(appendEntry(nil, lettered, o), letter.Reason...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectFixed sorts what a record would write as a replay fixed it. It counts a fix that this configuration cannot repeat, because what
// that has written cannot be known.
func (c *Check) expectFixed(ctx context.Context, source int, l *Letter) error {
	s := &c.opts.Sources[source]
	if s.Fixed == nil {
		return nil
	}
	var w event.Writer = &expecter{check: c, source: source, reading: eras.Present, fixed: true}
	if s.Through != nil {
		through, err := s.Through(w)
		if err != nil {
			return err
		}
		w = through
	}
	known, err := s.writeFixed(ctx, l, w)
	if !known && err == nil {
		c.unknownFixes++
	}
	return err
}

// writeFixed writes a record as a replay fixed it. known is false if this configuration cannot repeat the fix.
func (s *Source) writeFixed(ctx context.Context, l *Letter, w event.Writer) (known bool, err error) {
	schema, err := s.Fixed(l.Let)
	if err != nil {
		return false, nil //nolint:nilerr // see DeleteExtra
	}
	d := event.NewDecoder(schema)
	if err := d.ResolveSoon(ctx, l.Record); err != nil {
		return false, fmt.Errorf("verify: dead letters of %s: %w", s.Name, err)
	}
	var batch event.Batch
	if d.Decode(l.Record, &batch) != nil {
		return false, nil //nolint:nilerr // see DeleteExtra
	}
	batch.Events = slices.DeleteFunc(batch.Events, func(e event.Event) bool { return e.LeftOut != "" })
	flight := w.Submit(ctx, &batch)
	w.Release()
	failures, err := event.Settle(ctx, flight)
	if err != nil {
		return false, fmt.Errorf("verify: dead letters of %s: %w", s.Name, err)
	}
	return len(failures) == 0, nil
}

// resolve goes through the dead letters: it accounts for findings whose records are dead letters, and checks that every record that cannot
// be written is one.
func (c *Check) resolve(context.Context) error {
	if err := c.sorter.flush(); err != nil {
		return err
	}
	wanted := map[origin]string{} // the reason, once known
	for i := range c.suspects {
		for _, o := range c.suspects[i].from {
			wanted[o] = ""
		}
	}
	var key []byte
	var of record
	err := c.sorter.each(c.letterShard(), c.opts.Memory, func(k, payload []byte) error {
		e, err := readEntry(payload)
		if err != nil {
			return err
		}
		if !bytes.Equal(k, key) {
			c.settle(&of, wanted)
			key, of = append(key[:0], k...), record{origin: e.origin}
		}
		of.flags |= e.flags
		of.reason = string(e.ops)
		return nil
	})
	c.settle(&of, wanted)
	c.excuse(wanted)
	return err
}

// record is what is known of one record in the letters' shard.
type record struct {
	origin origin
	flags  byte
	reason string
}

func (c *Check) settle(r *record, wanted map[origin]string) {
	if r.flags&lettered != 0 {
		if _, asked := wanted[r.origin]; asked {
			wanted[r.origin] = r.reason
		}
	}
	switch {
	case r.flags&rejected == 0:
	case r.flags&lettered != 0:
		c.letters.rejected++
	case r.flags&may == 0:
		c.letters.lost++
		c.unlettered = max(c.unlettered, c.letters.lost)
		if len(c.suspects) < c.opts.MaxFindings {
			c.suspects = append(c.suspects, Finding{Table: c.opts.Sources[r.origin.source].Ingest.Topic, Kind: Lost, Expected: -1, Found: -1,
				from: []origin{r.origin}, Reason: "the record cannot be written (" + r.reason +
					"), but there is no dead letter for it; a purge may have deleted that"})
		}
	}
}

// excuse drops missing and stale findings if all of their records are dead letters. It keeps those that a replay has written with a fix,
// because their origin is not that of a dead letter.
func (c *Check) excuse(wanted map[origin]string) {
	left := c.suspects[:0]
	for _, f := range c.suspects {
		reason := ""
		if f.Kind == Missing || f.Kind == Stale {
			for _, o := range f.from {
				if reason = wanted[o]; reason == "" {
					break
				}
			}
		}
		if reason != "" {
			c.letters.excused++
			continue
		}
		left = append(left, f)
	}
	c.suspects = left
}
