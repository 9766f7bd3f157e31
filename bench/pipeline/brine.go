package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"brine/bench/measure"
)

// poll is how often brine is asked for its watermarks.
const poll = 25 * time.Millisecond

// runBrine runs brine until all events are settled.
func (b *bench) runBrine(ctx context.Context, x example, group string) (measure.Load, error) {
	l := measure.Load{Columns: x.columns, Rows: b.events}
	cmd := b.command(ctx, x.file, group, "run", "--until-end", "--quiet")
	address, ended, err := start(cmd)
	if err != nil {
		return l, err
	}
	watchErr := b.watch(cmd, "http://"+address+"/healthz", &l)
	if err := errors.Join(watchErr, ended()); err != nil {
		return l, fmt.Errorf("brine run: %w", err)
	}
	l.WholeCPU = measure.SpentCPU(cmd.ProcessState)
	l.ClientCPU = l.WholeCPU
	return l, nil
}

// start starts brine and gives the address of its port; ended waits until it has ended.
func start(cmd *exec.Cmd) (address string, ended func() error, err error) {
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewReader(stderr)
	if address, err = adminAddress(lines); err != nil {
		_ = cmd.Process.Kill() // Wait tells that it has ended
		return "", nil, errors.Join(err, cmd.Wait())
	}
	copied := make(chan error, 1) // the goroutine ends with the process
	go func() {
		_, err := io.Copy(os.Stderr, lines)
		copied <- err
	}()
	return address, func() error { return errors.Join(<-copied, cmd.Wait()) }, nil
}

var admin = regexp.MustCompile(`on http://([^ ]+) `)

// adminAddress reads what brine says until it names its port.
func adminAddress(r *bufio.Reader) (string, error) {
	for {
		line, err := r.ReadString('\n')
		if m := admin.FindStringSubmatch(line); m != nil {
			return m[1], nil
		}
		fmt.Fprint(os.Stderr, line)
		if err != nil {
			return "", fmt.Errorf("it ended before it named its port: %w", err)
		}
	}
}

// watch measures from the last moment at which nothing was settled to the first at which everything was, or, if brine ended before that was
// seen, to its end.
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
		n, err := settled(client, url)
		if err != nil { // it has closed its port
			break
		}
		if peak, err := measure.PeakMiB(pid); err == nil { // it may have ended just now
			l.PeakMiB = peak
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

// settled is how many events lie below the watermarks.
func settled(client *http.Client, url string) (n int, err error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var health struct {
		Halves map[string]struct {
			Partitions []struct {
				Watermark int `json:"watermark"`
			} `json:"partitions"`
		} `json:"partitions"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		return 0, err
	}
	for _, half := range health.Halves {
		for _, p := range half.Partitions {
			n += max(0, p.Watermark) // −1 while its start is unknown
		}
	}
	return n, nil
}
