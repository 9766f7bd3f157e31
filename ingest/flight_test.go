package ingest

import (
	"context"
	"testing"

	"brine/ingest/internal/broker"
)

// TestNothingIsSettledBehindWhatWasNotSubmitted: once work has ended, for example by a halt, records may not have been submitted although
// nothing before them is pending. A chunk without records that arrives then must not move the watermark past them.
func TestNothingIsSettledBehindWhatWasNotSubmitted(t *testing.T) {
	work, end := context.WithCancel(t.Context())
	s := &stream{partition: &partition{runner: &runner{Options: &Options{}}}, work: work}
	s.Hooks.ensureDefaults()
	s.mark.reset(15)
	end()
	s.submit(&broker.Chunk{Next: 40})
	if at := s.mark.edge(); at != 15 {
		t.Errorf("the watermark is %d", at)
	}
}
