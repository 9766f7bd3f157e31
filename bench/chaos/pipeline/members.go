package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"brine/bench/measure"
)

const unreachable = 3 // brine's exit code if a server is unreachable at its start

// members are brine's processes, each kept running by its own goroutine.
type members struct {
	command func() *exec.Cmd
	logs    string         // folder
	ending  time.Duration  // how long a process may take to end when asked to
	kept    sync.WaitGroup // those goroutines

	mu      sync.Mutex
	all     []*member
	odd     []string // ends that nobody asked for
	starts  int
	away    int     // starts that found no server
	peakMiB float64 // largest of any process
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

// leave stops a process permanently.
func (ms *members) leave(ctx context.Context, m *member) (took time.Duration, err error) {
	ms.mu.Lock()
	ms.all = slices.DeleteFunc(ms.all, func(o *member) bool { return o == m })
	ms.mu.Unlock()
	m.mu.Lock()
	m.leaving = true
	m.mu.Unlock()
	took, err = m.stop(ctx)
	<-m.left
	return took, err
}

// end stops all processes permanently, and returns how long the slowest took. Those that do not stop count as odd ends.
func (ms *members) end(ctx context.Context) (slowest time.Duration) {
	for _, m := range ms.list() {
		took, _ := ms.leave(ctx, m)
		slowest = max(slowest, took)
	}
	return slowest
}

// kill ends what is still running when the run fails.
func (ms *members) kill() {
	for _, m := range ms.list() {
		m.mu.Lock()
		m.leaving = true
		m.mu.Unlock()
		_ = m.signal(syscall.SIGKILL) // it may have ended
	}
	ms.kept.Wait()
}

// measure records the memory of all running processes.
func (ms *members) measure() {
	for _, m := range ms.list() {
		m.mu.Lock()
		if m.cmd != nil {
			if mib, err := measure.PeakMiB(strconv.Itoa(m.cmd.Process.Pid)); err == nil { // it may just have ended
				ms.mu.Lock()
				ms.peakMiB = max(ms.peakMiB, mib)
				ms.mu.Unlock()
			}
		}
		m.mu.Unlock()
	}
}

// note judges an end: a process may end by itself only if it finds no server at its start.
func (ms *members) note(name string, end *os.ProcessState, asked syscall.Signal) {
	status, _ := end.Sys().(syscall.WaitStatus)
	code := end.ExitCode()
	ms.mu.Lock()
	ms.starts++
	if code == unreachable {
		ms.away++
	}
	ms.mu.Unlock()
	switch {
	case code == unreachable, asked != 0 && (code == 0 || status.Signaled() && status.Signal() == asked):
	default:
		ms.strange(name, fmt.Errorf("asked by %q, it ended: %v", asked, end))
	}
}

func (ms *members) strange(name string, err error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.odd = append(ms.odd, fmt.Sprintf("%s: %v", name, err))
	fmt.Println("ODD END", ms.odd[len(ms.odd)-1])
}
