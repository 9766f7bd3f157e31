package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/internal/term"
	"brine/schema"
	"brine/service"
)

// redirect has the pipeline's rows go to the tables of --into: all of them, so that none goes to a live table by accident. Documents
// have no such place: only the rows are replayed.
func (c *replayCmd) redirect(cfg *config.Config, p *config.Pipeline) error {
	if len(c.Into) == 0 {
		return nil
	}
	if c.Half == "documents" {
		return errors.New("--into is for rows; documents go to the index of the configuration")
	}
	c.Half = "rows"
	own := map[string]bool{}
	for _, r := range p.Rows {
		own[r.Table] = true
	}
	into := map[string]string{}
	for _, text := range c.Into {
		from, to, ok := strings.Cut(text, "=")
		if !ok && len(own) == 1 {
			from, to = p.Rows[0].Table, text
		}
		switch {
		case !own[from]:
			tables := strings.Join(slices.Sorted(maps.Keys(own)), ", ")
			return fmt.Errorf("--into %s: the pipeline %s writes %s; write OWN=OTHER for each", text, p.Name, tables)
		case to == "" || cfg.Table(to) != nil:
			return fmt.Errorf("--into %s: %q is a table of the configuration; choose the name of one that nothing else writes", text, to)
		}
		into[from] = to
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if into[name] == "" {
			return fmt.Errorf("--into: the pipeline %s writes %s too; say where those rows go: %s=OTHER", p.Name, name, name)
		}
	}
	cfg.Rename(into)
	return nil
}

// createShadows makes the tables of --into that are missing, with the families and regions that the configuration gives the pipeline's own.
func createShadows(e *env, cfg *config.Config, p *config.Pipeline) error {
	only := service.Only(cfg, p)
	cluster, err := openHBase(e, only, only.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	stores := schema.Stores{Cluster: cluster.Client}
	changes, err := schema.Plan(e.ctx, only, stores)
	if err != nil {
		return err
	}
	if err := changes.Create(e.ctx, stores); err != nil {
		return err
	}
	for _, s := range changes.Tables {
		if s.Action == schema.Created {
			fmt.Fprintf(e.stderr, "created table %s with %s\n", s.Table, term.Count(s.Regions, "region"))
		}
	}
	return nil
}
