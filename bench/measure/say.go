package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// Said is what a loader prints as one line of JSON once all its rows are acknowledged. Before its first row it prints "begin".
type Said struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_s"`
	PeakMiB float64 `json:"peak_mib"`
	P99     float64 `json:"p99_ms,omitempty"` // of its calls, if each is timed
}

// Say is the loader's side: it prints "begin", runs load, and prints its time and cost in this process.
func Say(load func() error) error {
	return SayTimes(func() (Milliseconds, error) { return nil, load() })
}

// SayTimes is Say for a load that has timed its calls.
func SayTimes(load func() (Milliseconds, error)) error {
	fmt.Println("begin")
	start := time.Now()
	before, err := OwnCPU()
	if err != nil {
		return err
	}
	times, err := load()
	if err != nil {
		return err
	}
	said := Said{Seconds: time.Since(start).Seconds()}
	after, err1 := OwnCPU()
	peak, err2 := PeakMiB("self")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	said.CPU, said.PeakMiB = after-before, peak
	if len(times) > 0 {
		said.P99 = times.At(0.99)
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// Profile writes a CPU profile of this process to a file until stop is called. If the name is empty, it writes none.
func Profile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
