package yield

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

// Machine says how busy the machine is: by what Linux says of all its processors, and by what the process takes of those that it may use.
// It belongs to one goroutine.
type Machine struct {
	stat      string  // default /proc/stat
	idle, all float64 // in ticks
	used      float64 // by the process, in seconds
	at        time.Time
}

// NewMachine makes one. What it says first is of the time until then.
func NewMachine() *Machine {
	m := &Machine{stat: "/proc/stat"}
	m.Busy()
	return m
}

// Busy is the share of the machine, or of what the process may use of it, that was in use since the look before; 1 where that is not known,
// so that who comes first keeps what it has.
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
		return 1 // and the next look is compared with the last that could be read
	}
	wasIdle, wasAll := m.idle, m.all
	m.idle, m.all = idle, all
	if all <= wasAll {
		return 1
	}
	return 1 - min(1, max(0, idle-wasIdle)/(all-wasAll))
}

// times are the idle and all ticks of the first line of /proc/stat: user nice system idle iowait irq softirq steal. What virtual machines
// take is in user already.
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

// ofProcess is of the processors that Go may use, which a container may have fewer of than the machine has.
func (m *Machine) ofProcess() float64 {
	now, used := time.Now(), processTime()
	was, span := m.used, now.Sub(m.at).Seconds()
	m.used, m.at = used, now
	if span <= 0 {
		return 0
	}
	return min(1, (used-was)/span/float64(runtime.GOMAXPROCS(0)))
}
