package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/hbase"
)

// groups returns the live groups of the job's halves.
func (j *job) groups() []string {
	groups := []string{j.group("rows")}
	if j.index != "" {
		groups = append(groups, j.group("documents"))
	}
	return groups
}

// live returns what the live groups have committed.
func (j *job) live() string {
	j.t.Helper()
	var s []string
	for _, g := range j.groups() {
		s = append(s, fmt.Sprint(g, " ", j.committed(g)))
	}
	return strings.Join(s, ", ")
}

// committed returns what a group has committed in the job's topic, by partition.
func (j *job) committed(group string) map[int]int64 {
	j.t.Helper()
	for until := time.Now().Add(standstill); ; wait(j.t, 100*time.Millisecond) {
		offsets, err := committedOffsets(j.t.Context(), j.client(), group, j.topic, devPartitions)
		if err == nil {
			return offsets
		}
		var kafkaSays kafka.Error // a broker that has just started has no coordinator for the group yet
		if !errors.As(err, &kafkaSays) || !kafkaSays.Temporary() || time.Now().After(until) {
			j.t.Fatal(err)
		}
	}
}

// emptied gives the job an empty table and an empty index.
func (j *job) emptied() {
	j.t.Helper()
	client, err := hbase.Open(j.t.Context(), hbase.Options{Connect: j.hbase})
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	if err := errors.Join(client.DisableTable(j.t.Context(), j.table), client.DeleteTable(j.t.Context(), j.table)); err != nil {
		j.t.Fatal(err)
	}
	if dir, ok := strings.CutPrefix(j.search, "embedded:"); ok {
		if err := os.RemoveAll(dir); err != nil {
			j.t.Fatal(err)
		}
	} else if j.index != "" {
		j.deleteIndex(j.t.Context())
	}
	j.must("tables", "apply", "-c", j.file)
}

// replayKilled starts a replay with this many records per second, kills it with SIGKILL as soon as it has stored progress of every half,
// and lets the same command finish. It returns that command's output.
func (j *job) replayKilled(rate int, name string, args ...string) string {
	j.t.Helper()
	args = append([]string{"replay", "-c", j.file, "--name", name}, args...)
	before := map[string]map[int]int64{}
	for _, g := range j.groups() {
		before[g] = j.committed(g + ".replay." + name)
	}
	cmd := j.command(append(args, "--rate", strconv.Itoa(rate))...)
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	for _, g := range j.groups() {
		// The first commits hold the range, with nothing done.
		for at, now := before[g], map[int]int64(nil); ; at = now {
			if now = j.committed(g + ".replay." + name); moves(at, now) {
				break
			}
			wait(j.t, time.Millisecond)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		j.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	out := j.must(slices.DeleteFunc(args, func(a string) bool { return a == "--again" })...)
	if n := strings.Count(out, "resuming: "); n != len(j.groups()) {
		j.t.Fatalf("%d halves go on where they were, expected %d: the kill did not come in the middle\n%s", n, len(j.groups()), out)
	}
	return out
}

// moves reports whether a replay has advanced between two looks at its group, rather than just started.
func moves(before, after map[int]int64) bool {
	for p, offset := range after {
		if offset > 0 && offset > before[p] {
			return true
		}
	}
	return false
}
