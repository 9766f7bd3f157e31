package measure

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Serve starts one of our programs that runs servers: it prints their addresses in one line, and ends with its standard input. stop ends
// it, and waits.
func Serve(cmd *exec.Cmd) (addresses []string, stop func(), err error) {
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = stdin.Close() // ends it
		_ = cmd.Wait()    // what it holds is not needed any more
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("%s did not name its addresses: %w", cmd.Path, err)
	}
	return strings.Fields(line), stop, nil
}
