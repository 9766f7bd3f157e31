package reindex

import (
	"context"
	"errors"

	"brine/search"
)

// Plan is what a Run would do.
type Plan struct {
	Index     string `json:"index"`
	From      From   `json:"from"`
	Resumed   bool   `json:"resumed"`   // a reindex was begun, and will be resumed
	Phase     Phase  `json:"phase"`     // in which it resumes
	Documents int64  `json:"documents"` // in the current index, including those that are marked deleted
	Bytes     int64  `json:"bytes"`     // of the current index
	Free      int64  `json:"free"`      // free space beside it; −1: not known

	Tables []TablePlan `json:"tables,omitempty"`
	Topics []TopicPlan `json:"topics"`
}

// TablePlan is a table to read in full.
type TablePlan struct {
	Table  string `json:"table"`
	Ranges int    `json:"ranges"` // still to read
	Done   int64  `json:"done"`   // rows already in the new index
	Bytes  int64  `json:"bytes"`  // on disk
}

// TopicPlan is the part of a topic to read.
type TopicPlan struct {
	Topic   string   `json:"topic"`
	Records int64    `json:"records"` // an upper bound
	Bytes   int64    `json:"bytes"`   // approximately
	Missing []string `json:"missing"` // what retention has removed
}

// Plan determines what Run would do. It changes nothing.
func (r *Run) Plan(ctx context.Context) (Plan, error) {
	p := Plan{Index: r.opts.Index, From: r.opts.From}
	count, err := r.opts.Engine.Search(ctx, search.Query{Index: r.opts.Index, Size: 1, Count: true, Deleted: true})
	if err != nil {
		return p, err
	}
	room, err := r.engine.Room(ctx, r.opts.Index)
	if err != nil {
		return p, err
	}
	p.Documents, p.Bytes, p.Free = count.Total, room.Index, room.Free
	kept, err := r.keeper.find(ctx)
	if err != nil {
		return p, err
	}
	state := r.opts.begin()
	if kept != nil && kept.Phase != Done && kept.Asked == r.opts.asked() && !r.opts.Again {
		p.Resumed, state = true, kept
	}
	p.Phase = state.Phase
	for i := range r.opts.Sources {
		if err := r.planSource(ctx, &p, &r.opts.Sources[i], state.Sources[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Work returns the approximate number of rows and records left to read.
func (p *Plan) Work() (n int64) {
	for _, t := range p.Tables {
		n += max(0, p.Documents-t.Done)
	}
	for _, t := range p.Topics {
		n += t.Records
	}
	return n
}

func (r *Run) planSource(ctx context.Context, p *Plan, s *Source, at *source) error {
	if p.Phase == Scanning {
		bytes, err1 := bytesOf(ctx, r.opts.Client, s.Table)
		if at.Ranges == nil {
			ranges, err := rangesOf(ctx, r.opts.Client, s.Table)
			if err != nil {
				return err
			}
			at.Ranges = ranges
		}
		done, err2 := s.RowsDone(ctx)
		if at.Offsets == nil {
			at.Offsets = done
		}
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		p.Tables = append(p.Tables, TablePlan{Table: s.Table, Ranges: at.left(), Done: at.Rows, Bytes: bytes})
	}
	d := &round{run: &Run{opts: r.opts, keeper: &keeper{state: &state{}}}, source: s, state: at}
	d.run.opts.SkipMissing = true
	if err := d.prepare(ctx, nil); err != nil {
		return err
	}
	topic := TopicPlan{Topic: s.Ingest.Topic, Records: d.plan.Left(), Missing: append([]string{}, d.missing...)}
	for _, part := range d.plan.Partitions {
		topic.Bytes += part.Bytes
	}
	p.Topics = append(p.Topics, topic)
	return nil
}

// left returns the number of ranges still to read.
func (s *source) left() (n int) {
	for _, x := range s.Ranges {
		if !x.Done {
			n++
		}
	}
	return n
}
