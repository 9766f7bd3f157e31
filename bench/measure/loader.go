package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Shape is the rows of a load. Keys begin with two hex digits that spread evenly; the columns share the value bytes.
type Shape struct {
	Table      string
	Rows       int
	Columns    int
	KeyBytes   int
	ValueBytes int
}

// BuildJava compiles the loader that writes with HBase's own BufferedMutator.
func (c *Cluster) BuildJava(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "javac", "-cp", "deploy/devcluster/lib/hbase/*", "-d", c.Path("java"), "bench/java/BufferedLoad.java")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("javac bench/java/BufferedLoad.java: %w", err)
	}
	return nil
}

// Java is the command of that loader, with as many threads and mutators, of buffer bytes each. The JVM's flags are those that
// devcluster's servers have, its heap and collector the JVM's defaults.
func (c *Cluster) Java(ctx context.Context, connect string, s Shape, threads, buffer int) *exec.Cmd {
	const script = `source deploy/devcluster/hbase/server.sh
exec java "${hbase_java[@]}" -Dlog4j.configuration=file:deploy/devcluster/hbase/client-log4j.properties \
  -cp "$0:deploy/devcluster/lib/hbase/*" BufferedLoad "$@"`
	args := []string{"-c", script, c.Path("java"), connect, s.Table}
	for _, n := range []int{s.Rows, s.Columns, s.KeyBytes, s.ValueBytes, threads, buffer} {
		args = append(args, strconv.Itoa(n))
	}
	return exec.CommandContext(ctx, "bash", args...)
}

// Run runs a loader and measures HBase, whose process is server, beside it.
func Run(cmd *exec.Cmd, client string, s Shape, server int) (Load, error) {
	l := Load{Client: client, Columns: s.Columns, Rows: s.Rows}
	fail := func(err error) (Load, error) { return l, fmt.Errorf("%s: %w", client, err) }
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	said, serverCPU, readErr := listen(bufio.NewScanner(out), server)
	if err := cmd.Wait(); err != nil {
		return fail(err)
	}
	if readErr != nil {
		return fail(readErr)
	}
	l.Seconds, l.ClientCPU, l.PeakMiB, l.ServerCPU = said.Seconds, said.CPU, said.PeakMiB, serverCPU
	l.WholeCPU = SpentCPU(cmd.ProcessState)
	return l, nil
}

// listen takes the server's CPU time when the loader begins and when it is done.
func listen(lines *bufio.Scanner, server int) (said Said, serverCPU float64, err error) {
	var before, after float64
	begun := false
	for lines.Scan() {
		if lines.Text() == "begin" {
			begun = true
			if before, err = CPU(server); err != nil {
				return said, 0, err
			}
			continue
		}
		if after, err = CPU(server); err != nil {
			return said, 0, err
		}
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			return said, 0, fmt.Errorf("it printed %q: %w", lines.Text(), err)
		}
	}
	if !begun || said.Seconds == 0 {
		return said, 0, fmt.Errorf("it did not print its begin and its result")
	}
	return said, after - before, lines.Err()
}
