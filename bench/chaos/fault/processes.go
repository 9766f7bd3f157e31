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

// RegionServers are the cluster's region servers.
var RegionServers = []string{"regionserver1", "regionserver2"}

// Processes are the cluster's processes, by name.
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

// Kill ends processes as a power failure would, all at once.
func (p Processes) Kill(names ...string) error {
	for _, name := range names {
		if err := p.Signal(name, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return nil
}

// Up restarts processes that have ended. On a busy machine, a process may not be ready in time, or may end while it starts: Up then retries
// once.
func (p Processes) Up(ctx context.Context, names ...string) error {
	err := p.Cluster.Up(ctx, names...)
	if err != nil && ctx.Err() == nil {
		fmt.Println(err)
		err = p.Cluster.Up(ctx, names...)
	}
	return err
}

// KillFor kills a process and restarts it a while later.
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
	return err != nil || strings.Contains(string(stat), ") Z ") // even if nobody has waited for it
}

// Revive restarts processes that have ended by themselves, such as a region server that lost its ZooKeeper session on a busy machine. It
// restarts all of them at once, because a starting master waits for region servers.
func (p Processes) Revive(ctx context.Context, names ...string) {
	var gone []string
	for _, name := range names {
		pid, err := p.PID(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && ended(pid) { // the first after an interrupted start
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return
	}
	fmt.Printf("%s exited by itself\n", strings.Join(gone, ", "))
	if err := p.Up(ctx, gone...); err != nil {
		fmt.Println(err) // the cluster does not recover, which is reported
	}
}

// RegionServer returns a region server's host:port.
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

// Jars returns the folder of deploy/devcluster/lib whose jars a process runs, which identifies its release.
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

// Until polls so until it returns true or ctx is done.
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
