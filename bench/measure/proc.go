package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is USER_HZ, which is 100 on every Linux architecture on which Go runs.
const ticks = 100

// CPU returns a process's user and system time so far, in seconds, from /proc/PID/stat.
func CPU(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain spaces; from here on, the third field is first
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields))
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("/proc/%d/stat: %q and %q are not times", pid, fields[11], fields[12])
	}
	return (user + system) / ticks, nil
}

// PeakMiB returns the largest resident memory of a process so far: VmHWM. (ru_maxrss would count the parent's before the exec.)
func PeakMiB(pid string) (float64, error) { return status(pid, "VmHWM:") }

// ResidentMiB returns the present resident memory of a process: VmRSS.
func ResidentMiB(pid string) (float64, error) { return status(pid, "VmRSS:") }

// OwnMiB returns the present memory of a process without the pages of files, such as its executable: RssAnon.
func OwnMiB(pid string) (float64, error) { return status(pid, "RssAnon:") }

// status returns, in MiB, a size that /proc/PID/status has in kB.
func status(pid, field string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), field)
	if !ok {
		return 0, fmt.Errorf("/proc/%s/status has no %s", pid, strings.TrimSuffix(field, ":"))
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err
}

// OwnCPU returns this process's user and system time so far, in seconds.
func OwnCPU() (float64, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return (time.Duration(u.Utime.Nano()) + time.Duration(u.Stime.Nano())).Seconds(), nil
}

// SpentCPU returns an ended process's user and system time in seconds.
func SpentCPU(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }
