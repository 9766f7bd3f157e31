package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/internal/backoff"
	"brine/registry"
)

// undeclaredEvery is how often it is looked for names that records have come to hold.
const undeclaredEvery = time.Minute

// watchUndeclared logs names that records have come to hold and that no field is declared of, each once. It ends with ctx.
func (s *Service) watchUndeclared(ctx context.Context) {
	said := map[string]bool{} // pipeline and name: both halves of it see the same records
	for backoff.Wait(ctx, undeclaredEvery) == nil {
		for _, h := range s.all() {
			if line := newNames(h.pipeline.Name, h.undeclared.Counts(), said); line != "" {
				s.log.Info("records hold fields that the pipeline does not declare", "pipeline", h.pipeline.Name, "fields", line,
					"fix", "declare those that are to be written")
			}
		}
	}
}

// newNames are the names that nobody has said yet, with how many of the records that were looked at hold them; it notes them.
func newNames(pipeline string, c event.UndeclaredCounts, said map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Names)) {
		if key := pipeline + "\x00" + name; !said[key] {
			said[key] = true
			out = append(out, fmt.Sprintf("%s (%d of %d)", name, c.Names[name], c.Looked))
		}
	}
	return strings.Join(out, ", ")
}

// watchSchemas has the registry of a configuration counted, and each schema logged that records are read by from now on.
func (s *Service) watchSchemas(cfg *config.Config) {
	hooks := s.schemas
	fetched := hooks.Fetched
	hooks.Fetched = func(i registry.FetchedInfo) {
		fetched(i)
		if i.Schema != nil {
			// The name is of the message, so that no line of several schemas is taken for a repeat of another's.
			s.log.Info("records come of "+i.Schema.String()+", a schema that was not read before", "from_cache", i.FromDir)
		}
	}
	cfg.WatchRegistry(hooks)
}
