package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/sample"
	"brine/service/brokers"
)

// TestOffsetsAreShownAndSet moves the live group of a stopped brine to each kind of position. Reading again changes no cell. The group of a
// running brine is not moved, and its members are named.
func TestOffsetsAreShownAndSet(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		group := j.groups()[0]
		j.publish(first(sample.Scans(), 2000))
		wait(t, 5*time.Millisecond)
		middle := time.Now()
		wait(t, 5*time.Millisecond)
		j.publish(first(sample.Scans(), 4000))
		if out := j.must("offsets", "show", "-c", j.file); !strings.Contains(out, "scans.rows: topic "+j.topic+", group "+group) ||
			!strings.Contains(out, " - ") || !strings.Contains(out, "4,000\n") || !strings.Contains(out, "  no members\n") {
			t.Errorf("show before the first run:\n%s", out)
		}
		j.must("run", "-q", "-c", j.file, "--until-end")
		want, end := scanTable(t, j.hbase, j.table), j.committed(group)
		saved := filepath.Join(t.TempDir(), "saved.jsonl")
		if err := os.WriteFile(saved, []byte(j.output("offsets", "show", "-c", j.file, "--json")), 0o600); err != nil {
			t.Fatal(err)
		}

		zero := maps.Clone(end)
		for p := range zero {
			zero[p] = 0
		}
		minus := maps.Clone(end)
		for p := range minus {
			minus[p] = max(0, minus[p]-10)
		}
		for _, set := range []struct {
			to   string
			want map[int]int64
		}{
			{"earliest", zero}, {"latest", end}, {"-10", minus}, {"+7000", end}, {"earliest", zero}, {"file:" + saved, end},
			{"0:5,1:7", with(end, map[int]int64{0: 5, 1: 7})},
		} {
			out := j.must("offsets", "set", "-c", j.file, "--yes", "--to="+set.to)
			if got := j.committed(group); fmt.Sprint(got) != fmt.Sprint(set.want) {
				t.Errorf("--to %s: the group is at %v, expected %v\n%s", set.to, got, set.want, out)
			}
		}
		out := j.must("offsets", "set", "-c", j.file, "--to", middle.UTC().Format(time.RFC3339Nano), "--yes", "--json")
		var again int64
		for p, offset := range j.committed(group) {
			again += end[p] - offset
		}
		if again != 2000 {
			t.Errorf("from the middle %d records are left, expected 2,000:\n%s", again, out)
		}
		// The preview says what is skipped and changes nothing; the same holds if there is no answer.
		out = j.must("offsets", "set", "-c", j.file, "--to", "latest", "--dry-run")
		if !strings.Contains(out, "at most 2,000 records would be skipped: scans.rows will never write them") {
			t.Errorf("the preview says\n%s", out)
		}
		if out, code := j.exit("offsets", "set", "-c", j.file, "--to", "latest"); code != exitFailed || !strings.Contains(out, "Set these offsets? [y/N]") || !strings.Contains(out, "nothing was changed") {
			t.Errorf("exit %d without an answer:\n%s", code, out)
		}
		j.must("run", "-q", "-c", j.file, "--until-end")
		if got := scanTable(t, j.hbase, j.table); got != want {
			t.Errorf("after records were read again %v, before %v", got, want)
		}
		j.refusedOffsets()

		p := j.begin()
		p.until("scans.rows", 4000)
		if out := j.must("offsets", "show", "-c", j.file); !strings.Contains(out, "  member brine on ") || !strings.Contains(out, "with partitions [0 1 2 3") || !strings.Contains(out, ", unless it was killed less than 30s ago\n") {
			t.Errorf("show does not name the member:\n%s", out)
		}
		before := j.committed(group)
		if out, code := j.exit("offsets", "set", "-c", j.file, "--to", "earliest", "--yes"); code != exitFailed || !strings.Contains(out, "the group is in use; nothing was changed:\n  "+group+": brine on ") {
			t.Errorf("exit %d while brine runs:\n%s", code, out)
		}
		if now := j.committed(group); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("the group is at %v, it was at %v", now, before)
		}
		p.stop()

		j.replace("  commit_interval: 100ms\n", "  commit_interval: 100ms\n  group_protocol: consumer\n")
		p = j.begin()
		p.until("scans.rows", 4000)
		if out := j.must("offsets", "show", "-c", j.file); !strings.Contains(out, "with partitions [0 1 2 3") || !strings.Contains(out, ", unless it was killed less than 45s ago\n") {
			t.Errorf("show does not name the member by the consumer protocol:\n%s", out)
		}
		p.stop()
	})
}

// refusedOffsets are invalid positions: each error says why, and nothing is changed.
func (j *job) refusedOffsets() {
	j.t.Helper()
	before := fmt.Sprint(j.committed(j.groups()[0]))
	other := filepath.Join(j.t.TempDir(), "other.jsonl")
	line, err := json.Marshal(brokers.Position{Pipeline: "other.rows"})
	if err != nil {
		j.t.Fatal(err)
	}
	if err := os.WriteFile(other, line, 0o600); err != nil {
		j.t.Fatal(err)
	}
	for _, r := range []struct {
		to, says string
		code     int
	}{
		{"0:99999", "partition 0 would continue at offset 99999, but its log is 0 to ", exitUsage},
		{"77:0", "has no partition 77; it has 4", exitMissing},
		{"soon", `--to "soon": write earliest, latest, a time`, exitUsage},
		{"+many", "write +N or -N with a number of offsets", exitUsage},
		{"file:" + other, "has nothing for scans.rows", exitUsage},
		{"file:" + j.file, "object 1 was not written by brine offsets show --json", exitUsage},
		{"file:nowhere", "no such file", exitUsage},
	} {
		out, code := j.exit("offsets", "set", "-c", j.file, "--yes", "--to="+r.to)
		if code != r.code || !strings.Contains(out, r.says) {
			j.t.Errorf("--to %s: exit %d, expected %d and %q:\n%s", r.to, code, r.code, r.says, out)
		}
	}
	if now := fmt.Sprint(j.committed(j.groups()[0])); now != before {
		j.t.Errorf("the group is at %s, it was at %s", now, before)
	}
}

func with(m, more map[int]int64) map[int]int64 {
	m = maps.Clone(m)
	maps.Copy(m, more)
	return m
}
