package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/lookup"
	"brine/reindex"
	"brine/service/brokers"
	"brine/service/fixes"
	"brine/service/former"
	"brine/verify"
)

// VerifySource returns a half of a pipeline as verify reads it: its whole topic, with every record expected in the store. If the half looks
// keys up, client is called once the stores are open.
func VerifySource(cfg *config.Config, h config.Half, log *slog.Logger, client func() *hbase.Client) verify.Source {
	p := h.Pipeline
	s := verify.Source{Name: h.Name(), Through: through(p, client), Ingest: cfg.Ingest(p, h.Group())}
	if h.Kind == Rows {
		opts := p.Sink()
		s.Rows = &opts
	} else {
		opts := p.Indexer()
		s.Documents = &opts
	}
	s.Ingest.OutOfRange, s.Ingest.Logger = ingest.FromEarliest, log
	s.Patience = cfg.Patience()
	VerifyLetters(&s, h, nil)
	s.Fixed = func(let string) (event.Schema, error) {
		fix, err := fixes.Again(p, let)
		return fix.Apply(s.Ingest.Schema), err
	}
	return s
}

// VerifyLetters has a source look for the dead letters of its half also in the topics that held them before.
func VerifyLetters(s *verify.Source, h config.Half, notes *former.Notes) {
	s.Letters = verify.DeadLetters(s.Ingest, notes.Letters(h)...)
}

// VerifyFormer adds to a source how its half was configured before, so that each record is judged by the configuration that was in force.
func VerifyFormer(s *verify.Source, h *former.Half, client func() *hbase.Client) {
	if h == nil {
		return
	}
	s.Eras = &h.Eras
	for i := range h.Readings {
		if h.Known(i) {
			s.Former = append(s.Former, formerly(h.Halves[i], client))
			continue
		}
		f := verify.Former{Through: s.Through, Unknown: true}
		if s.Rows != nil {
			rows := *s.Rows
			rows.Schema, rows.Rows = h.Readings[i].Schema, slices.Clone(rows.Rows)
			for j := range rows.Rows {
				rows.Rows[j].When, rows.Rows[j].Otherwise = "", ""
			}
			f.Rows = &rows
		} else {
			documents := *s.Documents
			documents.Schema, documents.Documents = h.Readings[i].Schema, slices.Clone(documents.Documents)
			for j := range documents.Documents {
				documents.Documents[j].When, documents.Documents[j].Hides = "", false
			}
			f.Documents = &documents
		}
		s.Former = append(s.Former, f)
	}
}

// formerly returns a former configuration of a half for verify.
func formerly(h config.Half, client func() *hbase.Client) verify.Former {
	f := verify.Former{Through: through(h.Pipeline, client)}
	if h.Kind == Rows {
		rows := h.Pipeline.Sink()
		f.Rows = &rows
	} else {
		documents := h.Pipeline.Indexer()
		f.Documents = &documents
	}
	return f
}

// CloseFormer closes what FormerWriter opened for a half's earlier configurations, which nothing writes with any more.
func (s *Service) CloseFormer(of *former.Half) {
	if of == nil {
		return
	}
	s.former = slices.DeleteFunc(s.former, func(h *Half) bool {
		is := slices.ContainsFunc(of.Halves, func(was config.Half) bool { return was.Pipeline == h.pipeline && was.Kind == h.kind })
		if is {
			s.closeHalf(h)
		}
		return is
	})
}

// VerifiesWhole checks that the sources, each a half of a pipeline, include every writer of their tables and indexes. What other pipelines
// write would count as extra.
func VerifiesWhole(cfg *config.Config, sources []verify.Source) error {
	var others []verify.Source
	for _, p := range cfg.Pipelines {
		if slices.ContainsFunc(p.Halves(), func(h config.Half) bool {
			return slices.ContainsFunc(sources, func(s verify.Source) bool { return s.Name == h.Name() })
		}) {
			continue
		}
		for _, h := range p.Halves() {
			other := VerifySource(cfg, h, nil, nil)
			other.Name = p.Name
			others = append(others, other)
		}
	}
	t, by := verify.Shared(sources, others)
	if by == nil {
		return nil
	}
	what := "table "
	if t.Documents {
		what = "index "
	}
	return fmt.Errorf("--full: %s is also written by pipeline %s, whose rows would count as extra; leave --pipeline out", what+t.Name, by.Name)
}

// ReindexSource returns a pipeline as reindex reads it for one of its indexes.
func (s *Service) ReindexSource(p *config.Pipeline, index string) reindex.Source {
	src := reindex.Source{Pipeline: p.Name, Ingest: s.Config().Ingest(p, p.DocumentsGroup()), Documents: p.Indexer(), Rows: p.Sink(),
		Through: through(p, s.Client)}
	src.Documents.Documents = slices.DeleteFunc(src.Documents.Documents, func(d indexer.Document) bool { return d.Index != index })
	src.Documents.Hooks = s.WatchIndex(p.Name, src.Documents.Hooks)
	for _, d := range p.Documents {
		if d.Index == index {
			src.Table = cmp.Or(d.Table, p.Rows[0].Table)
		}
	}
	src.RowsDone = func(ctx context.Context) (map[int]int64, error) { return s.settled(ctx, p.RowsGroup(), p.Topic) }
	return src
}

// settled returns the committed offset of each partition of a topic, as the brokers report it for a group.
func (s *Service) settled(ctx context.Context, group, topic string) (map[int]int64, error) {
	client := brokers.Open(&s.Config().Kafka)
	defer client.Close()
	ends, err := client.Ends(ctx, topic)
	if err != nil {
		return nil, brokers.Error(err)
	}
	committed, err := client.CommittedAll(ctx, group, topic, len(ends))
	if err != nil {
		return nil, brokers.Error(err)
	}
	done := make(map[int]int64, len(ends))
	for i := range ends {
		done[i] = committed[i] // an explicit 0 tells a partition that was queried apart from an unknown one
	}
	return done, nil
}

// through returns a function that wraps a Writer in one that looks keys up first, or nil if the pipeline looks none up.
func through(p *config.Pipeline, client func() *hbase.Client) func(event.Writer) (event.Writer, error) {
	opts, looksUp := p.Lookup()
	if !looksUp {
		return nil
	}
	return func(to event.Writer) (event.Writer, error) { return lookup.New(client(), to, opts) }
}
