package replays

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/schema"
	"brine/service"
)

// redirect makes the pipeline's rows go to the tables of --into. It redirects all of them, so that none goes to a live table by accident.
// Documents have no such target, so only the rows are replayed.
func (s *Set) redirect() error {
	if len(s.asked.Into) == 0 {
		return nil
	}
	if s.asked.Half == service.Documents {
		return errors.New("--into is for rows; documents go to the index of the configuration")
	}
	s.asked.Half = service.Rows
	own := map[string]bool{}
	for _, r := range s.pipeline.Rows {
		own[r.Table] = true
	}
	into, err := renames(s.cfg, s.pipeline, own, s.asked.Into)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if into[name] == "" {
			return fmt.Errorf("--into: pipeline %s also writes %s; say where those rows go: %s=OTHER", s.pipeline.Name, name, name)
		}
	}
	s.into = into
	s.cfg.Rename(into)
	return nil
}

// renames parses --into: other tables by the pipeline's own.
func renames(cfg *config.Config, p *config.Pipeline, own map[string]bool, texts []string) (map[string]string, error) {
	into := map[string]string{}
	for _, text := range texts {
		from, to, ok := strings.Cut(text, "=")
		if !ok && len(own) == 1 {
			from, to = p.Rows[0].Table, text
		}
		switch {
		case !own[from]:
			tables := strings.Join(slices.Sorted(maps.Keys(own)), ", ")
			return nil, fmt.Errorf("--into %s: the pipeline %s writes %s; write OWN=OTHER for each", text, p.Name, tables)
		case to == "" || cfg.Table(to) != nil:
			return nil, fmt.Errorf("--into %s: %q is a table of the configuration; choose the name of one that nothing else writes", text, to)
		}
		into[from] = to
	}
	return into, nil
}

// CreateShadows creates the missing tables of --into, with the families and regions that the configuration defines for the pipeline's own
// tables, and returns the tables that it created.
func (s *Set) CreateShadows(ctx context.Context, cluster *hbase.Client) (made []schema.TableStep, err error) {
	only := service.Only(s.cfg, s.pipeline)
	stores := schema.Stores{Cluster: cluster}
	changes, err := schema.Plan(ctx, only, stores)
	if err != nil {
		return nil, err
	}
	if err := changes.Create(ctx, stores); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(changes.Tables, func(s schema.TableStep) bool { return s.Action != schema.Created }), nil
}
