package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/ingest/embedded"
	"brine/internal/datadir/datadirtest"
)

const (
	damageRecords = 120
)

// startIn starts a Kafka in a folder.
func startIn(t *testing.T, dir string) (*embedded.Broker, error) {
	t.Helper()
	return embedded.StartIn(dir, net.Listen, func(err error) { panic(err) }, kfake.NumBrokers(1), kfake.Ports(0), kfake.BrokerConfigs(map[string]string{"log.segment.bytes": "4096"}),
		kfake.SeedTopics(2, "shop.orders"))
}

// kafkaFolders returns a Kafka's folder after it was closed, and as a kill -9 leaves it, with a snapshot from an earlier start.
func kafkaFolders(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kafka")
	for i := range 2 {
		b, err := startIn(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
		if err != nil {
			t.Fatal(err)
		}
		for n := range damageRecords / 2 {
			r := &kgo.Record{Topic: "shop.orders", Partition: int32(n % 2), Value: fmt.Appendf(nil, "record %d %0100d", n+i*damageRecords/2, n)}
			if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		client.Close()
		if i == 1 {
			killed := datadirtest.Copy(t, dir)
			b.Close()
			return map[string]string{"closed": dir, "killed": killed}
		}
		b.Close()
	}
	return nil
}

// recordsIn reads all records of a Kafka.
func recordsIn(t *testing.T, b *embedded.Broker) map[string]bool {
	t.Helper()
	records := map[string]bool{}
	end := map[int32]int64{}
	for p := range int32(2) {
		if info := b.PartitionInfo("shop.orders", p); info != nil {
			end[p] = info.HighWatermark
		}
	}
	from := map[int32]kgo.Offset{}
	for p, n := range end {
		if n > 0 {
			from[p] = kgo.NewOffset().AtStart()
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"shop.orders": from}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for len(from) > 0 {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			records[string(r.Value)] = true
			if r.Offset+1 >= end[r.Partition] {
				delete(from, r.Partition)
			}
		})
	}
	return records
}

// TestDamageIsNeverSilent checks that, whatever happens to a file, Kafka refuses to start and names it, or has every record.
func TestDamageIsNeverSilent(t *testing.T) {
	for state, dir := range kafkaFolders(t) {
		refused := 0
		t.Run(state, func(t *testing.T) {
			datadirtest.Each(t, dir, datadirtest.Damages, func(t *testing.T, dir, name string) {
				if noticed(t, dir, name) {
					refused++
				}
			})
		})
		if refused < 30 {
			t.Errorf("%s: only %d damages were noticed", state, refused)
		}
	}
}

// noticed starts a Kafka on a folder with a damaged file, and reports whether the damage was noticed.
func noticed(t *testing.T, dir, name string) bool {
	t.Helper()
	b, err := startIn(t, dir)
	if err == nil {
		defer b.Close()
		if n := len(recordsIn(t, b)); n != damageRecords {
			t.Fatalf("%d records of %d, and no error", n, damageRecords)
		}
		return false
	}
	if !errors.Is(err, embedded.ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, name)+" is damaged") {
		t.Errorf("%v does not name %s", err, name)
	}
	if _, again := startIn(t, dir); again == nil || again.Error() != err.Error() {
		t.Errorf("the second time it says %v", again)
	}
	return true
}

// TestTornTailOpens checks that what a process killed during a write leaves is not damage, and that everything acknowledged is there.
func TestTornTailOpens(t *testing.T) {
	dir := kafkaFolders(t)["killed"]
	segments, err := filepath.Glob(filepath.Join(dir, "partitions", "shop.orders-0", "*.dat"))
	if err != nil || len(segments) < 2 {
		t.Fatalf("%v, %v", segments, err)
	}
	last := segments[0]
	for _, s := range segments {
		if len(s) > len(last) || len(s) == len(last) && s > last {
			last = s
		}
	}
	file, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []int{1, 12, 61, 90} {
		to := datadirtest.Copy(t, dir)
		name := filepath.Join(to, strings.TrimPrefix(last, dir))
		if err := os.WriteFile(name, append(bytes.Clone(file), file[:more]...), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := startIn(t, to)
		if err != nil {
			t.Fatalf("%d bytes of a batch: %v", more, err)
		}
		if n := len(recordsIn(t, b)); n != damageRecords {
			t.Errorf("%d bytes of a batch: %d records of %d", more, n, damageRecords)
		}
		b.Close()
	}
}
