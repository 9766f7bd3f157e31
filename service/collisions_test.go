package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"brine/mask"
	"brine/sink"
)

// TestCollisionsOfMaskedKeysAreNotNamed checks that the warning about two events of one key names the row only if its key is not masked.
func TestCollisionsOfMaskedKeysAreNotNamed(t *testing.T) {
	masks := &mask.Rules{}
	masks.Key("customers", "phone")
	for table, shown := range map[string]bool{"customers": false, "orders": true} {
		var out bytes.Buffer
		s := &Service{log: slog.New(slog.NewTextHandler(&out, nil))}
		hooks := s.warnOnce("p", masks, sink.Hooks{Collision: func(sink.CollisionInfo) {}})
		for range 2 {
			hooks.Collision(sink.CollisionInfo{Table: table, Row: []byte("13800138000")})
		}
		if got := out.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "13800138000") != shown || strings.Contains(got, "row=***") == shown {
			t.Errorf("%s: %s", table, got)
		}
	}
}
