package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// output searches a program's output for the addresses on which it listens.
type output struct {
	match *regexp.Regexp
	found chan []string

	mu   sync.Mutex
	text bytes.Buffer // until they are found
	done bool
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return len(b), nil
	}
	o.text.Write(b)
	if m := o.match.FindStringSubmatch(o.text.String()); m != nil {
		o.done = true
		o.found <- m[1:]
	}
	return len(b), nil
}

// start runs a program until ctx is done, and returns what its output matched. If the program ends earlier, the group fails.
func start(ctx context.Context, g *errgroup.Group, match string, env []string, program string, args ...string) ([]string, error) {
	out := &output{match: regexp.MustCompile(match), found: make(chan []string, 1)}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	name := filepath.Base(program) + " " + args[0]
	g.Go(func() error {
		err := cmd.Wait()
		return fmt.Errorf("%s ended: %w\n%s", name, err, out.said())
	})
	select {
	case groups := <-out.found:
		return groups, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (o *output) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// finish runs a program to its end.
func finish(ctx context.Context, env []string, program string, args ...string) error {
	_, err := said(ctx, env, program, args...)
	return err
}

// said runs a program to its end, and returns its output.
func said(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w\n%s%s", program, args, err, errs.String(), out)
	}
	return string(out), nil
}
