package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/datadir/datadirtest"
)

// warnings collects what a broker reports about its folder.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, err.Error())
}

func (w *warnings) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

// TestTornStateIsCutOff: a partial entry that a write left in a state log is removed before kfake appends after it; the cause is reported
// once, and cleared after a while.
func TestTornStateIsCutOff(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "groups.log")
	rest := []byte("\x01\x00an entry")
	whole := binary.LittleEndian.AppendUint32(nil, uint32(len(rest)))
	whole = append(binary.LittleEndian.AppendUint32(whole, crc32.Checksum(rest, castagnoli)), rest...)
	if err := os.WriteFile(path, append(append([]byte{}, whole...), whole[:5]...), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var warned warnings
		d := &disk{dir: dir, warn: warned.add}
		for range 3 {
			d.Logf(kfake.LogLevelWarn, "persist group entry write: %v", &fs.PathError{Op: "write", Path: path, Err: syscall.EIO})
		}
		if log, err := os.ReadFile(path); err != nil || string(log) != string(whole) {
			t.Errorf("the log is %q, %v; want %q", log, err, whole)
		}
		if !errors.Is(d.refuses(), syscall.EIO) || !errors.Is(d.err(), syscall.EIO) {
			t.Errorf("after a failed write: refuses %v, %v", d.refuses(), d.err())
		}
		d.look()
		if d.err() == nil {
			t.Error("forgotten at once")
		}
		time.Sleep(retryAfter)
		if d.look(); d.refuses() != nil || d.err() != nil {
			t.Errorf("a while later: refuses %v, %v", d.refuses(), d.err())
		}
		want := "the data folder cannot be written: write " + path + ": input/output error\nthe data folder is writable again"
		if warned.all() != want {
			t.Errorf("warned %q, want %q", warned.all(), want)
		}
	})
}

// TestRefusals checks that requests that need a write are answered, part by part, with an error that clients retry.
func TestRefusals(t *testing.T) {
	for _, q := range []kmsg.Request{
		&kmsg.ProduceRequest{Version: 9, Topics: []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 3}}}}},
		&kmsg.OffsetCommitRequest{Version: 8, Topics: []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 3}}}}},
		&kmsg.CreateTopicsRequest{Version: 7, Topics: []kmsg.CreateTopicsRequestTopic{{Topic: "t"}}},
		&kmsg.InitProducerIDRequest{Version: 4},
		&kmsg.EndTxnRequest{Version: 3},
	} {
		var code int16
		at := int32(3)
		switch r := fullResponse(q, syscall.ENOSPC).(type) {
		case *kmsg.ProduceResponse:
			code, at = r.Topics[0].Partitions[0].ErrorCode, r.Topics[0].Partitions[0].Partition
		case *kmsg.OffsetCommitResponse:
			code, at = r.Topics[0].Partitions[0].ErrorCode, r.Topics[0].Partitions[0].Partition
		case *kmsg.CreateTopicsResponse:
			code = r.Topics[0].ErrorCode
		case *kmsg.InitProducerIDResponse:
			code = r.ErrorCode
		case *kmsg.EndTxnResponse:
			code = r.ErrorCode
		}
		if at != 3 || !kerr.IsRetriable(kerr.ErrorForCode(code)) {
			t.Errorf("%T is answered with code %d for partition %d", q, code, at)
		}
	}
}

// TestKafkaOnAFullDisk: on a full disk of 20 MB nothing is acknowledged, the cause is reported, and everything acknowledged is there once
// there is space again, in this process and in the next, whether or not this one could write its state when it ended.
func TestKafkaOnAFullDisk(t *testing.T) {
	mount := datadirtest.SmallDisk(t)
	dir, ballast := filepath.Join(mount, "kafka"), filepath.Join(mount, "ballast")
	var warned warnings
	b, client := startOn(t, dir, warned.add)
	acknowledged := 0
	produce := func() error {
		err := client.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(acknowledged))).FirstErr()
		if err == nil {
			acknowledged++
		}
		return err
	}
	if err := produce(); err != nil {
		t.Fatal(err)
	}
	for end := range 2 {
		datadirtest.Fill(t, ballast)
		if err := produce(); !errors.Is(err, kerr.KafkaStorageError) && !errors.Is(err, kgo.ErrRecordRetries) {
			t.Errorf("a record on a full disk: %v", err)
		}
		if err := b.Broken(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(warned.all(), "no space left on device") || !strings.Contains(warned.all(), dir) {
			t.Errorf("Broken is %v, warned %q", err, warned.all())
		}
		if end == 1 {
			break
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		for b.Broken() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		if err := produce(); err != nil {
			t.Error(err)
		}
	}
	client.Close()
	b.Close() // while the disk is full
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	b, client = startOn(t, dir, warned.add)
	defer b.Close()
	defer client.Close()
	if n := countRecords(t, client); n != acknowledged {
		t.Errorf("%d records, %d were acknowledged", n, acknowledged)
	}
}

func startOn(t *testing.T, dir string, warn func(error)) (*Broker, *kgo.Client) {
	t.Helper()
	b, err := StartIn(dir, net.Listen, warn, kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"), kgo.DisableIdempotentWrite(),
		kgo.RecordRetries(2), kgo.MetadataMinAge(10*time.Millisecond), kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	return b, client
}

// countRecords reads the topic to its end.
func countRecords(t *testing.T, client *kgo.Client) int {
	t.Helper()
	q := kmsg.NewPtrListOffsetsRequest()
	q.ReplicaID = -1
	q.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -1, CurrentLeaderEpoch: -1}}}}
	r, err := q.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	end := int(r.Topics[0].Partitions[0].Offset)
	n := 0
	for n < end {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		n += fetches.NumRecords()
	}
	return n
}
