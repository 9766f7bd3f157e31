package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
)

// The cluster's processes, as deploy/devcluster names them.
const (
	ZooKeeper = "zookeeper"
	Master    = "master"
	Broker    = "kafka"
)

// RegionServers are the cluster's too.
var RegionServers = []string{"regionserver1", "regionserver2"}

// Processes are the cluster's, by name.
type Processes struct{ *measure.Cluster }

// Signal sends a process a signal.
func (p Processes) Signal(name string, s syscall.Signal) error {
	pid, err := p.PID(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("%s, process %d: %w", name, pid, err)
	}
	return nil
}

// Kill ends processes as a power cut would, all at one moment.
func (p Processes) Kill(names ...string) error {
	for _, name := range names {
		if err := p.Signal(name, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return nil
}

// Up starts processes again that have ended. On a busy machine one may not be ready in time, or end while it starts: it then tries once
// more.
func (p Processes) Up(ctx context.Context, names ...string) error {
	err := p.Cluster.Up(ctx, names...)
	if err != nil && ctx.Err() == nil {
		fmt.Println(err)
		err = p.Cluster.Up(ctx, names...)
	}
	return err
}

// KillFor ends a process and starts it again a while later.
func (p Processes) KillFor(ctx context.Context, name string, d time.Duration) error {
	if err := p.Kill(name); err != nil {
		return err
	}
	if err := Pause(ctx, d); err != nil {
		return err
	}
	return p.Up(ctx, name)
}

// FreezeFor freezes a process for a while.
func (p Processes) FreezeFor(ctx context.Context, name string, d time.Duration) error {
	if err := p.Signal(name, syscall.SIGSTOP); err != nil {
		return err
	}
	return errors.Join(Pause(ctx, d), p.Signal(name, syscall.SIGCONT))
}

// Gone waits until a process has ended by itself.
func (p Processes) Gone(ctx context.Context, name string) error {
	pid, err := p.PID(name)
	if err != nil {
		return err
	}
	return Until(ctx, func() bool { return ended(pid) })
}

func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ") // though nobody has asked how
}

// Revive starts processes again that have ended by themselves, as a region server does that a busy machine has cost its session with
// ZooKeeper: all at once, since a master that starts waits for region servers.
func (p Processes) Revive(ctx context.Context, names ...string) {
	var gone []string
	for _, name := range names {
		pid, err := p.PID(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && ended(pid) { // the first after a start that was cut short
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return
	}
	fmt.Printf("%s ended by itself\n", strings.Join(gone, ", "))
	if err := p.Up(ctx, gone...); err != nil {
		fmt.Println(err) // the cluster does not recover, which is reported
	}
}

// RegionServer is a region server's host:port.
func (p Processes) RegionServer(name string) (string, error) {
	port, err := os.ReadFile(p.Path("run/" + name + "/ports"))
	if err != nil {
		return "", err
	}
	if _, err := strconv.Atoi(strings.TrimSpace(string(port))); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return "localhost:" + strings.TrimSpace(string(port)), nil
}

// Jars is the folder of deploy/devcluster/lib on whose jars a process runs: it says of which release the process is.
func (p Processes) Jars(name string) (string, error) {
	pid, err := p.PID(name)
	if err != nil {
		return "", err
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", err
	}
	_, path, ok := strings.Cut(string(args), "/lib/")
	folder, _, slash := strings.Cut(path, "/*")
	if !ok || !slash {
		return "", fmt.Errorf("%s, process %d: no jars in its command line", name, pid)
	}
	return folder, nil
}

// Until asks again and again, until it is so or ctx ends.
func Until(ctx context.Context, so func() bool) error {
	for !so() {
		if err := Pause(ctx, Poll); err != nil {
			return err
		}
	}
	return nil
}

// Pause waits, or returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
