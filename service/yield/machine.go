package yield

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

// Machine measures how busy the machine is: from Linux's counters of all processors, and from the process's use of those available to it.
// It is not safe for concurrent use.
type Machine struct {
	stat      string  // default /proc/stat
	idle, all float64 // in ticks
	used      float64 // by the process, in seconds
	at        time.Time
}

// NewMachine returns a Machine. Its first measurement starts now.
func NewMachine() *Machine {
	m := &Machine{stat: "/proc/stat"}
	m.Busy()
	return m
}

// Busy returns the share of the machine, or of what the process may use of it, that was in use since the last call. It returns 1 if that is
// unknown, so that the halves that come first keep what they have.
func (m *Machine) Busy() float64 {
	return max(m.ofAll(), m.ofProcess())
}

func (m *Machine) ofAll() float64 {
	text, err := os.ReadFile(m.stat)
	if err != nil {
		return 1
	}
	idle, all, ok := times(text)
	if !ok {
		return 1 // the next call compares with the last successful read
	}
	wasIdle, wasAll := m.idle, m.all
	m.idle, m.all = idle, all
	if all <= wasAll {
		return 1
	}
	return 1 - min(1, max(0, idle-wasIdle)/(all-wasAll))
}

// times returns the idle and all ticks of the first line of /proc/stat: user nice system idle iowait irq softirq steal. The guest fields
// are left out because user includes them.
func times(stat []byte) (idle, all float64, ok bool) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, 0, false
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseFloat(string(f), 64)
		if err != nil {
			return 0, 0, false
		}
		all += n
		if i == 3 || i == 4 {
			idle += n
		}
	}
	return idle, all, true
}

// ofProcess returns the share of the processors that Go may use, which may be fewer in a container than in the machine.
func (m *Machine) ofProcess() float64 {
	now, used := time.Now(), processTime()
	was, span := m.used, now.Sub(m.at).Seconds()
	m.used, m.at = used, now
	if span <= 0 {
		return 0
	}
	return min(1, (used-was)/span/float64(runtime.GOMAXPROCS(0)))
}
