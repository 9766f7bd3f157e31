package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const anyRequestRounds = 3

const guardedTopic = "courier.scans"

func startGuarded(t testing.TB) *Broker {
	t.Helper()
	b, err := Start(kfake.NumBrokers(1), kfake.SeedTopics(2, guardedTopic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// frameOf returns a request in wire form.
func frameOf(q kmsg.Request) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 4), uint16(q.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(q.GetVersion()))
	b = append(b, 0, 0, 0, 7, 0xff, 0xff) // correlation id; no client id
	if q.IsFlexible() {
		b = append(b, 0)
	}
	return sized(q.AppendTo(b))
}

// sized writes b's length into its first four bytes.
func sized(b []byte) []byte {
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// send opens a connection and writes b, as far as the broker reads it.
func send(t testing.TB, broker *Broker, b []byte) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", broker.ListenAddrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).SetLinger(0); err != nil { // otherwise thousands of ports wait
		t.Fatal(err)
	}
	_, _ = c.Write(b) // a broker that refuses does not read all of it
	return c.(*net.TCPConn)
}

// serves fails the test if a client cannot write and read a record.
func serves(t testing.TB, broker *Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.DefaultProduceTopic(guardedTopic), kgo.ConsumeTopics(guardedTopic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	value := fmt.Sprintf("%x", rand.Uint64())
	if err := client.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for found := false; !found; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { found = found || string(r.Value) == value })
	}
}

func bytesOf(t testing.TB, hex string) []byte {
	t.Helper()
	var b []byte
	if _, err := fmt.Sscanf(strings.ReplaceAll(hex, " ", ""), "%x", &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRefusesWhatIsNoRequest sends requests each of which would end kfake alone, or cost it gigabytes or minutes.
func TestRefusesWhatIsNoRequest(t *testing.T) {
	broker := startGuarded(t)
	for _, c := range []struct{ name, bytes string }{
		{"an unknown key", "00000008 7fff 0000 00000001"},
		{"a key of brokers", "00000008 0004 0000 00000001"},
		{"a negative key", "00000008 ffff 0000 00000001"},
		{"a version from the future", "0000000a 0000 0063 00000001 ffff"},
		{"a negative version", "0000000a 0003 ffff 00000001 ffff"},
		{"HTTP", fmt.Sprintf("%x", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")},
		{"TLS", "16030100 c2010000 be0303 0000000000000000"},
		{"a length of 4 GiB", "ffffffff 0000 0003 00000001 ffff"},
		{"a length of 2 GiB", "7fffffff 0000 0003 00000001 ffff"},
		{"no room for a header", "00000002 0000 0003 00000001"},
		{"a client id that is not there", "0000000a 0003 0001 00000001 7fff"},
		{"four billion tags of the header", "0000000f 0003 0009 00000001 ffff ffffffff0f"},
		{"four billion tags of the body", "00000013 0003 000c 00000001 ffff 00 00 00 00 ffffffff0f"},
		{"an array of more than there is", "0000000e 0003 0001 00000001 ffff 7fffffff"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		conn := send(t, broker, bytesOf(t, c.bytes))
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); len(answer) > 0 || isTimeout(err) {
			t.Errorf("%s: answered %x, %v; want the end of the connection", c.name, answer, err)
		}
		conn.Close()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s: took %d bytes", c.name, took)
		}
	}
	serves(t, broker)
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// TestAnswersVersionsFromTheFuture: a newer client asks for the supported versions in an unknown version, and gets them.
func TestAnswersVersionsFromTheFuture(t *testing.T) {
	q := kmsg.NewPtrApiVersionsRequest()
	q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 99, "newer", "1"
	conn := send(t, startGuarded(t), frameOf(q))
	defer conn.Close()
	b := make([]byte, 4+4+2)
	if _, err := io.ReadFull(conn, b); err != nil {
		t.Fatal(err)
	}
	if code := binary.BigEndian.Uint16(b[8:]); code != 35 { // UNSUPPORTED_VERSION
		t.Errorf("error code %d", code)
	}
}

// TestSurvivesAnyRequest sends well-formed requests of all keys and versions with odd contents, and then writes and reads.
func TestSurvivesAnyRequest(t *testing.T) {
	broker := startGuarded(t)
	handled := make(chan struct{})
	broker.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		select {
		case handled <- struct{}{}:
		case <-t.Context().Done():
		}
		return nil, nil, false
	})
	rng := rand.New(rand.NewPCG(3, 4))
	for range anyRequestRounds {
		everyRequest(func(q kmsg.Request) {
			switch kmsg.Key(q.Key()) {
			case kmsg.DeleteTopics, kmsg.DeleteRecords: // keep what serves needs
				return
			}
			fill(rng, reflect.ValueOf(q).Elem())
			conn := send(t, broker, frameOf(q))
			<-handled
			conn.Close()
		})
	}
	go func() {
		for t.Context().Err() == nil {
			select {
			case <-handled:
			case <-t.Context().Done():
			}
		}
	}()
	serves(t, broker)
}

// TestUnreadAnswersAreBounded checks that clients that ask for all records and read nothing do not take the memory of others.
func TestUnreadAnswersAreBounded(t *testing.T) {
	broker := startGuarded(t)
	produce(t, broker, 8<<20)
	q := kmsg.NewPtrFetchRequest()
	q.Version, q.MaxWaitMillis, q.MinBytes, q.MaxBytes = 12, 1000, 1, 1<<30
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = 1 << 30
	q.Topics = []kmsg.FetchRequestTopic{{Topic: guardedTopic, Partitions: []kmsg.FetchRequestTopicPartition{partition}}}
	before := live()
	for range 64 {
		conn := send(t, broker, nil)
		defer conn.Close()
		if err := conn.SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(frameOf(q)); err != nil {
			t.Fatal(err)
		}
	}
	serves(t, broker)
	if more := live() - before; more > 2*maxHeld { // kfake's form of an answer, and its bytes
		t.Errorf("%d MiB more live", more>>20)
	}
}

// live returns the number of bytes in use on the heap.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// produce writes records with that many bytes.
func produce(t testing.TB, broker *Broker, bytes int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.DefaultProduceTopic(guardedTopic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for range bytes >> 16 {
		records = append(records, kgo.SliceRecord(make([]byte, 1<<16)))
	}
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// FuzzPort sends any bytes to the port: the process survives, and memory stays bounded.
func FuzzPort(f *testing.F) {
	everyRequest(func(q kmsg.Request) {
		if q.GetVersion() == q.MaxVersion() {
			f.Add(frameOf(q))
		}
	})
	f.Add([]byte("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
	broker := startGuarded(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		conn := send(t, broker, b)
		defer conn.Close()
		if err := conn.CloseWrite(); err != nil {
			return // refused already
		}
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
			t.Errorf("the connection neither ends nor is answered")
		}
	})
}

// FuzzLayout checks that what the walk over a request accepts, kmsg decodes, in at most some hundreds of bytes for each of its bytes.
func FuzzLayout(f *testing.F) {
	everyRequest(func(q kmsg.Request) { f.Add(q.Key(), q.GetVersion(), q.AppendTo(nil)) })
	f.Fuzz(func(t *testing.T, key, version int16, b []byte) {
		q := kmsg.RequestForKey(key)
		if q == nil || version < 0 || version > q.MaxVersion() {
			return
		}
		q.SetVersion(version)
		if layoutOf(q).check(b, q.IsFlexible()) != nil {
			return
		}
		if err := q.ReadFrom(b); err != nil {
			t.Logf("%s v%d: %x passes, and cannot be read: %v", kmsg.NameForKey(key), version, b, err)
		}
	})
}

// TestFullAnswerHoldsNoAbortedRecords: kfake lists no aborted transactions in an answer that reaches the limit of the whole request, and a
// client that relies on the list then returns aborted records.
func TestFullAnswerHoldsNoAbortedRecords(t *testing.T) {
	t.Parallel()
	b := startGuarded(t)
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.TransactionalID("orders"), kgo.DefaultProduceTopic(guardedTopic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	const rounds, perRound = 6, 20
	filler := strings.Repeat("x", 1<<10)
	for round := range rounds {
		end := []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit}[round%2]
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for i := range perRound {
			r := kgo.StringRecord(fmt.Sprintf("%v %d %s", bool(end), round*perRound+i, filler))
			r.Partition = int32(i % 2)
			if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := producer.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	for _, maxBytes := range []int32{1, 3 << 10, 10 << 10, 1 << 20} {
		t.Run(fmt.Sprint(maxBytes), func(t *testing.T) {
			consumer, err := kgo.NewClient(kgo.SeedBrokers(b.ListenAddrs()...), kgo.ConsumeTopics(guardedTopic),
				kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxBytes(maxBytes), kgo.FetchMaxPartitionBytes(maxBytes))
			if err != nil {
				t.Fatal(err)
			}
			defer consumer.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for n := 0; n < rounds/2*perRound; {
				fetches := consumer.PollFetches(ctx)
				if err := fetches.Err(); err != nil {
					t.Fatalf("after %d records: %v", n, err)
				}
				fetches.EachRecord(func(r *kgo.Record) {
					if n++; !strings.HasPrefix(string(r.Value), "true ") {
						t.Errorf("partition %d, offset %d is of an aborted transaction", r.Partition, r.Offset)
					}
				})
			}
		})
	}
}
