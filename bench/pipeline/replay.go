package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"brine/bench/measure"
)

// runReplay replays the whole topic under a name of its own. Time counts from the moment at which it begins to read, as with brine run; the
// process's CPU, its start included, is all there is.
func (b *bench) runReplay(ctx context.Context, x example, name string) (measure.Load, error) {
	l := measure.Load{Columns: x.columns}
	cmd := b.command(ctx, x.file, "", "replay", "--from", "earliest", "--name", name, "--json", "--quiet")
	before, err := measure.CPU(b.Server)
	if err != nil {
		return l, err
	}
	out, err := cmd.Output()
	if err != nil {
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
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
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
