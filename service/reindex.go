package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/indexer"
	"brine/internal/fault"
	"brine/reindex"
	"brine/schema"
	"brine/search"
)

// ReindexHalves returns the halves whose stores are needed to build an index: those of the pipelines that write it.
func ReindexHalves(cfg *config.Config, index string, from reindex.From) (halves []string, err error) {
	for _, p := range cfg.Pipelines {
		if !slices.ContainsFunc(p.Documents, func(d config.Documents) bool { return d.Index == index }) {
			continue
		}
		if p.Several() {
			return nil, fault.Misused(fmt.Errorf("pipeline %s, which writes the index %s, reads several topics (%s): reindex reads only one; "+
				"brine replay --half documents rewrites the index", p.Name, index, p.TopicText()))
		}
		halves = append(halves, config.Half{Pipeline: p, Kind: Documents}.Name())
		if from == reindex.FromHBase {
			halves = append(halves, config.Half{Pipeline: p, Kind: Rows}.Name())
		}
	}
	if halves != nil {
		return halves, nil
	}
	var names []string
	for _, x := range cfg.Indexes {
		names = append(names, x.Name)
	}
	return nil, fault.Misused(fmt.Errorf("no pipeline of the configuration writes an index %s; its indexes are %s", index,
		strings.Join(names, ", ")))
}

// OpenReindex opens what building an index needs, and no more, and adds it to o. It sets opts.For and opts.Halves itself. The caller closes
// the service after the run.
func OpenReindex(ctx context.Context, cfg *config.Config, opts Options, o reindex.Options) (*Service, *reindex.Run, error) {
	var err error
	if opts.Halves, err = ReindexHalves(cfg, o.Index, o.From); err != nil {
		return nil, nil, err
	}
	opts.For, o.Logger = ToRead, opts.Log
	s, err := Open(ctx, cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.Engine().Mapping(ctx, o.Index); err != nil && !errors.Is(err, search.ErrNoIndex) {
		s.Close()
		return nil, nil, schema.SearchError(err)
	}
	o.Engine, o.Client = s.Engine(), s.Client()
	for _, p := range s.Config().Pipelines {
		o.Sources = append(o.Sources, s.ReindexSource(p, o.Index))
	}
	run, err := reindex.New(o)
	if err != nil {
		s.Close()
		return nil, nil, ReindexError(err)
	}
	return s, run, nil
}

// ReindexError wraps an error of a reindex in its fault kind, with the fix.
func ReindexError(err error) error {
	for _, known := range []struct {
		is   error
		kind fault.Kind
		fix  string
	}{
		{reindex.ErrTaken, fault.Failed, "wait until it is done, or stop it: the same command then continues from there"},
		{reindex.ErrBegun, fault.Usage, "continue with the same command as before, or give --again to start over"},
		{reindex.ErrRefused, fault.Failed,
			"fix the index's fields in the configuration and start over with --again; or accept an index without them with --skip-refused, " +
				"just as the old one lacks dead letters of mapping_refused"},
		{reindex.ErrMissing, fault.Failed,
			"build it --from hbase, which still has what left the topic; or build it from what is left with --skip-missing"},
		{reindex.ErrNotOf, fault.Usage, "--from topic"},
		{reindex.ErrNoRoom, fault.Failed, "free up space, or drop unused indexes"},
		{reindex.ErrInTheWay, fault.Failed, "drop it, or give --again, which does"},
		{search.ErrNoIndex, fault.Missing,
			"brine tables apply -c FILE creates a missing index; if it was being built, --again starts over"},
	} {
		if errors.Is(err, known.is) {
			return fault.New(known.kind, err, known.fix)
		}
	}
	var refused *indexer.RequestError
	if errors.As(err, &refused) {
		return schema.SearchError(err)
	}
	return IngestError(err)
}
