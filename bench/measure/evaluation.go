package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// EvaluationJars is the folder of HBase's own load tools.
	EvaluationJars = "deploy/devcluster/lib/bench"
	evaluationPOM  = "bench/java/pom.xml"
	// EvaluationFamily is the family to which PerformanceEvaluation writes, and EvaluationKey the layout of its keys.
	EvaluationFamily = "info0"
	EvaluationKey    = "%026d"
)

// FetchEvaluation downloads HBase's PerformanceEvaluation, once.
func FetchEvaluation(ctx context.Context) error {
	pom, err := os.Stat(evaluationPOM)
	if err != nil {
		return err
	}
	if jars, err := os.Stat(EvaluationJars); err == nil && jars.ModTime().After(pom.ModTime()) {
		return nil
	}
	aside := EvaluationJars + ".new"
	out, err := filepath.Abs(aside)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", evaluationPOM,
		"org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies", "-DoutputDirectory="+out)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mvn -f %s: %w", evaluationPOM, err)
	}
	return errors.Join(os.RemoveAll(EvaluationJars), os.Rename(aside, EvaluationJars))
}

// evaluationLog makes its log show when its clients begin and end; nothing else shows that.
const evaluationLog = `log4j.rootLogger=WARN,err
log4j.logger.org.apache.hadoop.hbase.PerformanceEvaluation=INFO,out
log4j.additivity.org.apache.hadoop.hbase.PerformanceEvaluation=false
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.out
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%m%n
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
`

// Evaluation returns the command of PerformanceEvaluation's randomWrite in one JVM with the given number of clients, each a thread with its
// own connection and BufferedMutator of 2 MiB, which is its default. dir is for the settings of its log.
func Evaluation(ctx context.Context, dir, connect string, s Shape, clients int) (*exec.Cmd, error) {
	log := filepath.Join(dir, "evaluation.properties")
	if err := os.WriteFile(log, []byte(evaluationLog), 0o644); err != nil {
		return nil, err
	}
	const script = `source deploy/devcluster/hbase/server.sh
exec java "${hbase_java[@]}" "-Dlog4j.configuration=file:$0" -cp "deploy/devcluster/lib/bench/*:deploy/devcluster/lib/hbase/*" \
  org.apache.hadoop.hbase.PerformanceEvaluation "$@"`
	return exec.CommandContext(ctx, "bash", "-c", script, log,
		"-Dhbase.client.registry.impl=org.apache.hadoop.hbase.client.RpcConnectionRegistry",
		"-Dhbase.client.bootstrap.servers="+strings.TrimPrefix(connect, "rpc://"),
		"--nomapred", "--table="+s.Table, "--rows="+strconv.Itoa(s.Rows/clients), "--columns="+strconv.Itoa(s.Columns),
		"--valueSize="+strconv.Itoa(s.ValueBytes/s.Columns), "randomWrite", strconv.Itoa(clients)), nil
}

// RunEvaluation runs PerformanceEvaluation and measures it and HBase, whose process is server, as Run does: from the start of the first
// client until all rows of the last one are acknowledged.
func RunEvaluation(cmd *exec.Cmd, client string, s Shape, clients, server int) (Load, error) {
	l := Load{Client: client, Columns: s.Columns, Rows: s.Rows / clients * clients}
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return l, err
	}
	if err := cmd.Start(); err != nil {
		return l, err
	}
	readErr := l.follow(out, clients, cmd.Process.Pid, server)
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return l, fmt.Errorf("PerformanceEvaluation: %w", err)
	}
	l.WholeCPU = SpentCPU(cmd.ProcessState)
	return l, nil
}

// follow reads PerformanceEvaluation's log to its end: for each client, a line that begins with "Start class" and later one with "Finished
// class".
func (l *Load) follow(log io.Reader, clients, pid, server int) error {
	var began time.Time
	var own, servers float64
	finished := 0
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var err1, err2, err3 error
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "Start class") && began.IsZero():
			began = time.Now()
			own, err1 = CPU(pid)
			servers, err2 = CPU(server)
		case strings.HasPrefix(line, "Finished class"):
			if finished++; finished < clients {
				continue
			}
			l.Seconds = time.Since(began).Seconds()
			l.ClientCPU, err1 = CPU(pid)
			l.ServerCPU, err2 = CPU(server)
			l.PeakMiB, err3 = PeakMiB(strconv.Itoa(pid))
			l.ClientCPU -= own
			l.ServerCPU -= servers
		}
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
	}
	if began.IsZero() || finished != clients {
		return fmt.Errorf("it did not log the start and the end of %d clients", clients)
	}
	return lines.Err()
}
