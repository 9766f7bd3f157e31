package letters

import (
	"context"

	"brine/ingest/deadletter"
	"brine/service"
)

// Purged is what a purge does of a topic, as a line of JSON.
type Purged struct {
	deadletter.Purge
	Deleted bool `json:"deleted"`
}

// RunPurge deletes what was planned, and hands over each topic once that is done; a dry run only hands them over.
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
