package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Shape is the shape of a load's rows. Keys begin with two evenly distributed hex digits; the columns share the value bytes.
type Shape struct {
	Table      string
	Rows       int
	Columns    int
	KeyBytes   int
	ValueBytes int
}

// BuildJava compiles the Java programs: the loader, which writes with HBase's own BufferedMutator, and the readers.
func (c *Cluster) BuildJava(ctx context.Context) error { return BuildJava(ctx, c.Path("java")) }

// BuildJava compiles the Java programs into dir.
func BuildJava(ctx context.Context, dir string) error {
	args := []string{"-cp", hbaseJars, "-d", dir, "bench/java/Bench.java", "bench/java/BufferedLoad.java", "bench/java/Reads.java",
		"bench/java/Timelines.java"}
	cmd := exec.CommandContext(ctx, "javac", args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("javac bench/java/*.java: %w", err)
	}
	return nil
}

// Java returns the command of that loader, with the given number of threads and as many mutators, of buffer bytes each. The JVM has the
// flags of devcluster's servers, with the JVM's default heap and collector.
func (c *Cluster) Java(ctx context.Context, connect string, s Shape, threads, buffer int) *exec.Cmd {
	return c.java(ctx, "BufferedLoad", []string{connect, s.Table}, s.Rows, s.Columns, s.KeyBytes, s.ValueBytes, threads, buffer)
}

// JavaReads returns the command that reads the rows of a load with HBase's own Table: get reads count random rows, scan reads all.
func (c *Cluster) JavaReads(ctx context.Context, connect, kind string, s Shape, threads, count int) *exec.Cmd {
	return c.java(ctx, "Reads", []string{connect, s.Table, kind}, s.Rows, s.Columns, s.KeyBytes, threads, count)
}

// JavaTimelines returns the command that scans prefixes, drawn at random from a file, with HBase's own Table.
func JavaTimelines(ctx context.Context, dir, connect, table, prefixes string, most, threads int, span time.Duration) *exec.Cmd {
	return javaCommand(ctx, dir, "Timelines", []string{connect, table, prefixes}, most, threads, int(span.Milliseconds()))
}

func (c *Cluster) java(ctx context.Context, class string, texts []string, numbers ...int) *exec.Cmd {
	return javaCommand(ctx, c.Path("java"), class, texts, numbers...)
}

const hbaseJars = "deploy/devcluster/lib/hbase/*"

// HasJava reports whether HBase's jars have been downloaded, as `make real-up` does.
func HasJava() bool {
	jars, _ := filepath.Glob(hbaseJars) // the pattern is valid
	return len(jars) > 0
}

func javaCommand(ctx context.Context, dir, class string, texts []string, numbers ...int) *exec.Cmd {
	const script = `source deploy/devcluster/hbase/server.sh
exec java "${hbase_java[@]}" -Dlog4j.configuration=file:deploy/devcluster/hbase/client-log4j.properties \
  -cp "$0:deploy/devcluster/lib/hbase/*" "$@"`
	args := append([]string{"-c", script, dir, class}, texts...)
	for _, n := range numbers {
		args = append(args, strconv.Itoa(n))
	}
	return exec.CommandContext(ctx, "bash", args...)
}

// Run runs a loader and at the same time measures HBase, whose process is server.
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
	l.Seconds, l.ClientCPU, l.PeakMiB, l.P99, l.ServerCPU = said.Seconds, said.CPU, said.PeakMiB, said.P99, serverCPU
	l.WholeCPU = SpentCPU(cmd.ProcessState)
	return l, nil
}

// listen reads the server's CPU time when the loader begins and when it is done.
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
		return said, 0, fmt.Errorf("it did not print its start and its result")
	}
	return said, after - before, lines.Err()
}
