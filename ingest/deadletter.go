package ingest

import (
	"context"
	"time"

	"brine/event"
)

// DeadLetters keeps records that cannot be written, whole and with the reason. It is safe for concurrent use.
type DeadLetters interface {
	// Write returns nil only when all letters are durable. It is called again with the same letters after an error: a
	// letter's identity is its record's (topic, partition, offset) and the group, and readers ignore repeats.
	Write(ctx context.Context, letters []DeadLetter) error
}

// DeadLetter is one record that could not be written. The record is valid until Write returns.
type DeadLetter struct {
	Record *event.Record
	Reason event.Reason
	Field  string // path of the field in the record, empty when the record as a whole is meant
	Detail string // for people
	Group  string // the consumer group whose writer did not take it
	Time   time.Time

	Replayed time.Time // of a mark alone: when the record was written after all
}
