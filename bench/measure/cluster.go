package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const devcluster = "deploy/devcluster/devcluster"

// Cluster is a set of real servers that belong to this run alone, separate from those of `make real-up`.
type Cluster struct {
	dir     string
	lent    bool // another process started it and will end it
	servers []string
	env     []string
}

// StartCluster starts servers (kafka, hbase) with an HBase heap such as "4g". Close ends them. With DEVCLUSTER_RUN in the environment, it
// uses the servers of that folder, for this run alone: it does not start those that are already up, and Close leaves all of them up.
func StartCluster(ctx context.Context, hbaseHeap string, servers ...string) (*Cluster, error) {
	return StartClusterWith(ctx, hbaseHeap, nil, servers...)
}

// StartClusterWith is StartCluster with additional variables ("NAME=value") for deploy/devcluster.
func StartClusterWith(ctx context.Context, hbaseHeap string, env []string, servers ...string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "brine-bench-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // Elasticsearch, if root starts it, runs as another user
		return nil, err
	}
	c := &Cluster{dir: dir, servers: servers}
	run := os.Getenv("DEVCLUSTER_RUN")
	if c.lent = run != ""; !c.lent {
		run = c.Path("run")
	} else if err := os.Symlink(run, c.Path("run")); err != nil {
		return nil, err
	}
	c.env = append(os.Environ(), "DEVCLUSTER_RUN="+run, "DEVCLUSTER_HBASE_HEAP="+hbaseHeap)
	c.Set(env...)
	if err := c.devcluster(ctx, "up", servers...); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Set sets variables ("NAME=value") of deploy/devcluster for everything that starts from now on.
func (c *Cluster) Set(env ...string) { c.env = append(c.env, env...) }

// Up restarts processes that have ended.
func (c *Cluster) Up(ctx context.Context, servers ...string) error {
	return c.devcluster(ctx, "up", servers...)
}

func (c *Cluster) devcluster(ctx context.Context, command string, servers ...string) error {
	cmd := exec.CommandContext(ctx, devcluster, append([]string{command}, servers...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, os.Stderr, os.Stderr
	// The processes in which the script waits must end with it, or they would hold its lock. The servers have their own groups.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", devcluster, command, err)
	}
	return nil
}

// Close ends the servers and deletes everything of this run.
func (c *Cluster) Close() {
	var err error
	if !c.lent {
		err = c.devcluster(context.Background(), "wipe", c.servers...)
	}
	if err = errors.Join(err, os.RemoveAll(c.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// Path returns a path for a file of this run.
func (c *Cluster) Path(name string) string { return filepath.Join(c.dir, name) }

// Address returns a variable from the cluster's env file, such as BRINE_REAL_HBASE.
func (c *Cluster) Address(name string) (string, error) {
	env, err := os.ReadFile(c.Path("run/env"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(env)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("the cluster's env file does not name %s", name)
}

// PID returns a server's process id.
func (c *Cluster) PID(server string) (int, error) {
	text, err := os.ReadFile(c.Path("run/" + server + "/pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// Digest reads a table with HBase's own client, because the reports must not depend on our own scans alone.
func (c *Cluster) Digest(ctx context.Context, table string) (string, error) {
	connect, err := c.Address("BRINE_REAL_HBASE")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, devcluster, "digest", table, connect)
	cmd.Env, cmd.Stderr = c.env, os.Stderr // a cluster with access control has the client's configuration in its folder
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// Build compiles one of our commands to a file of this run, and returns its path.
func (c *Cluster) Build(ctx context.Context, pkg string) (string, error) {
	return Build(ctx, c.dir, pkg)
}
