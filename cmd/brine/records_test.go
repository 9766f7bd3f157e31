package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
)

// sent is a record that a test sends as it is.
type sent struct {
	name      string
	partition int
	key       []byte
	value     []byte // nil: none
	headers   []kafka.Header
	time      time.Time

	reason event.Reason // "": it becomes a row
	field  string       // path
	offset int64
}

// sendAll puts records into the job's topic one by one, so that each has its own time, and stores their offsets.
func (j *job) sendAll(records []sent) {
	j.t.Helper()
	ends, err := endOffsets(j.t.Context(), j.client(), j.topic)
	if err != nil {
		j.t.Fatal(err)
	}
	for i := range records {
		r := &records[i]
		record := kafka.Record{Headers: r.headers, Time: r.time}
		if r.key != nil {
			record.Key = kafka.NewBytes(r.key)
		}
		if r.value != nil {
			record.Value = kafka.NewBytes(r.value)
		}
		resp, err := j.client().Produce(j.t.Context(), &kafka.ProduceRequest{
			Topic: j.topic, Partition: r.partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(record),
		})
		if err == nil {
			err = resp.Error
		}
		if err != nil {
			j.t.Fatal(err)
		}
		r.offset = ends[r.partition]
		ends[r.partition]++
	}
}

// badRecords returns one record of each kind that can never be a row, among good ones, all with one time and in two partitions.
func badRecords(at time.Time) []sent {
	scan := func(fields string, args ...any) []byte {
		return fmt.Appendf(nil, `{"action":"DEPART","station":"EWR","courier":"N1",`+fields+`}`, args...)
	}
	ms := at.UnixMilli()
	records := []sent{
		{name: "no JSON", value: []byte(`{"waybill":`), reason: event.Undecodable, field: "waybill"},
		{name: "an array", value: []byte(`[1]`), reason: event.Undecodable},
		{name: "bytes", value: []byte{0, 0xff, 0xfe, '\n'}, reason: event.Undecodable},
		{name: "no value", key: []byte("tombstone"), reason: event.Undecodable},
		{name: "empty", value: []byte{}, reason: event.Undecodable},
		{name: "absent key field", value: scan(`"at":%d`, ms), reason: event.MissingField, field: "parcel.waybill"},
		{name: "null key field", value: scan(`"parcel":{"waybill":null},"at":%d`, ms), reason: event.MissingField, field: "parcel.waybill"},
		{name: "ill-typed key field", value: scan(`"parcel":{"waybill":7},"at":%d`, ms), reason: event.WrongType, field: "parcel.waybill"},
		{name: "ill-typed time", value: scan(`"parcel":{"waybill":"W"},"at":"soon"`), reason: event.WrongType, field: "at"},
		{name: "absent version", value: scan(`"parcel":{"waybill":"W"}`), reason: event.MissingField, field: "at"},
		{name: "over-long key", value: scan(`"parcel":{"waybill":"%s"},"at":%d`, strings.Repeat("W", 32_768), ms), reason: event.KeyTooLong, field: "parcel.waybill"},
		{name: "over-long cell", value: scan(`"parcel":{"waybill":"W"},"at":%d,"who":{"is":"%s"}`, ms, strings.Repeat("c", 2000)), reason: event.TooLarge, field: "who.is"},
		{name: "from the future", value: scan(`"parcel":{"waybill":"W"},"at":%d`, at.Add(24*time.Hour+time.Millisecond).UnixMilli()), reason: event.FutureVersion, field: "at"},
		{name: "from tomorrow", value: scan(`"parcel":{"waybill":"T"},"at":%d`, at.Add(24*time.Hour).UnixMilli())},
		{name: "before 1970", value: scan(`"parcel":{"waybill":"W"},"at":-1`), reason: event.BadVersion, field: "at"},
	}
	var all []sent
	for i := range records {
		r := records[i]
		if r.key == nil {
			r.key = fmt.Appendf(nil, "key %d", i)
		}
		r.headers = []kafka.Header{{Key: "trace", Value: []byte{0, byte(i)}}, {Key: "trace", Value: []byte("again")}, {Key: "empty", Value: []byte{}}}
		r.partition, r.time = i%2, at
		good := sent{name: "good", partition: i % 2, key: []byte("g"), time: at, value: scan(`"parcel":{"waybill":"G%d"},"at":%d`, i, ms)}
		all = append(all, good, r)
	}
	return all
}

// TestBadRecordsAreDeadLetters sends every kind of record that can never become a row among good ones. Each is a dead letter, whole and
// with its reason and field, and all others are rows.
func TestBadRecordsAreDeadLetters(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, servers(t))
			j.replace("hbase:\n", "hbase:\n  max_cell_bytes: 1KiB\n")
			j.replace("waybill: text", "waybill: { type: text, path: parcel.waybill }")
			j.replace("courier: text", "courier: { type: text, path: who.is }")
			records := badRecords(time.Now().Truncate(time.Millisecond))
			j.sendAll(records)
			j.must("run", "-q", "-c", j.file, "--until-end")
			if n := j.uncommitted("rows"); n != 0 {
				t.Errorf("%d records are not committed", n)
			}
			good := len(slices.DeleteFunc(slices.Clone(records), func(s sent) bool { return s.reason != "" }))
			if got := scanTable(t, j.hbase, j.table); got.rows != good {
				t.Errorf("%d rows of %d good records", got.rows, good)
			}
			letters := j.deadLetters()
			if bad := len(records) - good; len(letters) != bad {
				t.Errorf("%d dead letters of %d bad records", len(letters), bad)
			}
			for _, l := range letters {
				i := slices.IndexFunc(records, func(s sent) bool { return s.partition == l.Record.Partition && s.offset == l.Record.Offset })
				if i < 0 || l.Record.Topic != j.topic {
					t.Errorf("a dead letter of %s/%d at %d: nothing was sent there", l.Record.Topic, l.Record.Partition, l.Record.Offset)
					continue
				}
				r := records[i]
				t.Logf("%s: %s, field %q: %.120s", r.name, l.Reason, l.Field, l.Detail)
				if l.Reason != r.reason || l.Field != r.field || l.Detail == "" || l.Group != j.name+".scans.rows" {
					t.Errorf("%s: the letter says %s, field %q, group %s, %q; want %s, field %q", r.name, l.Reason, l.Field, l.Group, l.Detail, r.reason, r.field)
				}
				// ingest's tests show that null stays null and empty stays empty; the reader here returns nil for both.
				if !bytes.Equal(l.Record.Key, r.key) || !bytes.Equal(l.Record.Value, r.value) || l.Record.Timestamp != r.time.UnixMilli() {
					t.Errorf("%s: the letter's record is %q → %.100q at %d", r.name, l.Record.Key, l.Record.Value, l.Record.Timestamp)
				}
				if fmt.Sprint(l.Record.Headers) != fmt.Sprint(r.headers) {
					t.Errorf("%s: headers %v, want %v", r.name, l.Record.Headers, r.headers)
				}
			}
		})
	}
}

// TestWhatCannotBeFoundAgainIsForeseenAndCounted: check and plan predict events older than their family's TTL, and different events with
// one row key. If such events come nevertheless, they are counted, and each is warned about by name once.
func TestWhatCannotBeFoundAgainIsForeseenAndCounted(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.replace("e: { versions: 1, compression: gz, bloom: row }", "e: { ttl: 10d, versions: 1, compression: gz, bloom: row }")
	now := time.Now()
	old, fresh := now.Add(-11*24*time.Hour).UnixMilli(), now.UnixMilli()
	var records []sent
	add := func(format string, args ...any) {
		records = append(records, sent{value: fmt.Appendf(nil, format, args...), time: now})
	}
	for i := range 5 {
		add(`{"waybill":"OLD%d","action":"A","at":%d,"station":"X"}`, i, old)
	}
	add(`{"waybill":"W","action":"A","at":%d,"station":"HERE"}`, fresh)
	add(`{"waybill":"W","action":"A","at":%d,"station":"THERE"}`, fresh)
	add(`{"waybill":"W","action":"A","at":%d,"station":"THERE"}`, fresh) // the same event again does not collide with itself
	j.sendAll(records)
	sample := filepath.Join(t.TempDir(), "sample.jsonl")
	var text []byte
	for _, r := range records {
		text = append(append(text, r.value...), '\n')
	}
	if err := os.WriteFile(sample, text, 0o600); err != nil {
		t.Fatal(err)
	}
	expired := "5 of 8 events are older than the TTL of family e of " + j.table
	collision := "share a row key of " + j.table
	for _, args := range [][]string{{"check", "--connect", j.file}, {"tables", "plan", "-c", j.file, "--sample", sample}} {
		if out := j.must(args...); !strings.Contains(out, expired) || !strings.Contains(out, collision) {
			t.Errorf("brine %s does not foresee it:\n%s", strings.Join(args, " "), out)
		} else if i := strings.Index(out, collision); !strings.Contains(out[i:], `"station":"HERE"`) || !strings.Contains(out[i:], `"station":"THERE"`) {
			t.Errorf("brine %s does not show the two events:\n%s", strings.Join(args, " "), out)
		} else if !strings.Contains(strings.Join(strings.Fields(out[i:]), " "), "they differ in station;") {
			t.Errorf("brine %s does not say in what they differ:\n%s", strings.Join(args, " "), out)
		}
	}

	p := j.begin()
	p.until("scans.rows", len(records))
	if n := p.metric("brine_sink_expired_events_total"); n != 5 {
		t.Errorf("%v events are counted as expired, want 5", n)
	}
	if n := p.metric("brine_sink_key_collisions_total"); n < 1 {
		t.Errorf("%v collisions are counted", n)
	}
	p.stop()
	for _, warning := range []string{
		"an event is older than its family's TTL", "two different events have the same row key",
	} {
		lines := slices.DeleteFunc(strings.Split(p.log.String(), "\n"), func(l string) bool { return !strings.Contains(l, warning) })
		if len(lines) != 1 || !strings.Contains(lines[0], "table="+j.table) || !strings.Contains(lines[0], "pipeline=scans") {
			t.Errorf("warnings %q", lines)
		}
	}
}
