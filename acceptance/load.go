package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"brine/bench/measure"
)

// load creates tables and indexes, publishes the input, and runs brine until everything is settled.
func (s *shop) load(ctx context.Context, scale string) error {
	if err := s.command(ctx, "tables", "apply").Run(); err != nil {
		return fmt.Errorf("brine tables apply: %w", err)
	}
	begin := time.Now()
	if err := s.publishOrders(ctx, scale); err != nil {
		return err
	}
	if err := s.command(ctx, "publish", "--topic", "centre.scans", "--key", "waybill", scansFile).Run(); err != nil {
		return fmt.Errorf("brine publish: %w", err)
	}
	published := since(begin)
	begin = time.Now()
	run := s.command(ctx, "run", "--until-end", "--quiet")
	if err := run.Run(); err != nil {
		return fmt.Errorf("brine run: %w", err)
	}
	s.out.loaded(published, since(begin), measure.SpentCPU(run.ProcessState), s.in.changes)
	return nil
}

// command returns brine with the shop's configuration on these servers.
func (s *shop) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.brine, append(args, "-c", configuration)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.set.Environ(), os.Stdout, os.Stderr
	return cmd
}

// publishOrders publishes the file as it is, or its copies through a pipe that brine reads as a file, because they would be many gigabytes.
func (s *shop) publishOrders(ctx context.Context, scale string) error {
	publish := func(file string) *exec.Cmd {
		return s.command(ctx, "publish", "--topic", "centre.orders", "--key", "order", "--name", "shop-"+scale, file)
	}
	if s.in.total == baseOrders {
		return publish(ordersFile).Run()
	}
	pipe := s.Path("orders.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		return err
	}
	cmd := publish(pipe)
	if err := cmd.Start(); err != nil {
		return err
	}
	written := make(chan error, 1) // the goroutine ends once brine has read everything or closed the pipe
	go func() { written <- s.writeTo(pipe) }()
	err := cmd.Wait()
	if err != nil { // it may not have opened the pipe
		if f, openErr := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); openErr == nil {
			_ = f.Close() // only to wake the writer
		}
	}
	return errors.Join(err, <-written)
}

func (s *shop) writeTo(pipe string) error {
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(s.in.write(w), w.Flush(), f.Close())
}
