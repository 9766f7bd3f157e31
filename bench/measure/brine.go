package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// StartBrine starts brine and returns the address of its port; ended waits until it has ended.
func StartBrine(cmd *exec.Cmd) (address string, ended func() error, err error) {
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
		_ = cmd.Process.Kill() // Wait reports that it has ended
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

// adminAddress reads brine's output until it names its port.
func adminAddress(r *bufio.Reader) (string, error) {
	for {
		line, err := r.ReadString('\n')
		if m := admin.FindStringSubmatch(line); m != nil {
			return m[1], nil
		}
		fmt.Fprint(os.Stderr, line)
		if err != nil {
			return "", fmt.Errorf("it exited before it printed its port: %w", err)
		}
	}
}

// Publish starts brine publish with a file of more events than needed; a later one continues where the topic ends. stop ends it, and
// returns an error if it had already ended by itself, because then nothing was published for a while.
func Publish(cmd *exec.Cmd) (stop func() error, err error) {
	if err := cmd.Start(); err != nil {
		return func() error { return nil }, err
	}
	var failed error
	ended := make(chan struct{})
	go func() {
		failed = cmd.Wait()
		close(ended)
	}()
	return sync.OnceValue(func() error {
		select {
		case <-ended:
			return errors.Join(errors.New("brine publish ended before the measurement beside it: publish more events"), failed)
		default:
		}
		_ = cmd.Process.Kill() // it may be about to end
		<-ended
		return nil
	}), nil
}
