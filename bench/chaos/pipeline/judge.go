package pipeline

import (
	"bytes"
	"context"
	"fmt"

	"brine/bench/chaos/fault"
)

// Findings are the results of the checks at the end.
type Findings struct {
	Verify  fault.Verdict
	Tables  []*table
	Letters map[string]int // dead letters by topic of the events
}

// table is one table's digests of all versions of all cells by HBase's Java client, after the faults and after an undisturbed run.
type table struct{ Name, Disturbed, Calm string }

// judge checks the result of everything.
func (r *run) judge(ctx context.Context) (err error) {
	ends, _ := r.groups.now()
	var groups []string
	for _, in := range r.Inputs {
		groups = append(groups, in.group("chaos"))
	}
	if r.Commits, err = readCommits(ctx, r.groups.broker, groups, ends); err != nil {
		return err
	}
	if r.Verify, err = fault.Verify(r.brine(ctx, "chaos", "verify", "--full", "--json", "--quiet")); err != nil {
		return err
	}
	fmt.Println("verified; now without faults")
	calm := r.brine(ctx, "calm", "run", "--until-end", "--quiet")
	if out, err := calm.CombinedOutput(); err != nil {
		return fmt.Errorf("the undisturbed run: %w\n%s", err, out)
	}
	r.Letters = make(map[string]int)
	for _, in := range r.Inputs {
		t := &table{Name: in.table}
		r.Tables = append(r.Tables, t)
		if t.Disturbed, err = r.procs.Digest(ctx, "chaos:"+in.table); err != nil {
			return err
		}
		if t.Calm, err = r.procs.Digest(ctx, "calm:"+in.table); err != nil {
			return err
		}
		if r.Letters[in.topic], err = r.letters(ctx, in.table); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the number of rows in a digest.
func rows(digest string) (n int) {
	_, _ = fmt.Sscanf(digest, "rows=%d ", &n) // stays 0 on failure, which is wrong
	return n
}

// letters returns the number of dead letters of a pipeline, with each record counted once.
func (r *run) letters(ctx context.Context, pipeline string) (int, error) {
	cmd := r.brine(ctx, "chaos", "deadletters", "ls", "--pipeline", pipeline, "--json", "--limit", "0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("brine deadletters ls: %w\n%s", err, said.String())
	}
	return bytes.Count(out, []byte("\n")), nil
}
