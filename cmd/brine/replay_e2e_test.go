package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/hbase"
	"brine/internal/sample"
)

var embeddedAndReal = map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack}

// groups are the live groups of the job's halves.
func (j *job) groups() []string {
	groups := []string{j.name + "." + j.pipeline + ".rows"}
	if j.index != "" {
		groups = append(groups, j.name+"."+j.pipeline+".documents")
	}
	return groups
}

// live is what the live groups have committed.
func (j *job) live() string {
	j.t.Helper()
	var s []string
	for _, g := range j.groups() {
		s = append(s, fmt.Sprint(g, " ", j.committed(g)))
	}
	return strings.Join(s, ", ")
}

// committed is what a group has committed of the job's topic, by partition.
func (j *job) committed(group string) map[int]int64 {
	j.t.Helper()
	partitions := make([]int, devPartitions)
	for i := range partitions {
		partitions[i] = i
	}
	offsets, err := committedOffsets(j.t.Context(), j.client(), group, j.topic, partitions)
	if err != nil {
		j.t.Fatal(err)
	}
	return offsets
}

// emptied gives the job an empty table, and an empty index.
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

// replayKilled begins a replay at so many records per second, kills it with SIGKILL as soon as it has kept progress of every half, and
// lets the same command finish, whose output it gives.
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
		// The first commits hold the range, with nothing of it done.
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
	_ = cmd.Wait() // killed: that is the point
	out := j.must(slices.DeleteFunc(args, func(a string) bool { return a == "--again" })...)
	if n := strings.Count(out, "goes on where it was: "); n != len(j.groups()) {
		j.t.Fatalf("%d halves go on where they were, expected %d: the kill did not come in the middle\n%s", n, len(j.groups()), out)
	}
	return out
}

// moves reports whether a replay has moved on between two looks at its group, and not just begun.
func moves(before, after map[int]int64) bool {
	for p, offset := range after {
		if offset > 0 && offset > before[p] {
			return true
		}
	}
	return false
}

// TestReplayChangesNoCell replays a whole topic by offsets and by time, each twice and each killed in the middle: afterwards
// the table is cell for cell as before, and the live group is where it was.
func TestReplayChangesNoCell(t *testing.T) {
	t.Parallel()
	const events = 20_000
	for name, servers := range embeddedAndReal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, servers(t))
			began := time.Now()
			j.publish(first(sample.Scans(), events/2))
			wait(t, 5*time.Millisecond)
			middle := time.Now().UTC().Format(time.RFC3339Nano)
			wait(t, 5*time.Millisecond)
			j.publish(first(sample.Scans(), events))
			j.must("run", "-q", "-c", j.file, "--until-end")
			want := scanTable(t, j.hbase, j.table)
			if want.rows != events {
				t.Fatalf("the table has %d rows of %d events", want.rows, events)
			}
			live := j.live()
			same := func(what string) {
				t.Helper()
				if got := scanTable(t, j.hbase, j.table); got != want {
					t.Fatalf("after %s %v, before %v", what, got, want)
				}
				if now := j.live(); now != live {
					t.Fatalf("after %s the live group is at %v, before at %v", what, now, live)
				}
				t.Logf("after %s: %v, the live group at %v", what, want, live)
			}

			zero, end := make([]string, devPartitions), make([]string, devPartitions)
			for p, offset := range j.committed(j.groups()[0]) {
				zero[p], end[p] = fmt.Sprintf("%d:0", p), fmt.Sprintf("%d:%d", p, offset)
			}
			ranges := map[string][]string{
				"offsets": {"--from", strings.Join(zero, ","), "--to", strings.Join(end, ",")},
				"time":    {"--from", began.UTC().Format(time.RFC3339Nano), "--to", time.Now().UTC().Format(time.RFC3339Nano)},
			}
			for by, args := range ranges {
				j.replayKilled(3000, by, args...)
				same("a replay by " + by + ", killed and resumed")
				if out := j.must(append([]string{"replay", "-c", j.file, "--name", by}, args...)...); !strings.Contains(out, "done already, up to the offsets above; --again begins anew") {
					t.Errorf("a replay that is done does not say so:\n%s", out)
				}
				j.replayKilled(3000, by, append(args, "--again")...)
				same("the same again, killed and resumed")
			}

			j.emptied()
			j.must("replay", "-c", j.file, "-q", "--from", middle)
			if got := scanTable(t, j.hbase, j.table); got.rows != events-events/2 {
				t.Errorf("a replay of the second half gives %v", got)
			}
			out := j.must("replay", "-c", j.file, "--from", "earliest", "--to", middle)
			same("two replays, half by half, into an empty table")
			t.Logf("the last one said:\n%s", out)
		})
	}
}

// TestReplayOfOrdersChangesNothing does the same to rows that several changes meet in and to their documents.
func TestReplayOfOrdersChangesNothing(t *testing.T) {
	t.Parallel()
	for name, servers := range embeddedAndReal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, servers(t), ordersExample)
			n := j.publish(slices.Values(orderChanges()))
			j.must("run", "-q", "-c", j.file, "--until-end")
			want, live := j.outcome(), j.live()
			for _, again := range [][]string{{"--from", "earliest"}, {"--from", "earliest", "--again"}} {
				j.replayKilled(1000, "whole", again...)
				j.expect(want)
			}
			if out := j.must("deadletters", "ls", "-c", j.file, "--all"); !strings.Contains(out, "0 letters of 0 records scanned in "+j.topic+".dead\n") {
				t.Errorf("records that are older than what is there have become dead letters:\n%s", out)
			}
			j.emptied()
			j.must("replay", "-c", j.file, "-q", "--half", "documents", "--from", "earliest")
			if docs := j.documents(); docs.String() != want.docs.String() {
				t.Errorf("a replay of the documents alone gives %v, expected %v", docs, want.docs)
			}
			if rows := scanTable(t, j.hbase, j.table); rows.rows != 0 {
				t.Errorf("a replay of the documents alone wrote %v", rows)
			}
			out := j.must("replay", "-c", j.file, "-q", "--half", "rows", "--from", "earliest")
			j.expect(want)
			t.Logf("%d changes; the last replay said:\n%s", n, out)
			if now := j.live(); now != live {
				t.Errorf("the live groups are at %v, before at %v", now, live)
			}
		})
	}
}

// TestReplaySaysWhatIsMissing deletes records from the topic, and has one that cannot be written in it.
func TestReplaySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, servers := range embeddedAndReal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, servers(t))
			began := time.Now().UTC().Format(time.RFC3339)
			const events = 4000
			j.publish(first(sample.Scans(), events))
			j.send(3, "not json")
			j.must("run", "-q", "-c", j.file, "--until-end")
			want, live := scanTable(t, j.hbase, j.table), j.live()
			j.deleteRecords(1, 100)

			for _, r := range []struct{ from, says string }{
				{"0:0,1:0,2:0,3:0", "missing: partition 1: offsets 0 to 99 are not in the log any more"},
				{began, "missing: partition 1: offsets before 100 are not in the log any more; they may have belonged to the range"},
			} {
				out, code := j.exit("replay", "-c", j.file, "--from", r.from)
				if code != exitFailed || !strings.Contains(out, r.says) || !strings.Contains(out, "hint: --skip-missing replays what is there") {
					t.Errorf("--from %s: exit %d, expected %d and %q:\n%s", r.from, code, exitFailed, r.says, out)
				}
				out = j.must("replay", "-c", j.file, "--from", r.from, "--skip-missing", "--json")
				result := lastObject[replayResult](t, out)
				if result.Replayed != events+1-100 || result.Dead != 1 || !result.Finished {
					t.Errorf("--from %s: %+v, expected %d records and a dead letter", r.from, result, events+1-100)
				}
			}
			if got := scanTable(t, j.hbase, j.table); got != want {
				t.Errorf("the table is now %v, it was %v", got, want)
			}
			if now := j.live(); now != live {
				t.Errorf("the live group is at %v, before at %v", now, live)
			}
		})
	}
}

// TestReplayStopsAndGoesOn asks a replay to stop.
func TestReplayStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.publish(first(sample.Scans(), 4000))
	args := []string{"replay", "-c", j.file, "--from", "earliest", "--json", "--rate", "1000", "--name", "stop"}
	cmd := j.command(args...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for !moves(nil, j.committed(j.name+".scans.rows.replay.stop")) {
		wait(t, time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(errOut.String(), "records left\nhint: the same command goes on from there") {
		t.Errorf("exit %d, standard error %q", code, errOut.String())
	}
	result := lastObject[replayResult](t, j.must("replay", "-c", j.file, "--from", "earliest", "--json", "--name", "stop"))
	if result.Replayed == 0 || result.Replayed >= 4000 || !result.Finished {
		t.Errorf("%+v after the stop, expected the rest of 4000", result)
	}
	if got := scanTable(t, j.hbase, j.table); got.rows != 4000 {
		t.Errorf("%v after the stop, expected 4000 rows", got)
	}
	for _, refused := range []struct {
		code int
		args []string
	}{
		{exitMissing, []string{"--from", "0:0,9:0"}},
		{exitUsage, []string{"--from", "0:5", "--to", "0:5"}},
		{exitUsage, []string{"--from", "0:5", "--name", "stop"}},
	} {
		if out, code := j.exit(append([]string{"replay", "-c", j.file}, refused.args...)...); code != refused.code {
			t.Errorf("%v: exit %d, expected %d\n%s", refused.args, code, refused.code, out)
		}
	}
}

// exit runs a brine process and gives its output and exit code.
func (j *job) exit(args ...string) (string, int) {
	j.t.Helper()
	out, err := j.command(args...).CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		j.t.Fatal(err)
	}
	if exited != nil {
		return string(out), exited.ExitCode()
	}
	return string(out), exitOK
}

func (j *job) send(partition int, value string) {
	j.t.Helper()
	resp, err := j.client().Produce(j.t.Context(), &kafka.ProduceRequest{Topic: j.topic, Partition: partition, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value)), Time: time.Now()})})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// deleteRecords takes the records of a partition before an offset out of the topic.
func (j *job) deleteRecords(partition int32, before int64) {
	j.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...))
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: j.topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: before}}}}
	for _, shard := range client.RequestSharded(j.t.Context(), req) {
		if shard.Err != nil {
			j.t.Fatal(shard.Err)
		}
		if low := shard.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].LowWatermark; low != before {
			j.t.Fatalf("partition %d now begins at %d, expected %d", partition, low, before)
		}
	}
}

// lastObject reads the last JSON line.
func lastObject[T any](t *testing.T, out string) (v T) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return v
}

// startBroker is the script command `broker TOPIC N [DELETED]`: a Kafka with N records in each of two partitions of a topic, and the first
// ones of partition 1 deleted. The environment then names it.
func startBroker(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: broker TOPIC RECORDS DELETED")
	}
	records, err := strconv.Atoi(args[1])
	ts.Check(err)
	deleted, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, args[0]))
	ts.Check(err)
	ts.Defer(cluster.Close)
	client := &kafka.Client{Addr: kafka.TCP(cluster.ListenAddrs()...)}
	for partition := range 2 {
		batch := make([]kafka.Record, records)
		for i := range batch {
			batch[i] = kafka.Record{Value: kafka.NewBytes([]byte(`{"id":"a","at":1356998400000}`)), Time: time.UnixMilli(1356998400000 + int64(i)*1000)}
		}
		resp, err := client.Produce(context.Background(), &kafka.ProduceRequest{Topic: args[0], Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(batch...)})
		ts.Check(err)
		ts.Check(resp.Error)
	}
	if deleted > 0 {
		ts.Check(cluster.DeleteRecords(args[0], 1, deleted))
	}
	ts.Setenv("BRINE_KAFKA_BROKERS", strings.Join(cluster.ListenAddrs(), ","))
}
