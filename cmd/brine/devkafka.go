package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"

	brokers "brine/ingest/embedded"
	"brine/internal/datadir"
)

// startKafka runs a broker in this process. It keeps records and group offsets in a folder across restarts.
func startKafka(port int, dir string) (*brokers.Broker, error) {
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(port),
		kfake.DefaultNumPartitions(devPartitions),
		brokers.ListenFn(func(network, addr string) (net.Listener, error) {
			_, p, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			return listen(net.JoinHostPort("127.0.0.1", p), "--kafka-port")
		}),
	}
	broker, err := brokers.StartIn(dir, func(err error) { slog.Warn("the embedded Kafka", "error", err) }, opts...)
	if errors.Is(err, brokers.ErrDamaged) {
		return nil, damaged("embedded Kafka", err)
	}
	if err != nil {
		var exit *exitError
		if errors.As(err, &exit) {
			return nil, err
		}
		return nil, fmt.Errorf("embedded Kafka on port %s: %w", strconv.Itoa(port), err)
	}
	return broker, nil
}

// dataFormat is the form of what a data folder of brine dev holds: which servers, under which names, what each of them keeps
// beside a form of its own.
const dataFormat = 1

// devLayout is what is in a data folder of brine dev.
var devLayout = datadir.Layout{"FORMAT", "kafka", "hbase", "search", "damaged-*"}

// lockData takes a data folder for this process. The lock goes with the process, however it ends.
func lockData(dir string) (unlock func(), err error) {
	if err := devLayout.Make(dir); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	lock, err := datadir.Lock(dir)
	if errors.Is(err, datadir.ErrInUse) {
		return nil, &exitError{exitData, fmt.Errorf("--data: %s is in use by another brine", dir), "stop it, or choose another folder"}
	}
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if err := checkFormat(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// checkFormat refuses a folder that a newer brine wrote, and marks one that has no mark yet.
func checkFormat(dir string) error {
	name := filepath.Join(dir, "FORMAT")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(strconv.Itoa(dataFormat) + "\n")
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return damaged("--data", datadir.Damaged(name, "it holds no number"))
	case format > dataFormat:
		return &exitError{exitData, fmt.Errorf("--data: %s was written by a newer brine: format %d, this one knows %d", dir, format, dataFormat),
			"use the brine that wrote it, or a newer one, or choose another folder"}
	}
	return nil
}
