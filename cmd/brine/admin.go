package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"brine/config"
	"brine/internal/sockets"
	"brine/service/admin"
)

// openAdmin opens the admin port of a configuration, at addr.
func openAdmin(
	addr string, cfg *config.HTTP, metrics *prometheus.Registry, healthy, ready admin.Health, log *slog.Logger,
) (*admin.Port, error) {
	l, err := listen(addr, "http.listen (brine dev: --http-port)")
	if err != nil {
		return nil, err
	}
	return admin.New(l, addr, admin.Options{
		Metrics: metrics, Healthy: healthy, Ready: ready, Hosts: cfg.Hosts, Token: cfg.Token, Pprof: cfg.Pprof, Log: log,
	}), nil
}

// listen opens a port that goes on accepting after errors; one that is in use is an error that names the setting.
func listen(addr, setting string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, portError(err, setting)
	}
	return sockets.Listener(l, func(err error) { slog.Warn(setting, "error", err) }), nil
}

// portError tells a port in use from other errors.
func portError(err error, setting string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return &exitError{exitPort, fmt.Errorf("%s: the port is in use by another process: %w", setting, err), "choose another port, or 0 for a free one"}
	}
	return fmt.Errorf("%s: %w", setting, err)
}
