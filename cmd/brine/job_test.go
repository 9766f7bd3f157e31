package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/publish"
	"brine/service/devstack"
)

// stack is a Kafka, an HBase and a search engine that outlive the brine processes of a test.
type stack struct {
	brokers  []string
	hbase    string
	search   string          // as in search.connect; embedded:DIR is in the brine process
	lasting  bool            // the servers outlive the test too, so it removes what it creates
	tls      *hbase.TLS      // to reach the HBase; nil: plain text
	kerberos *hbase.Kerberos // nil: HBase believes the user name
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
	name  string // also the index's
}

// newJob returns a job of examples/scans.yaml.
func newJob(t *testing.T, s stack) *job {
	t.Helper()
	return newJobOf(t, s, scansExample)
}

// newJobOf creates the topic and the configuration of an example under names of this test, and the table and the index.
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
	beside, err := filepath.Abs(filepath.Join("../../examples", filepath.Dir(x.file)))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(x.table, j.table, "schema: orders.", "schema: "+filepath.Join(beside, "orders."), x.topic, j.topic,
		"indexes:\n  "+x.index+":", "indexes:\n  "+j.name+":", "index: "+x.index+"\n", "index: "+j.name+"\n",
		"group: brine", "group: "+j.name+"\n  commit_interval: 100ms").Replace(string(source))
	j.file = filepath.Join(t.TempDir(), "brine.yaml")
	if err := os.WriteFile(j.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := createTopicBy(t.Context(), j.client(), j.topic, devPartitions); err != nil {
		t.Fatal(err)
	}
	j.must("tables", "apply", "-c", j.file)
	return j
}

// onStacks runs a test with a job on each of the stacks, in parallel.
func onStacks(t *testing.T, x example, test func(t *testing.T, j *job)) {
	for name, start := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newJobOf(t, start(t), x))
		})
	}
}

// replace changes the job's configuration.
func (j *job) replace(old, new string) {
	j.t.Helper()
	source, err := os.ReadFile(j.file)
	if err != nil {
		j.t.Fatal(err)
	}
	if !strings.Contains(string(source), old) {
		j.t.Fatalf("the configuration has no %q:\n%s", old, source)
	}
	if err := os.WriteFile(j.file, []byte(strings.Replace(string(source), old, new, 1)), 0o600); err != nil {
		j.t.Fatal(err)
	}
}

// shortSessions is for jobs whose brine is killed: a killed member holds its partitions until its session ends. These sessions are the
// shortest that brokers allow. A busy machine can miss one, and then records are written twice.
func (j *job) shortSessions() {
	j.t.Helper()
	j.replace("  commit_interval: 100ms", "  session_timeout: 6s\n  rebalance_timeout: 6s\n  commit_interval: 100ms")
}

// takeAway deletes what the job has created on servers that go on.
func (j *job) takeAway() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // the test's own context has ended
	defer cancel()
	if _, err := j.client().DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{j.topic, j.topic + ".dead", j.name + ".control"}}); err != nil {
		j.t.Error(err)
	}
	dropTable(j.t, j.hbase, j.table, j.tls)
	if j.index != "" {
		j.deleteIndex(ctx)
	}
}

func (j *job) client() *kafka.Client {
	transport := ingest.Kafka{}.Transport() // the usual one goes on asking after the test, whoever has the broker's port by then
	j.t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(j.brokers...), Timeout: time.Minute, Transport: transport}
}

// standstill is how long a brine process of a test may run before it must print where it stands, and how long a test may wait for one.
const standstill = 15 * time.Minute

// command returns a brine process on this job's servers. One that does not end must print all its goroutines, and ends.
func (j *job) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(j.t.Context(), standstill)
	j.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "brine", args...)
	cmd.Cancel = func() error {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return cmd.Process.Signal(syscall.SIGQUIT)
		}
		return cmd.Process.Kill()
	}
	cmd.Env = append(os.Environ(), "BRINE_KAFKA_BROKERS="+strings.Join(j.brokers, ","), "BRINE_HBASE_CONNECT="+j.hbase, "BRINE_SEARCH_CONNECT="+j.search, "BRINE_HTTP_LISTEN=127.0.0.1:0")
	if k := j.kerberos; k != nil {
		cmd.Env = append(cmd.Env, "BRINE_HBASE_KERBEROS_PRINCIPAL="+k.Principal, "BRINE_HBASE_KERBEROS_KEYTAB="+k.Keytab,
			"BRINE_HBASE_KERBEROS_KRB5_CONF="+k.Krb5Conf, "BRINE_HBASE_KERBEROS_QOP="+k.QOP)
	}
	if j.tls != nil {
		cmd.Env = append(cmd.Env, "BRINE_HBASE_TLS_ENABLED=true", "BRINE_HBASE_TLS_CA="+j.tls.CA)
		if j.tls.Cert != "" {
			cmd.Env = append(cmd.Env, "BRINE_HBASE_TLS_CERT="+j.tls.Cert, "BRINE_HBASE_TLS_KEY="+j.tls.Key)
		}
	}
	return cmd
}

// must runs a brine process that must succeed, and returns its output.
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
	a := appenderBy(j.client(), j.topic)
	a.Kafka = ingest.Kafka{Brokers: j.brokers}
	n, err := a.Publish(j.t.Context(), publish.Keyed(certain(records), j.key))
	if err != nil {
		j.t.Fatal(err)
	}
	return n
}

// uncommitted returns the number of records that the group of one of the job's halves, rows or documents, has not committed.
func (j *job) uncommitted(half string) int {
	j.t.Helper()
	ends, err := endOffsets(j.t.Context(), j.client(), j.topic)
	if err != nil {
		j.t.Fatal(err)
	}
	n := sum(ends)
	for _, offset := range j.committed(j.group(half)) {
		n -= offset
	}
	return int(n)
}

// group returns the consumer group of one of the job's halves.
func (j *job) group(half string) string { return j.name + "." + j.pipeline + "." + half }

// progress waits until a half has fewer uncommitted records than before.
func (j *job) progress(half string, before int) {
	j.t.Helper()
	for j.uncommitted(half) >= before {
		wait(j.t, time.Millisecond)
	}
}

// devPartitions is the number of partitions of the jobs' topics.
const devPartitions = devstack.Partitions

// certain makes a sequence that cannot fail of one that can.
func certain(events iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}
