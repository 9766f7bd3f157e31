package admin

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"brine/internal/fault"
	"brine/internal/sockets"
)

// Listen opens a port that goes on accepting after errors, which are logged; one that is in use is an error that names the setting.
func Listen(addr, setting string, log *slog.Logger) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, PortError(err, setting)
	}
	return sockets.Listener(l, func(err error) { log.Warn(setting, "error", err) }), nil
}

// PortError distinguishes a port in use from other errors of opening one; setting is where it was chosen.
func PortError(err error, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(fault.Port, fmt.Errorf("%s: the port is in use by another process: %w", setting, err),
			"choose another port, or 0 for a free one")
	}
	return fmt.Errorf("%s: %w", setting, err)
}
