package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"brine/bench/measure"
)

// poll is how often brine is asked for its watermarks.
const poll = 25 * time.Millisecond

// runBrine runs a binary of brine until all events are settled.
func (b *bench) runBrine(ctx context.Context, binary string, x example, group string) (measure.Load, error) {
	l := measure.Load{Columns: x.columns, Rows: b.events}
	cmd := b.commandOf(ctx, binary, x.file, group, "run", "--until-end", "--quiet")
	cmd.Env = append(cmd.Env, x.env...)
	address, ended, err := measure.StartBrine(cmd)
	if err != nil {
		return l, err
	}
	watchErr := b.watch(cmd, "http://"+address, &l)
	if err := errors.Join(watchErr, ended()); err != nil {
		return l, fmt.Errorf("brine run: %w", err)
	}
	l.WholeCPU = measure.SpentCPU(cmd.ProcessState)
	l.ClientCPU = l.WholeCPU
	return l, nil
}

// watch measures from the last moment at which nothing was settled to the first at which everything was, or to brine's end if it ended
// before that was observed.
func (b *bench) watch(cmd *exec.Cmd, url string, l *measure.Load) error {
	client := &http.Client{Timeout: 5 * time.Second}
	pid := strconv.Itoa(cmd.Process.Pid)
	began := time.Now()
	before, err := measure.CPU(b.Server)
	if err != nil {
		return err
	}
	for {
		at := time.Now()
		n, _, err := measure.Settled(client, url, "")
		if err != nil { // it has closed its port
			break
		}
		if peak, err := measure.PeakMiB(pid); err == nil { // it may just have ended
			l.PeakMiB = peak
		}
		if own, err := measure.OwnMiB(pid); err == nil {
			l.OwnMiB = max(l.OwnMiB, own)
		}
		if n == 0 {
			began = at
			if before, err = measure.CPU(b.Server); err != nil {
				return err
			}
		}
		if n >= b.events {
			break
		}
		time.Sleep(poll)
	}
	l.Seconds = time.Since(began).Seconds()
	after, err := measure.CPU(b.Server)
	l.ServerCPU = after - before
	return err
}
