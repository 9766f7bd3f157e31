package verify

import (
	"context"
	"errors"
	"iter"

	"brine/ingest"
	"brine/ingest/deadletter"
)

// DeadLetters returns the open dead letters of one group, for a Source; none where there has never been one.
func DeadLetters(o ingest.Options) func(context.Context) iter.Seq2[Letter, error] {
	return func(ctx context.Context) iter.Seq2[Letter, error] {
		return func(yield func(Letter, error) bool) {
			log, err := deadletter.Open(ctx, o.DeadLetterTopicOptions())
			if errors.Is(err, ingest.ErrNoTopic) {
				return
			}
			if err != nil {
				yield(Letter{}, err)
				return
			}
			defer log.Close()
			for kept, err := range log.Letters(ctx, 0, 0) {
				switch {
				case err != nil:
					yield(Letter{}, err)
					return
				case kept.Group != o.Group || kept.Record.Topic != o.Topic || !kept.Replayed.IsZero() && kept.Let == "":
					// What was fixed on its way back is rejected by the pipeline still, and not lost.
				default:
					l := Letter{Partition: kept.Record.Partition, Offset: kept.Record.Offset, Reason: string(kept.Reason)}
					if !kept.Replayed.IsZero() {
						l.Let, l.Record = kept.Let, kept.Record
					}
					if !yield(l, nil) {
						return
					}
				}
			}
		}
	}
}
