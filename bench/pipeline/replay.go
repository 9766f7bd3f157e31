package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"brine/bench/measure"
)

// runReplay replays the whole topic under its own name. As with brine run, the time counts from the moment at which it begins to read; the
// CPU is that of the whole process, including its start.
func (b *bench) runReplay(ctx context.Context, x example, name string) (measure.Load, error) {
	l := measure.Load{Columns: x.columns}
	cmd := b.command(ctx, x.file, "", "replay", "--from", "earliest", "--name", name, "--json", "--quiet")
	before, err := measure.CPU(b.Server)
	if err != nil {
		return l, err
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return l, fmt.Errorf("brine replay: %w", err)
	}
	if l.PeakMiB, err = peakOf(cmd); err != nil {
		return l, fmt.Errorf("brine replay: %w", err)
	}
	after, err := measure.CPU(b.Server)
	if err != nil {
		return l, err
	}
	var result struct {
		Replayed int     `json:"replayed"`
		Seconds  float64 `json:"seconds"`
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &result); err != nil {
		return l, fmt.Errorf("brine replay says %q: %w", lines[len(lines)-1], err)
	}
	if result.Replayed != b.events {
		return l, fmt.Errorf("%d of %d events were replayed", result.Replayed, b.events)
	}
	l.Rows, l.Seconds, l.ServerCPU = result.Replayed, result.Seconds, after-before
	l.WholeCPU = measure.SpentCPU(cmd.ProcessState)
	l.ClientCPU = l.WholeCPU
	return l, nil
}

// peakOf samples a process's memory until it has ended.
func peakOf(cmd *exec.Cmd) (peak float64, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if now, err := measure.PeakMiB(strconv.Itoa(cmd.Process.Pid)); err == nil { // it may just have ended
			peak = now
		}
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(poll):
		}
	}
}
