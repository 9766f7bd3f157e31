package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"brine/event"
)

const topic = "courier.scans"

// testBatch is a record batch as brokers write it.
type testBatch struct {
	base, last     int64 // last 0: that of the records
	attributes     int16
	timestamp, max int64
	producer       int64
	records        []testRecord
	body           []byte // of the records, if compressed
}

type testRecord struct {
	delta, timestamp int64
	key, value       []byte
	headers          []event.Header
}

func (b testBatch) bytes() []byte {
	var records []byte
	for _, r := range b.records {
		body := binary.AppendVarint(binary.AppendVarint([]byte{0}, r.timestamp), r.delta)
		body = appendNullable(appendNullable(body, r.key), r.value)
		body = binary.AppendVarint(body, int64(len(r.headers)))
		for _, h := range r.headers {
			body = appendNullable(appendNullable(body, []byte(h.Key)), h.Value)
		}
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
		b.last = max(b.last, b.base+r.delta)
	}
	if b.body != nil {
		records = b.body
	}
	sum := binary.BigEndian.AppendUint16(nil, uint16(b.attributes))
	sum = binary.BigEndian.AppendUint32(sum, uint32(b.last-b.base))
	sum = binary.BigEndian.AppendUint64(sum, uint64(b.timestamp))
	sum = binary.BigEndian.AppendUint64(sum, uint64(b.max))
	sum = binary.BigEndian.AppendUint64(sum, uint64(b.producer))
	sum = binary.BigEndian.AppendUint16(sum, 0)
	sum = binary.BigEndian.AppendUint32(sum, 0)
	sum = append(binary.BigEndian.AppendUint32(sum, uint32(len(b.records))), records...)
	head := binary.BigEndian.AppendUint64(nil, uint64(b.base))
	head = binary.BigEndian.AppendUint32(head, uint32(len(sum)+9))
	head = append(binary.BigEndian.AppendUint32(head, 7), 2)
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(sum, castagnoli))
	return append(head, sum...)
}

func appendNullable(b, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(v))), v...)
}

func value(delta int64) testRecord {
	return testRecord{delta: delta, value: fmt.Appendf(nil, "v%d", delta)}
}

// readAll reads an answer's batches and returns the offsets and where to continue.
func readAll(t testing.TB, b []byte, from int64, aborted aborts) (offsets []int64, next int64, err error) {
	t.Helper()
	c := NewChunk(topic, 3)
	defer c.Release()
	err = c.read(b, from, aborted)
	cost := int64(0)
	for i := range c.Records {
		offsets = append(offsets, c.Records[i].Offset)
		cost += int64(c.Records[i].Size())
	}
	if cost != c.Cost {
		t.Errorf("cost %d, expected %d", c.Cost, cost)
	}
	return offsets, c.Next, err
}

func TestRecordsComeOutAsTheyWentIn(t *testing.T) {
	headers := []event.Header{{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}
	b := testBatch{base: 100, timestamp: 5000, max: 9000, producer: 41, records: []testRecord{
		{delta: 0, timestamp: 1, key: nil, value: nil},
		{delta: 1, timestamp: -2, key: []byte{}, value: []byte{}, headers: headers},
		{delta: 5, timestamp: 3, key: []byte("k"), value: []byte("v"), headers: headers[:1]},
	}}
	c := NewChunk(topic, 3)
	if err := c.read(b.bytes(), 0, aborts{}); err != nil {
		t.Fatal(err)
	}
	want := []event.Record{
		{Topic: topic, Partition: 3, Offset: 100, Timestamp: 5001, Producer: 42},
		{Topic: topic, Partition: 3, Offset: 101, Timestamp: 4998, Key: []byte{}, Value: []byte{}, Headers: headers, Producer: 42},
		{Topic: topic, Partition: 3, Offset: 105, Timestamp: 5003, Key: []byte("k"), Value: []byte("v"), Headers: headers[:1], Producer: 42},
	}
	if got, want := fmt.Sprintf("%#v", c.Records), fmt.Sprintf("%#v", want); got != want {
		t.Errorf("records\n%s, expected\n%s", got, want)
	}
	if c.Next != 106 {
		t.Errorf("next %d, expected 106", c.Next)
	}
}

func TestLogAppendTimeIsTheBrokersTime(t *testing.T) {
	c := NewChunk(topic, 0)
	if err := c.read(testBatch{attributes: logAppendTime, timestamp: 5, max: 77, records: []testRecord{value(0), value(1)}}.bytes(), 0, aborts{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Records {
		if r.Timestamp != 77 {
			t.Errorf("timestamp %d, expected 77", r.Timestamp)
		}
	}
}

// A batch whose records were all compacted away keeps its place in the log; kafka-go's reader would request it forever.
func TestBatchCompactedEmptyIsPassed(t *testing.T) {
	b := slices.Concat(testBatch{base: 10, last: 19}.bytes(), testBatch{base: 20, last: 29, records: []testRecord{value(3)}}.bytes())
	offsets, next, err := readAll(t, b, 10, aborts{})
	if err != nil || !slices.Equal(offsets, []int64{23}) || next != 30 {
		t.Errorf("offsets %v, next %d, error %v; expected 23, 30", offsets, next, err)
	}
	if _, next, err = readAll(t, testBatch{base: 10, last: 19}.bytes(), 10, aborts{}); err != nil || next != 20 {
		t.Errorf("next %d, error %v; expected 20", next, err)
	}
}

func TestRecordsBeforeTheOffsetAskedForAreLeftOut(t *testing.T) {
	b := slices.Concat(testBatch{base: 0, records: []testRecord{value(0)}}.bytes(), testBatch{base: 1, records: []testRecord{value(0), value(1), value(2)}}.bytes())
	if offsets, next, err := readAll(t, b, 2, aborts{}); err != nil || !slices.Equal(offsets, []int64{2, 3}) || next != 4 {
		t.Errorf("offsets %v, next %d, error %v; expected 2 and 3, 4", offsets, next, err)
	}
}

func TestAnswerCutOffInTheMiddleOfABatch(t *testing.T) {
	first, second := testBatch{base: 0, records: []testRecord{value(0)}}.bytes(), testBatch{base: 1, records: []testRecord{value(0)}}.bytes()
	for n := range len(second) {
		offsets, next, err := readAll(t, append(slices.Clone(first), second[:n]...), 0, aborts{})
		if err != nil || !slices.Equal(offsets, []int64{0}) || next != 1 {
			t.Fatalf("%d bytes of the second: offsets %v, next %d, error %v", n, offsets, next, err)
		}
	}
}

// A corrupt batch is an error at its own offset, and what precedes it is read: nothing is skipped.
func TestCorruptBatchIsNeverSkipped(t *testing.T) {
	good := testBatch{base: 0, records: []testRecord{value(0), value(1)}}.bytes()
	after := testBatch{base: 4, records: []testRecord{value(0)}}.bytes()
	for i := range batchHeader + 8 {
		if i >= 8 && i < 16 {
			continue // length and leader epoch: the one makes it look cut off, the other has no meaning here
		}
		bad := testBatch{base: 2, records: []testRecord{value(0), value(1)}}.bytes()
		bad[i] ^= 0x40
		offsets, next, err := readAll(t, slices.Concat(good, bad, after), 0, aborts{})
		if i < 8 { // the checksum does not cover the offset: an error cannot be detected
			continue
		}
		if err != nil || !slices.Equal(offsets, []int64{0, 1}) || next != 2 {
			t.Fatalf("byte %d: offsets %v, next %d, error %v", i, offsets, next, err)
		}
		if _, next, err = readAll(t, slices.Concat(bad, after), 2, aborts{}); !errors.Is(err, ErrCorrupt) || next != 2 {
			t.Fatalf("byte %d: next %d, error %v, expected %v", i, next, err, ErrCorrupt)
		}
	}
}

func TestAbortedBatchesAreLeftOutByProducer(t *testing.T) {
	marker := func(base, producer int64, kind byte) []byte {
		return testBatch{base: base, attributes: transactional | control, producer: producer, records: []testRecord{{key: []byte{0, 0, 0, kind}, value: []byte{0, 0, 0, 0, 0, 0}}}}.bytes()
	}
	data := func(base, producer int64, attributes int16) []byte {
		return testBatch{base: base, attributes: attributes, producer: producer, records: []testRecord{value(0)}}.bytes()
	}
	b := slices.Concat(
		data(0, 7, transactional), // aborted
		data(1, 8, transactional), // committed, interleaved
		data(2, -1, 0),            // no transaction
		data(3, 7, transactional), // aborted
		marker(4, 7, 0),           // abort
		data(5, 7, transactional), // the next transaction: committed
		marker(6, 8, 1), marker(7, 7, 1),
		data(8, 7, transactional), // aborted
		data(9, 7, transactional), // aborted, its marker not read yet
	)
	var aborted aborts
	aborted.add(7, 0)
	aborted.add(7, 8)
	offsets, next, err := readAll(t, b, 0, aborted)
	if want := []int64{1, 2, 5}; err != nil || !slices.Equal(offsets, want) || next != 10 {
		t.Errorf("offsets %v, next %d, error %v; expected %v, 10", offsets, next, err, want)
	}
}

func TestOldFormatIsReported(t *testing.T) {
	b := testBatch{records: []testRecord{value(0)}}.bytes()
	b[magicOffset] = 1
	if _, _, err := readAll(t, b, 0, aborts{}); err == nil || err.Error() != "corrupt record batch at offset 0: format 1; only format 2 (Kafka 0.11 and later) can be read" {
		t.Errorf("error %v", err)
	}
}

func FuzzReadBatches(f *testing.F) {
	f.Add(testBatch{base: 5, records: []testRecord{value(0), {delta: 3, key: []byte("k"), headers: []event.Header{{Key: "h", Value: []byte("v")}}}}}.bytes(), int64(5), true)
	f.Add(testBatch{base: 5, last: 9}.bytes(), int64(7), false)
	f.Add(testBatch{attributes: 1, records: []testRecord{value(0)}}.bytes(), int64(0), true)
	f.Add([]byte{}, int64(0), false)
	f.Fuzz(func(t *testing.T, b []byte, from int64, fix bool) {
		if len(b) >= batchHeader && fix { // a correct length and checksum let the fuzzer get further
			b = slices.Clone(b)
			b[magicOffset] = 2
			binary.BigEndian.PutUint32(b[8:], uint32(len(b)-batchPrefix))
			binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
		}
		var aborted aborts
		aborted.add(0, from)
		offsets, next, err := readAll(t, b, from, aborted)
		if err == nil && next < from {
			t.Fatalf("next %d, before %d", next, from)
		}
		for _, o := range offsets {
			if o < from || o >= next {
				t.Fatalf("offset %d outside %d to %d", o, from, next)
			}
		}
	})
}

func FuzzFetchAnswer(f *testing.F) {
	answer := binary.BigEndian.AppendUint32(nil, 0)
	answer = append(answer, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	answer = append(answer, make([]byte, 8+8+8+4+4)...)
	f.Add(append(answer, 0, 0, 0, 0), int16(11))
	f.Add(answer[:9], int16(4))
	f.Fuzz(func(t *testing.T, b []byte, version int16) {
		call := &fetchCall{version: minFetchVersion + version&7}
		if a, err := call.parse(b); err == nil && len(a.batches) > len(b) {
			t.Fatal("more batches than bytes")
		}
	})
}

// Records are read in place: neither their number nor their size costs an allocation.
func TestReadingRecordsAllocatesNothing(t *testing.T) {
	batch := testBatch{}
	for i := range int64(1000) {
		batch.records = append(batch.records, value(i))
	}
	b := batch.bytes()
	c := NewChunk("t", 0)
	defer c.Release()
	if n := testing.AllocsPerRun(20, func() {
		c.Records, c.headers, c.Cost = c.Records[:0], c.headers[:0], 0
		if err := c.read(b, 0, aborts{}); err != nil || len(c.Records) != 1000 {
			t.Fatalf("%d records, %v", len(c.Records), err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for 1000 records", n)
	}
}
