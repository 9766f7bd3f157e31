package service

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/service/reload"
)

// TestAdmit checks which note of another reader lets a half read a partition, and what the half notes then.
func TestAdmit(t *testing.T) {
	at := func(minute int) time.Time { return time.UnixMilli(int64(minute) * 60_000) }
	started, reloaded := reload.Reader{Meaning: "mine"}, reload.Reader{Meaning: "mine", Since: at(20)}
	for _, of := range []struct {
		name  string
		half  *Half
		note  string
		notes string
		held  bool
	}{
		{"nobody has read it", &Half{opened: at(10), reads: started}, "", "mine", false},
		{"nobody has read it, and this half was reloaded", &Half{opened: at(20), reads: reloaded}, "", "mine@1200000", false},
		{"another start of the same", &Half{opened: at(10), reads: started}, "mine", "mine", false},
		{"a reload to the same", &Half{opened: at(10), reads: started}, "mine@1800000", "mine@1800000", false},
		{"an earlier reload to the same, before a restart", &Half{opened: at(10), reads: started}, "mine@60000", "mine@60000", false},
		{"a start with another", &Half{opened: at(10), reads: started}, "other", "mine", false},
		{"an earlier reload to another", &Half{opened: at(10), reads: started}, "other@60000", "mine", false},
		{"a later reload to another", &Half{opened: at(10), reads: started}, "other@1800000", "", true},
		{"a later reload to another than the reloaded one", &Half{opened: at(20), reads: reloaded}, "other@1800000", "", true},
		{"an earlier reload to another than the reloaded one", &Half{opened: at(20), reads: reloaded}, "other@600000", "mine@1200000", false},
		{"a program that is not brine", &Half{opened: at(10), reads: started}, "x@y", "mine", false},
	} {
		t.Run(of.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var why []event.Reason
				s := &Service{log: slog.New(slog.NewTextHandler(&testenv.Text{}, nil))}
				notes, err := s.admit(of.half)(ctx, ingest.Taken{Topic: "t", Partition: 1, Offset: 7, Reader: of.note,
					Held: func(reason event.Reason, _ error) { why = append(why, reason) }})
				switch {
				case of.held && (err == nil || len(why) != 1 || why[0] != ingest.OtherConfiguration):
					t.Errorf("admitted with %q, or held without a reason: %v, %v", notes, why, err)
				case !of.held && (err != nil || notes != of.notes || len(why) > 0):
					t.Errorf("noted as %q, %v, held for %v; want %q", notes, err, why, of.notes)
				}
			})
		})
	}
}
