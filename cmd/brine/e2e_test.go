package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/config"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/ingest"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// stack is a Kafka, an HBase and a search engine that outlive the brine processes of a test.
type stack struct {
	brokers []string
	hbase   string
	search  string // as search.connect; embedded:DIR is in the brine process
	lasting bool   // they outlive the test too: what it makes there it takes away
}

func embeddedStack(t *testing.T) stack {
	t.Helper()
	broker := testenv.KafkaFake(t, devPartitions)
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(t.TempDir(), "search")}
}

func realStack(t *testing.T) stack {
	t.Helper()
	return stack{brokers: testenv.Kafka(t), hbase: testenv.HBase(t), search: testenv.Elasticsearch(t), lasting: true}
}

// example is one of the configurations in examples, and the names in it.
type example struct{ file, pipeline, topic, table, index, key string }

var (
	scansExample  = example{"scans.yaml", "scans", "courier.scans", "logistics:scans", "", "waybill"}
	packedExample = example{"scans-packed.yaml", "scans_packed", "courier.scans", "logistics:scans_packed", "", "waybill"}
	ordersExample = example{"orders.yaml", "orders", "shop.orders", "shop:orders", "orders", "order"}
)

// job is a configuration with names of its own on a stack.
type job struct {
	stack
	example
	t     *testing.T
	file  string
	topic string
	table string
	name  string // also of the index
}

// newJob is a job of examples/scans.yaml.
func newJob(t *testing.T, s stack) *job {
	t.Helper()
	return newJobOf(t, s, scansExample)
}

// newJobOf makes the topic and the configuration of an example under names of this test, and creates the table and the index.
func newJobOf(t *testing.T, s stack, x example) *job {
	t.Helper()
	source, err := os.ReadFile("../../examples/" + x.file)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{stack: s, example: x, t: t, name: testenv.Name(t)}
	namespace, _, _ := strings.Cut(x.table, ":")
	j.topic, j.table = j.name, namespace+":"+j.name
	if s.lasting {
		t.Cleanup(j.takeAway)
	}
	text := strings.NewReplacer(x.table, j.table, x.topic, j.topic,
		"indexes:\n  "+x.index+":", "indexes:\n  "+j.name+":", "index: "+x.index+"\n", "index: "+j.name+"\n",
		// A member that was killed holds its partitions until its session ends: as short as brokers allow.
		"group: brine", "group: "+j.name+"\n  session_timeout: 6s\n  rebalance_timeout: 6s\n  commit_interval: 100ms").Replace(string(source))
	j.file = filepath.Join(t.TempDir(), "brine.yaml")
	if err := os.WriteFile(j.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := createTopic(t.Context(), j.client(), j.topic, devPartitions); err != nil {
		t.Fatal(err)
	}
	j.must("tables", "apply", "-c", j.file)
	return j
}

// replace changes the job's configuration.
func (j *job) replace(old, new string) {
	j.t.Helper()
	source, err := os.ReadFile(j.file)
	if err != nil {
		j.t.Fatal(err)
	}
	if err := os.WriteFile(j.file, []byte(strings.Replace(string(source), old, new, 1)), 0o600); err != nil {
		j.t.Fatal(err)
	}
}

// takeAway deletes what the job has made on servers that go on.
func (j *job) takeAway() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the test's own has ended
	defer cancel()
	if _, err := j.client().DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{j.topic, j.topic + ".dead"}}); err != nil {
		j.t.Error(err)
	}
	client, err := hbase.Open(ctx, hbase.Options{Connect: j.hbase})
	if err != nil {
		j.t.Error(err)
		return
	}
	defer client.Close()
	if err := errors.Join(client.DisableTable(ctx, j.table), client.DeleteTable(ctx, j.table)); err != nil {
		j.t.Error(err)
	}
	if j.index != "" {
		j.deleteIndex(ctx)
	}
}

func (j *job) client() *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(j.brokers...), Timeout: 10 * time.Second}
}

// command makes a brine process on this job's servers.
func (j *job) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(j.t.Context(), "brine", args...)
	cmd.Env = append(os.Environ(), "BRINE_KAFKA_BROKERS="+strings.Join(j.brokers, ","), "BRINE_HBASE_CONNECT="+j.hbase, "BRINE_SEARCH_CONNECT="+j.search, "BRINE_HTTP_LISTEN=127.0.0.1:0")
	return cmd
}

// must runs a brine process that has to succeed, and gives its output.
func (j *job) must(args ...string) string {
	j.t.Helper()
	out, err := j.command(args...).CombinedOutput()
	if err != nil {
		j.t.Fatalf("brine %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (j *job) publish(records iter.Seq[[]byte]) int {
	j.t.Helper()
	p := publisher{client: j.client(), kafka: ingest.Kafka{Brokers: j.brokers}, topic: j.topic}
	n, err := p.publish(j.t.Context(), keyed(certain(records), j.key))
	if err != nil {
		j.t.Fatal(err)
	}
	return n
}

// contents is a table as a scan finds it.
type contents struct {
	rows, cells int
	digest      string // of every cell with its version, in order
}

func (c contents) String() string {
	return fmt.Sprintf("%d rows, %d cells, SHA-256 %s", c.rows, c.cells, c.digest[:16])
}

func scanTable(t *testing.T, connect, table string) contents {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
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

// undisturbed is the table that one calm run on the embedded stack makes of these events.
func undisturbed(t *testing.T, events iter.Seq[[]byte]) contents {
	t.Helper()
	j := newJob(t, embeddedStack(t))
	j.publish(events)
	j.must("run", "-q", "-c", j.file, "--until-end")
	return scanTable(t, j.hbase, j.table)
}

func TestScansEndToEnd(t *testing.T) {
	want := undisturbed(t, sample.Scans())
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

// TestKillInMidStream kills brine with SIGKILL again and again while events come in: afterwards every event is in the table
// exactly once, and the table is cell for cell what a calm run makes.
func TestKillInMidStream(t *testing.T) {
	want := undisturbed(t, sample.Scans())
	for name, servers := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, servers(t))
			// Slow enough for a kill to hit it in the middle on any machine.
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
				for j.uncommitted("rows") == before {
					wait(t, time.Millisecond)
				}
				wait(t, time.Duration(rand.IntN(50))*time.Millisecond)
				if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // killed: that is the point
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

// wait lets a process run for a moment that is drawn at random: the test wants to hit it anywhere.
func wait(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// uncommitted is the number of records that the group of one of the job's halves, rows or documents, has not committed.
func (j *job) uncommitted(half string) int {
	j.t.Helper()
	ends, err := endOffsets(j.t.Context(), j.client(), j.topic)
	if err != nil {
		j.t.Fatal(err)
	}
	n := sum(ends)
	for _, offset := range j.committed(j.name + "." + j.pipeline + "." + half) {
		n -= offset
	}
	return int(n)
}

// first cuts a sequence after n.
func first(seq iter.Seq[[]byte], n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for v := range seq {
			if n--; n < 0 || !yield(v) {
				return
			}
		}
	}
}

// TestDevGoesOnWhereItWas kills a whole `brine dev`, servers and all, and starts it again on the same folder: the rows of both
// pipelines and the documents are what undisturbed runs make.
func TestDevGoesOnWhereItWas(t *testing.T) {
	want := undisturbed(t, devScans())
	wantOrders := undisturbedOrders(t, slices.Collect(sample.Orders(devOrders)))
	dir := filepath.Join(t.TempDir(), "data")
	for range 4 {
		cmd := exec.CommandContext(t.Context(), "brine", "dev", "--json", "--data", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, time.Duration(300+rand.IntN(2000))*time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed: that is the point
	}
	out := runDev(t, dir)
	for _, part := range []string{"65,649 events are in Kafka, and as rows and documents in HBase and the index", "UA-1545-20130101-EWR", "DEPART", "ARRIVE"} {
		if !strings.Contains(out, part) {
			t.Errorf("the output lacks %q:\n%s", part, out)
		}
	}
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "hbase")})
	if err != nil {
		t.Fatal(err)
	}
	servers := stack{hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(dir, "search")}
	if got := scanTable(t, servers.hbase, "logistics:scans"); got != want {
		t.Errorf("after the kills %v, undisturbed %v", got, want)
	}
	dev := job{stack: servers, example: ordersExample, t: t, file: "../../examples/dev.yaml", table: "shop:orders", name: "orders"}
	dev.expect(wantOrders)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if again := runDev(t, dir); !strings.Contains(again, " 0 of them new") {
		t.Errorf("a second start must publish nothing:\n%s", again)
	}
}

// runDev runs brine dev until it has shown the timeline, and then asks it to stop.
func runDev(t *testing.T, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "brine", "dev", "--data", dir)
	var out strings.Builder
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for asked := false; ; {
		n, err := pipe.Read(buf)
		out.Write(buf[:n])
		if !asked && strings.Contains(out.String(), "Ctrl-C stops") {
			asked = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("brine dev: %v\n%s", err, out.String())
	}
	return out.String()
}

func TestBundledConfigurationIsGood(t *testing.T) {
	for _, file := range []string{"dev.yaml", "scans.yaml", "scans-packed.yaml", "orders.yaml", "orders-log.yaml", "orders-by-id.yaml"} {
		if _, problems := config.Load("../../examples/"+file, func(string) (string, bool) { return "", false }); len(problems) > 0 {
			t.Errorf("%v", problems)
		}
	}
}
