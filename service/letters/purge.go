package letters

import (
	"context"

	"brine/ingest/deadletter"
	"brine/service"
)

// Purged is the JSON line of what a purge does to a topic.
type Purged struct {
	deadletter.Purge
	Deleted bool `json:"deleted"`
}

// RunPurge runs the plans, and calls each after each topic. A dry run only calls each.
func RunPurge(ctx context.Context, plans []deadletter.Purge, dryRun bool, each func(Purged) error) error {
	for i := range plans {
		if !dryRun {
			if err := plans[i].Run(ctx); err != nil {
				return service.IngestError(err)
			}
		}
		if err := each(Purged{plans[i], !dryRun && plans[i].Records > 0}); err != nil {
			return err
		}
	}
	return nil
}
