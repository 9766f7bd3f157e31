package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
)

// purging writes a job's configuration: an index that purges deletes, and a pipeline with further settings.
func (j *job) purging(after, settings string) {
	j.t.Helper()
	const text = `
kafka: { brokers: [%q], group: %[4]s }
hbase: { connect: %[2]q }
search: { connect: %[3]q }
http: { listen: "127.0.0.1:0" }
tables:
  %[5]s: { row: entity, key: 'id', families: { e: {} } }
indexes: { %[4]s: { purge_deletes_after: %[6]s, fields: { g: boolean } } }
pipelines:
  p:
    topic: %[4]s
    fields: { id: text, at: time_ms, gone: bool }
    version: at
    %[7]s
    rows: [ { table: "%[5]s", deleted: gone, set: { "e:g": gone } } ]
    documents: [ { index: %[4]s, deleted: gone, set: { g: gone } } ]
`
	if err := os.WriteFile(j.file, fmt.Appendf(nil, text, j.brokers[0], j.hbase, j.search, j.name, j.table, after, settings), 0o600); err != nil {
		j.t.Fatal(err)
	}
}

// changeOf returns a record of a change this long ago.
func changeOf(id string, ago time.Duration, gone bool) string {
	return fmt.Sprintf(`{"id":%q,"at":%d,"gone":%t}`, id, time.Now().Add(-ago).UnixMilli(), gone)
}

const aDay = 24 * time.Hour

// TestLateChangeBringsNoDeletedDocumentBack: a delete whose version lies far behind its record is old enough to be purged at once, while
// the changes it deleted are still in the topic, or have yet to come. Either nothing is written, or what is that late is a dead letter.
func TestLateChangeBringsNoDeletedDocumentBack(t *testing.T) {
	t.Parallel()
	for _, lateness := range []string{"", "allowed_lateness: 1d"} {
		t.Run(lateness, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, embeddedStack(t))
			j.purging("17d", lateness)
			if lateness != "" {
				j.must("tables", "apply", "--yes", "-c", j.file)
			} else {
				j.exit("tables", "apply", "--yes", "-c", j.file)
			}
			j.configure("message.timestamp.type", "LogAppendTime")
			written := true
			write := func(changes ...string) {
				for _, c := range changes {
					j.send(0, c)
				}
				out, code := j.exit("run", "-q", "--until-end", "-c", j.file)
				if lateness != "" && code != exitOK || lateness == "" && (code != exitUsage || !strings.Contains(out, "write allowed_lateness: 1d in the pipeline")) {
					t.Errorf("exit %d, %s", code, out)
				}
				written = written && code == exitOK
			}
			write(changeOf("a", 30*aDay, false), changeOf("a", 20*aDay, true), changeOf("b", 3*time.Hour, false), changeOf("b", time.Hour, true))
			if written {
				engine := j.engine()
				if _, err := engine.Purge(t.Context(), j.name, time.Now().Add(-17*aDay).UnixMilli()); err != nil { // as run does every hour
					t.Error(err)
				}
				engine.Close()
			}
			write(changeOf("a", 25*aDay, false), changeOf("b", 2*time.Hour, false))
			if !written {
				return // so nothing came back
			}
			docs := j.documents()
			if a, is := docs["a"]; is {
				t.Errorf("a document that was deleted is back: %v", a)
			}
			if docs["b"]["deleted"] != true {
				t.Errorf("a document that was deleted an hour ago is %v", docs["b"])
			}
			var late int
			for _, l := range j.deadLetters() {
				if l.Reason == event.LateVersion {
					late++
				}
			}
			if late != 6 {
				t.Errorf("%d dead letters of changes that came too late, want 3 of each half", late)
			}
		})
	}
}

// TestOnlyRunPurges: other commands that write documents leave those that are due for purging, even if all conditions are met.
func TestOnlyRunPurges(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.purging("2h", "allowed_lateness: 15m")
	j.must("tables", "apply", "--yes", "-c", j.file)
	j.configure("message.timestamp.type", "LogAppendTime")
	j.configure("segment.ms", "900000")
	j.sendAt(0, changeOf("old", 3*time.Hour, true), time.Now().Add(-3*time.Hour))
	j.send(1, changeOf("new", time.Minute, false))
	j.configure("retention.ms", "1800000")
	j.must("replay", "-q", "--from", "earliest", "-c", j.file)
	for _, command := range [][]string{
		{"replay", "-q", "--from", "earliest", "--partitions", "1", "--name", "again", "-c", j.file},
		{"verify", "-q", "--half", "documents", "--partitions", "1", "--repair", "-c", j.file},
		{"reindex", j.name, "-q", "--from", "hbase", "--drop-old", "-c", j.file},
	} {
		j.removeDocument("new")
		j.must(command...)
		docs := j.documents()
		if _, is := docs["new"]; !is || docs["old"]["deleted"] != true {
			t.Errorf("after %s: %v", command[0], docs)
		}
	}
	j.deleteRecords(0, 1) // as brokers with a retention of half an hour do
	p := j.begin()
	const said = "removed documents deleted longer ago than purge_deletes_after"
	for end := time.Now().Add(4 * time.Minute); !strings.Contains(p.log.String(), said) && time.Now().Before(end); {
		wait(t, 20*time.Millisecond)
	}
	p.stop()
	if docs := j.documents(); !slices.Equal(slices.Sorted(maps.Keys(docs)), []string{"new"}) {
		t.Errorf("after run: %v, %s", docs, &p.log)
	}
}

// TestRepairRefusesWhatRunRefuses: a repair writes old records again, so the conditions of the original writers apply to it.
func TestRepairRefusesWhatRunRefuses(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	j.purging("2h", "allowed_lateness: 15m")
	j.must("tables", "apply", "--yes", "-c", j.file)
	j.send(1, changeOf("a", time.Minute, false))
	out, code := j.exit("verify", "-q", "--repair", "-c", j.file)
	if code != exitUsage || !strings.Contains(out, "message.timestamp.type=LogAppendTime") {
		t.Errorf("exit %d, %s", code, out)
	}
	if docs := j.documents(); len(docs) != 0 {
		t.Errorf("it has written %v", docs)
	}
}

// removeDocument removes a document behind brine's back.
func (j *job) removeDocument(row string) {
	j.t.Helper()
	engine := j.engine()
	defer engine.Close()
	ref := indexer.Ref{Index: j.name, ID: indexer.AppendID(nil, []byte(row))}
	docs, results := make([]indexer.Stored, 1), make([]indexer.Result, 1)
	if err := engine.Get(j.t.Context(), []indexer.Ref{ref}, docs); err != nil || !docs[0].Found {
		j.t.Fatal(err, docs)
	}
	op := indexer.Op{Kind: indexer.Delete, Index: ref.Index, ID: ref.ID, SeqNo: docs[0].SeqNo, PrimaryTerm: docs[0].PrimaryTerm}
	if err := engine.Bulk(j.t.Context(), []indexer.Op{op}, results); err != nil || results[0].Status != 200 {
		j.t.Fatal(err, results)
	}
}
