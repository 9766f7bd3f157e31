package verify

import (
	"context"
	"errors"
	"iter"

	"brine/ingest"
	"brine/ingest/deadletter"
)

// DeadLetters returns, for a Source, a function that iterates over the open dead letters of one group: those in its dead-letter topic, and
// those in topics that were that before. It yields nothing of a topic that does not exist.
func DeadLetters(o ingest.Options, before ...string) func(context.Context) iter.Seq2[Letter, error] {
	return func(ctx context.Context) iter.Seq2[Letter, error] {
		return func(yield func(Letter, error) bool) {
			for _, topic := range append([]string{o.DeadLetterTopic}, before...) {
				in := o
				in.DeadLetterTopic = topic
				for l, err := range deadLettersIn(ctx, in) {
					if !yield(l, err) {
						return
					}
				}
			}
		}
	}
}

func deadLettersIn(ctx context.Context, o ingest.Options) iter.Seq2[Letter, error] {
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
				// The pipeline still rejects a record that a replay fixed, but the record is not lost.
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
