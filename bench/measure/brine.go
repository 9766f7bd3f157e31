package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
)

// StartBrine starts brine and gives the address of its port; ended waits until it has ended.
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
