package testenv_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"go.uber.org/goleak"

	"brine/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKafkaFakeHasTheTopics(t *testing.T) {
	topic := testenv.Name(t)
	cluster := testenv.KafkaFake(t, 3, topic)
	countPartitions(t, cluster.ListenAddrs()[0], topic, 3)
}

func TestRealKafkaAnswers(t *testing.T) {
	conn, err := kafka.DialContext(t.Context(), "tcp", testenv.Kafka(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	topic := testenv.Name(t)
	if err := conn.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.DeleteTopics(topic); err != nil {
			t.Error(err)
		}
	}()
	countPartitions(t, testenv.Kafka(t)[0], topic, 2)
}

// countPartitions waits until a new topic is known: a broker answers before it knows the topic itself.
func countPartitions(t *testing.T, addr, topic string, want int) {
	t.Helper()
	conn, err := kafka.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got, err := conn.ReadPartitions(topic)
		if err == nil && len(got) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d partitions of %s, %v; want %d", len(got), topic, err, want)
		}
	}
}

func TestRealHBaseAnswers(t *testing.T) {
	if got := testenv.HBase(t); !strings.HasPrefix(got, "rpc://") {
		t.Fatalf("HBase is at %q, want rpc://host:port", got)
	}
	if got := testenv.HBaseZooKeeper(t); !strings.HasSuffix(got, "/hbase") {
		t.Fatalf("ZooKeeper is at %q, want zk://host:port/hbase", got)
	}
}

func TestRealElasticsearchCutsChineseIntoWords(t *testing.T) {
	url := testenv.Elasticsearch(t) + "/_analyze"
	resp, err := http.Post(url, "application/json", strings.NewReader(`{"analyzer": "smartcn", "text": "快递已到达上海"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	var answer struct{ Tokens []struct{ Token string } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, token := range answer.Tokens {
		words = append(words, token.Token)
	}
	if got := strings.Join(words, " "); got != "快递 已 到达 上海" {
		t.Errorf("cut into %q", got)
	}
}

func TestRealElasticsearchAnswers(t *testing.T) {
	if got := testenv.Elasticsearch(t); !strings.HasPrefix(got, "http://127.0.0.1:") {
		t.Fatalf("Elasticsearch is at %q, want a loopback URL", got)
	}
}

func TestJavaRunsWhatItCompiled(t *testing.T) {
	source := filepath.Join(t.TempDir(), "Hello.java")
	code := `public class Hello {
		public static void main(String[] args) { System.out.print(org.apache.hadoop.hbase.util.VersionInfo.getVersion() + " " + args[0]); }
	}`
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := testenv.Java(t).Compile(t, source).Command(t, "Hello", "hello").Output()
	if err != nil || string(out) != "2.6.4-hadoop3 hello" {
		t.Fatalf("got %q, %v", out, err)
	}
}

func TestNamesAreUniqueAndFitEveryServer(t *testing.T) {
	fits := regexp.MustCompile(`^[a-z][a-z0-9_]{0,79}$`)
	t.Run("Größe/with a/slash", func(t *testing.T) {
		a, b := testenv.Name(t), testenv.Name(t)
		if a == b || !fits.MatchString(a) {
			t.Errorf("names %q and %q", a, b)
		}
	})
}

// record stands in for a test and records how it ended.
type record struct {
	testing.TB
	skipped, failed string
}

func (r *record) Helper()                           {}
func (r *record) Skip(args ...any)                  { r.skipped = args[0].(string); panic(r) }
func (r *record) Skipf(format string, args ...any)  { r.skipped = format; panic(r) }
func (r *record) Fatalf(format string, args ...any) { r.failed = format; panic(r) }

func TestMissingServerSkipsOrFails(t *testing.T) {
	for _, c := range []struct {
		real          string
		skips, failed bool
	}{{"", true, false}, {"required", false, true}, {"off", true, false}} {
		t.Run("BRINE_REAL="+c.real, func(t *testing.T) {
			t.Setenv("BRINE_REAL", c.real)
			t.Setenv("BRINE_REAL_KAFKA", "127.0.0.1:1") // nothing listens there
			r := &record{TB: t}
			func() {
				defer func() { _ = recover() }()
				testenv.Kafka(r)
			}()
			if (r.skipped != "") != c.skips || (r.failed != "") != c.failed {
				t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
			}
		})
	}
}
