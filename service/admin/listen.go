package admin

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"

	"brine/internal/certs"
	"brine/internal/fault"
	"brine/internal/sockets"
)

// unixPrefix begins the address of a Unix socket: unix:/run/brine/admin.sock.
const unixPrefix = "unix:"

// Listen opens a listener that keeps accepting after errors, which it logs. If the port is in use, the error names the setting. An addr
// with the prefix unix: is the path of a socket, to which only the process's user may connect.
func Listen(addr, setting string, log *slog.Logger) (net.Listener, error) {
	l, err := listen(addr)
	if err != nil {
		return nil, PortError(err, setting)
	}
	return sockets.Listener(l, func(err error) { log.Warn(setting, "error", err) }), nil
}

func listen(addr string) (net.Listener, error) {
	path, local := strings.CutPrefix(addr, unixPrefix)
	if !local {
		return net.Listen("tcp", addr)
	}
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err = os.Remove(path); err == nil {
			l, err = net.Listen("unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// abandoned reports whether path is a socket left behind by a process that ended without closing it.
func abandoned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		_ = c.Close() // a process is listening
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// ListenTLS is Listen for a port that may be encrypted, with the files that section names, such as http.tls.
func ListenTLS(addr, setting, section string, how certs.Port, log *slog.Logger) (net.Listener, error) {
	plain, err := Listen(addr, setting, log)
	if err != nil {
		return nil, err
	}
	l, err := how.Listen(plain, func(err error) {
		if err != nil {
			log.Warn(section+": its files have changed but cannot be used", "error", err)
			return
		}
		log.Info(section + ": its files have changed, and new connections use them")
	})
	if err != nil {
		_ = plain.Close() // nothing was accepted
		return nil, fault.Misused(fmt.Errorf("%s: %w", section, err))
	}
	return l, nil
}

// InvalidPort reports whether an address was refused because of an invalid port.
func InvalidPort(err error) bool {
	address, is := errors.AsType[*net.AddrError](err)
	return is && address.Err == "invalid port"
}

// PortError returns the error of opening a port with its fault kind, if the port is in use or invalid. setting names the setting that the
// port comes from.
func PortError(err error, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(fault.Port, fmt.Errorf("%s: the port is in use by another process: %w", setting, err),
			"choose another port, or 0 for a free one")
	}
	if InvalidPort(err) {
		return fault.Misused(fmt.Errorf("%s: a port must be a number from 0 to 65535: %w", setting, err))
	}
	return fmt.Errorf("%s: %w", setting, err)
}
