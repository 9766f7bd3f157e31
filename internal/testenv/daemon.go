package testenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// daemon is a server's process, owned by a test. The zero value runs nothing.
type daemon struct {
	process *exec.Cmd // nil: it does not run
	log     bytes.Buffer
	ended   chan error
}

// run starts the process and waits until it answers, or has ended.
func (d *daemon) run(t testing.TB, cmd *exec.Cmd, answers func() error) error {
	d.log.Reset()
	cmd.Stderr = &d.log
	if err := cmd.Start(); err != nil {
		return err
	}
	d.process, d.ended = cmd, make(chan error, 1)
	go func(ended chan<- error) { ended <- cmd.Wait() }(d.ended)
	for answers() != nil {
		select {
		case err := <-d.ended:
			d.process = nil
			return fmt.Errorf("it has ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			return t.Context().Err()
		}
	}
	return nil
}

// end sends the process a signal that ends it, and waits for that, if it runs.
func (d *daemon) end(by os.Signal) {
	if d.process == nil {
		return
	}
	if err := d.process.Process.Signal(by); err == nil {
		<-d.ended //nolint:errcheck // the signal ends it
	}
	d.process = nil
}
