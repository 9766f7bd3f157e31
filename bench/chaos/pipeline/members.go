package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
)

const (
	again       = time.Second // until a process that has ended is started anew, as systemd would
	unreachable = 3           // brine's exit code when a server cannot be reached at its start
)

// members are brine's processes, each kept running by a goroutine of its own.
type members struct {
	command func() *exec.Cmd
	logs    string         // folder
	kept    sync.WaitGroup // those goroutines

	mu      sync.Mutex
	all     []*member
	odd     []string // ends that nobody asked for
	starts  int
	away    int     // starts that found no server
	peakMiB float64 // of any
}

// member is one of them, in all its lives.
type member struct {
	name string
	of   *members
	left chan struct{} // closed when it is not kept running any more

	mu      sync.Mutex
	cmd     *exec.Cmd      // nil: it does not run now
	ended   chan struct{}  // closed when cmd has
	asked   syscall.Signal // to end, by us
	leaving bool
}

// start adds a process.
func (ms *members) start(name string) *member {
	m := &member{name: name, of: ms, left: make(chan struct{})}
	ms.mu.Lock()
	ms.all = append(ms.all, m)
	ms.mu.Unlock()
	ms.kept.Go(m.keep)
	return m
}

func (ms *members) list() []*member {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return slices.Clone(ms.all)
}

func (ms *members) any(random *rand.Rand) *member {
	all := ms.list()
	return all[random.IntN(len(all))]
}

// leave stops a process for good.
func (ms *members) leave(ctx context.Context, m *member) (took time.Duration, err error) {
	ms.mu.Lock()
	ms.all = slices.DeleteFunc(ms.all, func(o *member) bool { return o == m })
	ms.mu.Unlock()
	m.mu.Lock()
	m.leaving = true
	m.mu.Unlock()
	if took, err = m.stop(ctx); err != nil {
		return took, err
	}
	<-m.left
	return took, nil
}

// end stops all of them for good, and tells how long the slowest took.
func (ms *members) end(ctx context.Context) (slowest time.Duration, err error) {
	for _, m := range ms.list() {
		took, failed := ms.leave(ctx, m)
		slowest, err = max(slowest, took), errors.Join(err, failed)
	}
	return slowest, err
}

// kill ends what still runs when the run fails.
func (ms *members) kill() {
	for _, m := range ms.list() {
		m.mu.Lock()
		m.leaving = true
		m.mu.Unlock()
		_ = m.signal(syscall.SIGKILL) // it may have ended
	}
	ms.kept.Wait()
}

// measure takes the memory of all that run.
func (ms *members) measure() {
	for _, m := range ms.list() {
		m.mu.Lock()
		if m.cmd != nil {
			if mib, err := measure.PeakMiB(strconv.Itoa(m.cmd.Process.Pid)); err == nil { // it may have ended just now
				ms.mu.Lock()
				ms.peakMiB = max(ms.peakMiB, mib)
				ms.mu.Unlock()
			}
		}
		m.mu.Unlock()
	}
}

// keep starts the process as often as it ends.
func (m *member) keep() {
	defer close(m.left)
	log, err := os.Create(filepath.Join(m.of.logs, m.name+".log"))
	if err != nil {
		m.of.strange(m.name, err)
		return
	}
	defer log.Close()
	for {
		cmd, ended, err := m.begin(log)
		if err != nil {
			m.of.strange(m.name, err)
		}
		if cmd == nil {
			return
		}
		err = cmd.Wait()
		m.mu.Lock()
		asked := m.asked
		m.cmd = nil
		m.mu.Unlock()
		m.of.note(m.name, cmd, asked, err)
		close(ended)
		time.Sleep(again)
	}
}

// begin starts the process, unless it is to leave.
func (m *member) begin(log *os.File) (*exec.Cmd, chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leaving {
		return nil, nil, nil
	}
	cmd := m.of.command()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	m.cmd, m.ended, m.asked = cmd, make(chan struct{}), 0
	return cmd, m.ended, nil
}

// note judges an end: a process ends by itself only when it finds no server at its start.
func (ms *members) note(name string, cmd *exec.Cmd, asked syscall.Signal, err error) {
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code := cmd.ProcessState.ExitCode()
	ms.mu.Lock()
	ms.starts++
	if code == unreachable {
		ms.away++
	}
	ms.mu.Unlock()
	switch {
	case code == unreachable, asked != 0 && (code == 0 || status.Signaled() && status.Signal() == asked):
	default:
		ms.strange(name, fmt.Errorf("asked by %q, it ended with %d: %w", asked, code, err))
	}
}

func (ms *members) strange(name string, err error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.odd = append(ms.odd, fmt.Sprintf("%s: %v", name, err))
	fmt.Println("ODD END", ms.odd[len(ms.odd)-1])
}

// signal sends the process a signal, as soon as it runs.
func (m *member) signal(s syscall.Signal) error {
	for range 50 {
		m.mu.Lock()
		if m.cmd != nil {
			defer m.mu.Unlock()
			if s == syscall.SIGKILL || s == syscall.SIGTERM {
				m.asked = s
			}
			return m.cmd.Process.Signal(s)
		}
		leaving := m.leaving
		m.mu.Unlock()
		if leaving {
			return nil
		}
		time.Sleep(fault.Poll)
	}
	return fmt.Errorf("%s does not run", m.name)
}

// stop asks the process to end, and waits.
func (m *member) stop(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	m.mu.Lock()
	cmd, ended := m.cmd, m.ended
	m.mu.Unlock()
	if cmd == nil {
		return 0, nil // it has ended, or was never begun
	}
	if err := m.signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("%s does not stop: %w", m.name, context.Cause(ctx))
	}
	return time.Since(began), err
}
