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

// undeclaredEvery is how often undeclared names are checked.
const undeclaredEvery = time.Minute

// watchUndeclared logs each undeclared field name once, when it first appears in records, until ctx is done.
func (s *Service) watchUndeclared(ctx context.Context) {
	said := map[string]bool{} // pipeline and name: both halves of a pipeline see the same records
	for backoff.Wait(ctx, undeclaredEvery) == nil {
		for _, h := range s.all() {
			if line := newNames(h.pipeline.Name, h.undeclared.Counts(), said); line != "" {
				s.log.Info("records have fields that the pipeline does not declare", "pipeline", h.pipeline.Name, "fields", line,
					"fix", "declare those that should be written")
			}
		}
	}
}

// newNames returns the names that have not been logged yet, each with the number of examined records that hold it, and marks them as
// logged.
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

// watchSchemas counts the registry's requests for a configuration, and logs each schema that is read for the first time.
func (s *Service) watchSchemas(cfg *config.Config) {
	hooks := s.schemas
	fetched := hooks.Fetched
	hooks.Fetched = func(i registry.FetchedInfo) {
		fetched(i)
		if i.Schema != nil {
			// The schema's name is in the message, so that lines of different schemas are not taken for repeats.
			s.log.Info("records arrive with "+i.Schema.String()+", a schema not seen before", "from_cache", i.FromDir)
		}
	}
	cfg.WatchRegistry(hooks)
}
