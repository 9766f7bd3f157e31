package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"brine/internal/testenv"
)

// unwrappedRecords returns changes as Debezium's ExtractNewRecordState publishes them, some of them twice, in any order. If deletes are
// marked, each is a row and then a record without a value; otherwise it is only the latter, or null in its place, as Kafka Connect may write
// it. The place in the log is in a header.
func unwrappedRecords(changes []tableChange, marked bool) (records []sent, ends int) {
	r := rand.New(rand.NewPCG(13, 52))
	add := func(rec sent) {
		for range 1 + r.IntN(2) {
			rec.partition = r.IntN(devPartitions)
			records = append(records, rec)
			if rec.value == nil || rec.value[0] == 'n' {
				ends++
			}
		}
	}
	for i, c := range changes {
		row, op := c.after, "u"
		if row == nil {
			row, op = c.before, "d"
		}
		rec := sent{key: fmt.Appendf(nil, `{"id":%q}`, row.id), headers: []kafka.Header{{Key: "__source_lsn", Value: fmt.Append(nil, 8000+8*i)}}}
		if op == "u" || marked {
			rec.value = fmt.Appendf(nil, `{"id":%q,"name":%q,"city":%q,"__op":%q,"__deleted":"%t"}`, row.id, row.user, row.status, op, op == "d")
			add(rec)
		}
		if op == "d" {
			rec.value = nil
			if marked {
				rec.headers = nil // the SMT knows nothing of the change
			} else if i%2 == 0 {
				rec.value = []byte("null")
			}
			add(rec)
		}
	}
	r.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
	return records, ends
}

// TestUnwrappedChangesEndToEnd checks that rows and documents equal the result of SELECT however ExtractNewRecordState writes deletes, that
// verify finds nothing, and that no delete is left out where the pipeline does not say how it writes them.
func TestUnwrappedChangesEndToEnd(t *testing.T) {
	notShort(t)
	t.Parallel()
	changes, left := tableChanges(60)
	want := map[string][2]string{}
	for id, row := range left {
		want[id] = [2]string{row.user, row.status}
	}
	for deletes, keys := range map[string]string{"tombstone": "$key.id", "marked": "id", "": "id"} {
		t.Run("deletes: "+deletes, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), customersExample)
			setting := "    envelope: { form: debezium, unwrapped: true, key: [id] }\n    version: lsn(lsn)\n"
			if deletes != "" {
				setting += "    deletes: " + deletes + "\n"
			}
			j.replace("    deletes: tombstone\n", setting)
			j.replace("nulls: delete ", "nulls: merge ")
			j.replace("path: $key.id }", "path: "+keys+" }\n      lsn: { type: int, path: $header.__source_lsn }")
			records, ends := unwrappedRecords(changes, deletes == "marked")
			j.sendAll(records)
			s, out := j.ran(exitOK)
			switch {
			case deletes == "" && (s.Dead != int64(ends) || len(s.LeftOutBy) > 0),
				deletes == "tombstone" && (s.Dead > 0 || len(s.LeftOutBy) > 0),
				deletes == "marked" && (s.Dead > 0 || fmt.Sprint(s.LeftOutBy) != fmt.Sprintf("map[tombstone:%d]", ends)):
				t.Fatalf("of %d records without a value: left out %v, %d dead letters\n%s", ends, s.LeftOutBy, s.Dead, out)
			}
			if deletes == "" {
				return
			}
			got, found := map[string][2]string{}, map[string][2]string{}
			for id := range want {
				for _, row := range j.rowsOf("id=" + id) {
					f := row["fields"].(map[string]any)
					got[id] = [2]string{f["name"].(string), f["city"].(string)}
				}
			}
			for _, c := range changes {
				if row := c.before; row != nil && want[row.id] == [2]string{} && len(j.rowsOf("id="+row.id)) > 0 {
					t.Errorf("%s is shown, but is deleted", row.id)
				}
			}
			for _, d := range j.documents() {
				if d["deleted"] != true {
					found[fmt.Sprint(d["id"])] = [2]string{fmt.Sprint(d["name"]), fmt.Sprint(d["city"])}
				}
			}
			for what, of := range map[string]map[string][2]string{"rows": got, "documents": found} {
				if diff := cmp.Diff(want, of); diff != "" {
					t.Errorf("%s (-SELECT +brine):\n%s", what, diff)
				}
			}
			if report, listed := j.verified(exitOK); len(listed) > 0 {
				t.Errorf("verify: %+v, %v", report, listed)
			}
			t.Logf("%d records of %d changes, %d of them without a value, %d rows left", len(records), len(changes), ends, len(want))
		})
	}
}

// TestInitOfDeletesWithoutKeys: where keys do not say which rows are deleted, init says so, and check names both meanings of a record without
// a value.
func TestInitOfDeletesWithoutKeys(t *testing.T) {
	t.Parallel()
	s := embeddedStack(t)
	j := &job{stack: s, t: t, topic: testenv.Name(t), file: filepath.Join(t.TempDir(), "brine.yaml")}
	if err := createTopicBy(t.Context(), j.client(), j.topic, devPartitions); err != nil {
		t.Fatal(err)
	}
	j.sendAll(endedParcels(false))
	j.must("init", "--topic", j.topic, "--brokers", strings.Join(s.brokers, ","), "--hbase", s.hbase, "-o", j.file)
	text, err := os.ReadFile(j.file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "4 of them have no value and would be dead letters, since no keys say what they delete"; !strings.Contains(string(text), want) {
		t.Errorf("the configuration lacks %q:\n%s", want, text)
	}
	if out := j.must("check", j.file); !strings.Contains(out, "write deletes: tombstone") || !strings.Contains(out, "deletes: marked if") {
		t.Error(out)
	}
}
