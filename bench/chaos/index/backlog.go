package index

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"brine/bench/chaos/fault"
)

// The second measurement: events that arrive at a constant rate show that rows keep up, but not at what rate they could be written. So
// everything that was published is written once more as fast as brine can: while the index is up, while it hangs, and by a brine
// without documents.

const (
	rounds    = 3
	backlogOf = 5 * time.Minute // for one of them; it takes seconds
)

// backlog measures both rates, in turn.
func (r *run) backlog(ctx context.Context) error {
	text, err := os.ReadFile("bench/chaos/index/index.yaml")
	if err != nil {
		return err
	}
	if err := r.publishRest(ctx); err != nil {
		return err
	}
	for n := range rounds {
		for _, way := range []struct {
			name, text string
			freeze     bool
			rates      *[]float64
		}{
			{"frozen", string(text), true, &r.Frozen},
			{"there", string(text), false, &r.Beside},
			{"alone", rowsOnly(string(text)), true, &r.Alone},
		} {
			rate, err := r.drain(ctx, fmt.Sprint(way.name, n), way.text, way.freeze)
			if err != nil {
				return err
			}
			*way.rates = append(*way.rates, rate)
		}
		fmt.Printf("a backlog, round %d: %.0f rows/s with the index there, %.0f while it stands still, %.0f without one\n", n+1, r.Beside[n],
			r.Frozen[n], r.Alone[n])
	}
	return nil
}

// publishRest publishes the rest of both topics.
func (r *run) publishRest(ctx context.Context) error {
	for pipeline, key := range keys {
		if out, err := r.brine(ctx, "publish", "data/"+pipeline+".jsonl.gz", "--topic", topics[pipeline], "--key",
			key).CombinedOutput(); err != nil {
			return fmt.Errorf("publish the rest of %s: %w\n%s", topics[pipeline], err, out)
		}
	}
	return nil
}

// drain runs a brine with its own groups that reads everything, and returns the number of rows that it settles per second. The index stops
// at the first row if freeze is set. The count begins after a third of the rows, when the documents' half has filled its memory and no
// longer reads.
func (r *run) drain(ctx context.Context, group, text string, freeze bool) (rate float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, backlogOf, fmt.Errorf("group %s has not settled its rows in %v", group, backlogOf))
	defer cancel()
	file := r.procs.Path(group + ".yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(text, "group: chaos", "group: "+group, 1)), 0o644); err != nil {
		return 0, err
	}
	brine := exec.CommandContext(ctx, r.binary, "run", "--quiet", "-c", file)
	brine.Env, brine.Stderr = r.env, os.Stderr
	if err := brine.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = brine.Process.Kill() // its documents would wait for the index, and its groups are not needed again
		_ = brine.Wait()
	}()
	if _, err := r.rowsOf(ctx, group, func(now position) bool { return now.rows > 0 }); err != nil {
		return 0, err
	}
	if freeze {
		if err := r.procs.Signal(server, syscall.SIGSTOP); err != nil {
			return 0, err
		}
		defer func() {
			if failed := r.procs.Signal(server, syscall.SIGCONT); err == nil {
				err = failed
			}
		}()
	}
	now, err := r.rowsOf(ctx, group, func(now position) bool { return now.rows > now.published/3 })
	if err != nil {
		return 0, err
	}
	end, err := r.rowsOf(ctx, group, func(now position) bool { return now.rows == now.published })
	return float64(end.rows-now.rows) / end.at.Sub(now.at).Seconds(), err
}

// rowsOf polls how far a group's rows are until so returns true.
func (r *run) rowsOf(ctx context.Context, group string, so func(position) bool) (now position, err error) {
	err = fault.Until(ctx, func() bool {
		var failed error
		now, failed = r.progress.look(ctx, group, "rows")
		return failed == nil && so(now) // at first the group has no coordinator
	})
	if err != nil {
		err = context.Cause(ctx)
	}
	return now, err
}

// rowsOnly removes the documents from a configuration: each block of that name, with everything below it. It also removes their half of the
// memory, so that the rest has no more than before.
func rowsOnly(text string) string {
	text = strings.Replace(text, "memory: 128MiB", "memory: 64MiB", 1)
	var out []string
	depth, within := 0, false
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case within && indent > depth && strings.TrimSpace(line) != "":
			continue
		case strings.TrimSpace(line) == "documents:" || strings.TrimSpace(line) == "indexes:":
			depth, within = indent, true
			continue
		}
		within = false
		out = append(out, line)
	}
	return strings.Join(out, "")
}
