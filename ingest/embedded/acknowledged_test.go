package embedded_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest/embedded"
	"brine/internal/datadir/datadirtest"
)

// segmentsOf returns the segments of a partition in offset order, as paths without a suffix.
func segmentsOf(t *testing.T, partition string) (segments []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(partition, "*.dat"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("%v, %v", paths, err)
	}
	slices.SortFunc(paths, func(a, b string) int { return baseOf(t, a) - baseOf(t, b) })
	for _, path := range paths {
		segments = append(segments, strings.TrimSuffix(path, ".dat"))
	}
	return segments
}

func baseOf(t *testing.T, path string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".dat"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func removeSegment(path string) error {
	return errors.Join(os.Remove(path+".dat"), os.Remove(path+".idx"))
}

// cutAtBatch cuts segment and index after the segment's first batch.
func cutAtBatch(path string) error {
	file, err := os.ReadFile(path + ".dat")
	if err != nil {
		return err
	}
	return errors.Join(os.Truncate(path+".dat", int64(12+binary.BigEndian.Uint32(file[8:]))), os.Truncate(path+".idx", 15))
}

// losses are ways to lose parts of a partition's folder such that the remaining files agree with each other.
var losses = map[string]func(t *testing.T, partition string) error{
	"its last segment is gone":    func(t *testing.T, dir string) error { s := segmentsOf(t, dir); return removeSegment(s[len(s)-1]) },
	"its first segment is gone":   func(t *testing.T, dir string) error { return removeSegment(segmentsOf(t, dir)[0]) },
	"another segment is gone":     func(t *testing.T, dir string) error { return removeSegment(segmentsOf(t, dir)[1]) },
	"it is gone":                  func(_ *testing.T, dir string) error { return os.RemoveAll(dir) },
	"a segment is cut at a batch": func(t *testing.T, dir string) error { return cutAtBatch(segmentsOf(t, dir)[1]) },
	"the last is cut at a batch":  func(t *testing.T, dir string) error { s := segmentsOf(t, dir); return cutAtBatch(s[len(s)-1]) },
}

// TestLossAfterAKillIsNeverSilent: what a partition lacks after a kill -9 is noticed even if the partition's files agree, and Repair
// reports what it was.
func TestLossAfterAKillIsNeverSilent(t *testing.T) {
	killed := kafkaFolders(t)["killed"]
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			dir := datadirtest.Copy(t, killed)
			partition := filepath.Join("partitions", "shop.orders-1")
			if err := lose(t, filepath.Join(dir, partition)); err != nil {
				t.Fatal(err)
			}
			if !noticed(t, dir, partition) {
				t.Fatal("nothing was noticed")
			}
			r, err := embedded.Repair(dir, dir+".damaged")
			if err != nil {
				t.Fatal(err)
			}
			lost := strings.Join(r.Lost, "\n")
			if !strings.Contains(lost, partition) || !strings.Contains(lost, "offsets ") {
				t.Errorf("lost: %q", r.Lost)
			}
			b, err := startIn(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if n := len(recordsIn(t, b)); int64(n) != r.Records || n >= damageRecords {
				t.Errorf("%d records, %d saved", n, r.Records)
			}
		})
	}
}

// TestWhatWasDeletedIsNotMissed checks that after a kill -9, regularly deleted data is not reported as missing.
func TestWhatWasDeletedIsNotMissed(t *testing.T) {
	deletions := map[string]func() kmsg.Request{
		"records": func() kmsg.Request {
			q := kmsg.NewPtrDeleteRecordsRequest()
			to := []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 1, Offset: -1}}
			q.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "shop.orders", Partitions: to}}
			return q
		},
		"a topic": func() kmsg.Request {
			q := kmsg.NewPtrDeleteTopicsRequest()
			topic := "shop.orders"
			q.TopicNames, q.Topics = []string{topic}, []kmsg.DeleteTopicsRequestTopic{{Topic: &topic}}
			return q
		},
	}
	for name, deletion := range deletions {
		t.Run(name, func(t *testing.T) {
			dir := kafkaFolders(t)["killed"]
			b, err := startIn(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			request(t, b, deletion())
			killed, err := startIn(t, datadirtest.Copy(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			killed.Close()
			create := kmsg.NewPtrCreateTopicsRequest() // it may exist
			create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "shop.orders", NumPartitions: 2, ReplicationFactor: 1}}
			request(t, b, create)
			client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			another := &kgo.Record{Topic: "shop.orders", Partition: 1, Value: []byte("another")}
			if err := client.ProduceSync(t.Context(), another).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if killed, err = startIn(t, datadirtest.Copy(t, dir)); err != nil {
				t.Fatal(err)
			}
			killed.Close()
		})
	}
}

func request(t *testing.T, b *embedded.Broker, q kmsg.Request) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Request(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

// TestMarkersAreAcknowledged: after a kill -9 at any time, a committed transaction stays committed, and a missing marker is noticed: its
// records would be taken for those of a killed producer.
func TestMarkersAreAcknowledged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kafka")
	b, err := startIn(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.TransactionalID("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "shop.orders", Value: []byte("committed")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	killed := datadirtest.Copy(t, dir)
	if got := committedIn(t, datadirtest.Copy(t, killed)); !slices.Equal(got, []string{"committed"}) {
		t.Errorf("committed records: %q", got)
	}
	partition := filepath.Join("partitions", "shop.orders-0")
	segments, err := filepath.Glob(filepath.Join(killed, partition, "*.dat"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	if err := cutAtBatch(strings.TrimSuffix(segments[0], ".dat")); err != nil {
		t.Fatal(err)
	}
	if b, err := startIn(t, killed); !errors.Is(err, embedded.ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(killed, partition)+" is damaged") {
		t.Errorf("without the marker it says %v", err)
		if err == nil {
			b.Close()
			t.Errorf("and has %q", committedIn(t, killed))
		}
	}
}

// committedIn returns what is committed in the first partition of a folder.
func committedIn(t *testing.T, dir string) (values []string) {
	t.Helper()
	b, err := startIn(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"shop.orders": {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for at, end := int64(0), b.PartitionInfo("shop.orders", 0).HighWatermark; at < end; {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if at = r.Offset + 1; !r.Attrs.IsControl() {
				values = append(values, string(r.Value))
			}
		})
	}
	return values
}
