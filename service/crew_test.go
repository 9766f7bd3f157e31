package service

import (
	"context"
	"testing"
)

// TestHalfThatStartsWhileTheCrewStops checks that the loop of a half that a reload starts while the process stops is ended rather than
// forgotten: it may have been given a member's place in its group, which it must leave.
func TestHalfThatStartsWhileTheCrewStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newCrew(ctx)
	cancel()
	for _, when := range []string{"before the others have stopped", "after the others have stopped"} {
		h := &Half{name: "scans.rows", loop: unusedLoop(t)}
		c.start(h)
		if err := c.wait(); err != nil {
			t.Error(err)
		}
		if err := h.loop.Run(ctx); err == nil {
			t.Errorf("%s: the loop was not run, so it has not left its group", when)
		}
	}
}
