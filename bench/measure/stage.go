package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"brine/hbase"
)

// Make runs what `make TARGET` measures, unless the results could not be recorded. Its error names the target.
func Make(target string, run func() error) error {
	err := recordable()
	if err == nil {
		err = run()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// Stage is a set of real servers including HBase, with everything that a benchmark on them needs.
type Stage struct {
	*Cluster
	HBase  string // rpc://host:port
	Server int    // HBase's process id
	Admin  *hbase.Client
}

// StartStage starts servers, compiles the Java loader and opens a client. Close ends everything.
func StartStage(ctx context.Context, heap string, servers ...string) (*Stage, error) {
	cluster, err := StartCluster(ctx, heap, servers...)
	if err != nil {
		return nil, err
	}
	s := &Stage{Cluster: cluster}
	if err := s.open(ctx); err != nil {
		cluster.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stage) open(ctx context.Context) (err error) {
	if err := s.BuildJava(ctx); err != nil {
		return err
	}
	if s.HBase, err = s.Address("BRINE_REAL_HBASE"); err != nil {
		return err
	}
	if s.Server, err = s.PID("hbase"); err != nil {
		return err
	}
	s.Admin, err = hbase.Open(ctx, hbase.Options{Connect: s.HBase})
	return err
}

// Close ends the servers and deletes everything of this run.
func (s *Stage) Close() {
	_ = s.Admin.Close() // nothing is left to fail
	s.Cluster.Close()
}

// Alternate calls load for each client in each round, from 1 on, with the order reversed in every second round.
func Alternate(rounds int, clients []string, load func(client string, round int) error) error {
	order := slices.Clone(clients)
	for round := 1; round <= rounds; round++ {
		for _, client := range order {
			if err := load(client, round); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	return nil
}

// Build compiles one of our commands to a file in dir, and returns its path.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	return build(ctx, "", filepath.Join(dir, filepath.Base(pkg)), pkg)
}

// build compiles a command of the module in tree, which is the working directory's if it is empty, to a file, without cgo, as releases are.
func build(ctx context.Context, tree, out, pkg string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", out, pkg)
	cmd.Dir, cmd.Env, cmd.Stderr = tree, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go build %s: %w", pkg, err)
	}
	return out, nil
}
