package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"brine/bench/chaos/fault"
)

const again = time.Second // until an ended process is restarted, as systemd would

// member is one process, in all its lives.
type member struct {
	name string
	of   *members
	left chan struct{} // closed when it is no longer kept running

	mu      sync.Mutex
	cmd     *exec.Cmd      // nil: it is not running now
	ended   chan struct{}  // closed when cmd has
	asked   syscall.Signal // sent by us to end it
	leaving bool
}

// keep restarts the process whenever it ends.
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
		_ = cmd.Wait() // its state has the result
		m.mu.Lock()
		asked := m.asked
		m.cmd = nil
		m.mu.Unlock()
		m.of.note(m.name, cmd.ProcessState, asked)
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

// signal sends the process a signal as soon as it runs.
func (m *member) signal(s syscall.Signal) error {
	for range 50 {
		m.mu.Lock()
		sent, err := m.send(s)
		leaving := m.leaving
		m.mu.Unlock()
		if sent {
			return err
		}
		if leaving {
			return nil
		}
		time.Sleep(fault.Poll)
	}
	return fmt.Errorf("%s is not running", m.name)
}

// send signals the process if it is running. The caller holds m.mu.
func (m *member) send(s syscall.Signal) (sent bool, err error) {
	if m.cmd == nil {
		return false, nil
	}
	err = m.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) { // ended just now, by itself
		return false, nil
	}
	if err == nil && (s == syscall.SIGKILL || s == syscall.SIGTERM) {
		m.asked = s
	}
	return true, err
}

// stop asks the process to end, and waits. If it takes too long, it is killed, and counts as an odd end.
func (m *member) stop(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	m.mu.Lock()
	cmd, ended := m.cmd, m.ended
	m.mu.Unlock()
	if cmd == nil {
		return 0, nil // it has ended, or never began
	}
	if err := m.signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	waiting, cancel := context.WithTimeout(ctx, m.of.ending)
	defer cancel()
	select {
	case <-ended:
		return time.Since(began), nil
	case <-waiting.Done():
	}
	err = fmt.Errorf("it did not stop: %w", context.Cause(waiting))
	m.of.strange(m.name, err)
	err = errors.Join(err, m.signal(syscall.SIGKILL))
	<-ended
	return time.Since(began), err
}
