package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/hbase"
	"brine/internal/sample"
)

// contents is a table as found by a scan.
type contents struct {
	rows, cells int
	digest      string // over every cell with its version, in order
}

func (c contents) String() string {
	return fmt.Sprintf("%d rows, %d cells, SHA-256 %s", c.rows, c.cells, c.digest[:16])
}

func scanTable(t *testing.T, connect, table string, by ...*hbase.TLS) contents {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect, TLS: only(by)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var c contents
	sum := sha256.New()
	field := func(b []byte) {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		sum.Write(b)
	}
	for row, err := range client.Scan(t.Context(), table, hbase.Scan{MaxVersions: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		c.rows++
		for _, cell := range row.Cells {
			c.cells++
			field(cell.Row)
			field(cell.Family)
			field(cell.Qualifier)
			field(cell.Value)
			sum.Write(binary.BigEndian.AppendUint64(nil, uint64(cell.Timestamp)))
		}
	}
	c.digest = hex.EncodeToString(sum.Sum(nil))
	return c
}

// shared is created by the first test that needs it, for all that do.
type shared[T any] struct {
	once sync.Once
	made *T
}

func (s *shared[T]) by(t *testing.T, do func() T) T {
	t.Helper()
	s.once.Do(func() {
		v := do()
		s.made = &v
	})
	if s.made == nil {
		t.Fatal("the test that was to make what this one needs has failed")
	}
	return *s.made
}

var calmScans shared[contents]

// undisturbedScans is the result of undisturbed for all scans.
func undisturbedScans(t *testing.T) contents {
	t.Helper()
	return calmScans.by(t, func() contents { return undisturbed(t, sample.Scans()) })
}

// undisturbed returns the table that one calm run on the embedded stack makes of these events.
func undisturbed(t *testing.T, events iter.Seq[[]byte]) contents {
	t.Helper()
	j := newJob(t, embeddedStack(t))
	j.publish(events)
	j.must("run", "-q", "-c", j.file, "--until-end")
	return scanTable(t, j.hbase, j.table)
}

func TestScansEndToEnd(t *testing.T) {
	t.Parallel()
	want := undisturbedScans(t)
	if want.rows != sample.ScanCount {
		t.Fatalf("the table has %d rows of %d events", want.rows, sample.ScanCount)
	}
	t.Logf("embedded Kafka and HBase: %d events went through: %v", sample.ScanCount, want)
	t.Run("real", func(t *testing.T) {
		j := newJob(t, realStack(t))
		n := j.publish(sample.Scans())
		j.must("run", "-q", "-c", j.file, "--until-end")
		got := scanTable(t, j.hbase, j.table)
		t.Logf("real Kafka and HBase: %d events went through: %v", n, got)
		if got != want {
			t.Fatalf("the tables differ: real %v, embedded %v", got, want)
		}
		t.Log("the tables of the embedded and the real run are cell-for-cell equal")
	})
}

// TestKillInMidStream kills brine with SIGKILL again and again while events come in. Afterwards every event is in the table exactly once,
// and the table is cell for cell that of a calm run.
func TestKillInMidStream(t *testing.T) {
	notShort(t)
	t.Parallel()
	want := undisturbedScans(t)
	for name, servers := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for the sessions of killed members
			j := newJob(t, servers(t))
			j.shortSessions()
			// slow enough for a kill to hit it in the middle on any machine
			j.replace("    topic: ", "    read: { rate: 20000 }\n    topic: ")
			const kills = 4
			unsettled := 0
			for i := range kills {
				j.publish(first(sample.Scans(), sample.ScanCount*(i+1)/kills))
				before := j.uncommitted("rows")
				cmd := j.command("run", "-q", "-c", j.file)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				j.progress("rows", before)
				wait(t, time.Duration(rand.IntN(50))*time.Millisecond)
				kill(t, cmd)
				unsettled += j.uncommitted("rows")
			}
			if unsettled == 0 {
				t.Fatal("every kill came after everything had been committed: the test tried nothing")
			}
			j.must("run", "-q", "-c", j.file, "--until-end")
			if left := j.uncommitted("rows"); left != 0 {
				t.Errorf("%d records are not committed after the drain", left)
			}
			got := scanTable(t, j.hbase, j.table)
			t.Logf("%d kills, %d records uncommitted at them in all: %v", kills, unsettled, got)
			if got != want {
				t.Fatalf("after the kills %v, undisturbed %v", got, want)
			}
		})
	}
}

// TestKilledWhileItJoins kills brines that wait for another to release partitions. They get a share nevertheless, because nobody knows yet
// that they are gone; a moment later the remaining one reads it.
func TestKilledWhileItJoins(t *testing.T) {
	notShort(t)
	t.Parallel()
	want := undisturbedScans(t)
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		const events, kills = sample.ScanCount, 2
		j.shortSessions()
		half := j.pipeline + ".rows"
		stays := j.begin()
		n := 0
		for i := range kills {
			n += j.publish(first(sample.Scans(), events*(i+1)/kills))
			stays.until(half, n)
			before := stays.half(half).Generation
			cmd := j.command("run", "-q", "-c", j.file)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			j.rebalances()
			kill(t, cmd)
			stays.untilGeneration(half, before+1)
		}
		n += j.publish(sample.Scans())
		stays.until(half, n)
		stays.stop()
		if got := scanTable(t, j.hbase, j.table); got != want {
			t.Errorf("after the kills %v, undisturbed %v", got, want)
		}
	})
}

// rebalances waits until a second member of the rows' group has asked to join. Usually it then waits for the first one.
func (j *job) rebalances() {
	j.t.Helper()
	for {
		resp, err := j.client().DescribeGroups(j.t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{j.group("rows")}})
		if err != nil {
			j.t.Fatal(err)
		}
		if len(resp.Groups[0].Members) > 1 {
			return
		}
		wait(j.t, 5*time.Millisecond)
	}
}

// waits holds when each test began to wait. A test that waits in vain reports where, long before the whole run ends.
var waits sync.Map

// wait lets a process run for a moment. A test that waits many times is limited to standstill in total.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	if first, _ := waits.LoadOrStore(t, time.Now()); time.Since(first.(time.Time)) > standstill {
		t.Fatalf("what it waits for has not come in %v", standstill)
	}
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// first cuts a sequence after n elements.
func first(seq iter.Seq[[]byte], n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for v := range seq {
			if n--; n < 0 || !yield(v) {
				return
			}
		}
	}
}

func TestBundledConfigurationIsGood(t *testing.T) {
	for _, file := range []string{"dev.yaml", "scans.yaml", "scans-packed.yaml", "orders.yaml", "orders-log.yaml", "orders-debezium.yaml", "orders-by-id.yaml"} {
		if _, problems := config.Load("../../examples/"+file, func(string) (string, bool) { return "", false }); len(problems) > 0 {
			t.Errorf("%v", problems)
		}
	}
}
