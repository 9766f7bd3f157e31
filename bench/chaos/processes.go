package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
)

// The cluster's processes, as deploy/devcluster names them.
const (
	zookeeper = "zookeeper"
	master    = "master"
)

var regionServers = []string{"regionserver1", "regionserver2"}

// processes are the cluster's, by name.
type processes struct{ *measure.Cluster }

// signal sends a process a signal.
func (p processes) signal(name string, s syscall.Signal) error {
	pid, err := p.PID(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("%s, process %d: %w", name, pid, err)
	}
	return nil
}

// kill ends processes as a power cut would, all at one moment.
func (p processes) kill(names ...string) error {
	for _, name := range names {
		if err := p.signal(name, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return nil
}

// gone waits until a process has ended by itself.
func (p processes) gone(ctx context.Context, name string) error {
	pid, err := p.PID(name)
	if err != nil {
		return err
	}
	return until(ctx, func() bool { return ended(pid) })
}

func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ") // though nobody has asked how
}

// revive starts a region server that has ended by itself, as one does that a busy machine has cost its session with ZooKeeper.
func (p processes) revive(ctx context.Context, name string) {
	if pid, err := p.PID(name); err == nil && ended(pid) {
		fmt.Printf("%s has ended by itself\n", name)
		if err := p.Up(ctx, name); err != nil {
			fmt.Println(err) // the cluster does not recover, which is told
		}
	}
}

// address is a region server's host:port.
func (p processes) address(name string) (string, error) {
	port, err := os.ReadFile(p.Path("run/" + name + "/ports"))
	if err != nil {
		return "", err
	}
	if _, err := strconv.Atoi(strings.TrimSpace(string(port))); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return "localhost:" + strings.TrimSpace(string(port)), nil
}

// until asks again and again, until it is so or ctx ends.
func until(ctx context.Context, so func() bool) error {
	for !so() {
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, or gives ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
