package admin

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"brine/internal/fault"
)

// TestWhatIsNoPort checks that an invalid port is a usage error, not a failure.
func TestWhatIsNoPort(t *testing.T) {
	_, err := Listen("127.0.0.1:99999", "--kafka-port", slog.New(slog.DiscardHandler))
	if is, ok := errors.AsType[*fault.Error](err); !ok || is.Kind != fault.Usage || !strings.HasPrefix(err.Error(), "--kafka-port: a port must be a number from 0 to 65535") {
		t.Error(err)
	}
}
