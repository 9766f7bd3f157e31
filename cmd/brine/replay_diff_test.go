package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/internal/sample"
	"brine/publish"
	"brine/service/replays"
)

// TestReplayOfKeysIntoAnotherTableAndDiff replays into an empty table, key by key and whole, until it equals the live one cell for cell,
// and checks the predictions of what each replay would change.
func TestReplayOfKeysIntoAnotherTableAndDiff(t *testing.T) {
	t.Parallel()
	const events = 2000
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		shadow := j.table + "_new"
		if j.lasting {
			t.Cleanup(func() { dropTable(t, j.hbase, shadow) })
		}
		j.publish(first(sample.Scans(), events))
		diff := func(args ...string) replays.Diff {
			t.Helper()
			return lastObject[replays.Diff](t, j.output(append([]string{"replay", "-c", j.file, "--from", "earliest", "--json", "--diff", "10000"}, args...)...))
		}
		if d := diff(); d.Records != events || d.New != events || d.Changed != 0 {
			t.Errorf("before the first run a replay would change %+v", d)
		}
		j.must("run", "-q", "-c", j.file, "--until-end")
		want, live := scanTable(t, j.hbase, j.table), j.live()
		if d := diff(); d.Rows != events || d.New+d.Changed+d.Added+d.Replaced+d.Tied+d.Kept != 0 || d.Same != want.cells {
			t.Errorf("of a table that has all a replay would change %+v", d)
		}
		if d := lastObject[replays.Diff](t, j.output("replay", "-c", j.file, "--from", "earliest", "--json", "--diff", "100")); d.Records < 90 || d.Records > 110 {
			t.Errorf("a sample of 100 has %d records", d.Records)
		}

		key, n := j.firstKey()
		out := j.must("replay", "-c", j.file, "-q", "--from", "earliest", "--into", shadow, "--key", key)
		if !strings.Contains(out, "created table "+shadow+" with 16 regions") || !strings.Contains(out, ", of 1 key only, into "+shadow) {
			t.Errorf("the replay of a key says\n%s", out)
		}
		if got := scanTable(t, j.hbase, shadow); got.rows != n {
			t.Errorf("%v of the %d records of key %s", got, n, key)
		}
		if d := diff("--into", shadow); d.Rows != events || d.New != events-n {
			t.Errorf("into the other table a replay would change %+v, expected %d new rows", d, events-n)
		}
		j.must("replay", "-c", j.file, "-q", "--from", "earliest", "--into", shadow)
		if got := scanTable(t, j.hbase, shadow); got != want {
			t.Errorf("the other table has %v, the live one %v", got, want)
		}
		if got := scanTable(t, j.hbase, j.table); got != want || j.live() != live {
			t.Errorf("the live table is now %v, it was %v; the group is at %s, it was at %s", got, want, j.live(), live)
		}
		for _, refused := range [][2]string{
			{"--into=" + j.table, "is a table of the configuration"}, {"--into=other=x", "the pipeline scans writes " + j.table + "; write OWN=OTHER"},
			{`--key=\xq1`, "is not an escape"},
		} {
			if out, code := j.exit("replay", "-c", j.file, "--from", "earliest", refused[0]); code != exitUsage || !strings.Contains(out, refused[1]) {
				t.Errorf("%s: exit %d:\n%s", refused[0], code, out)
			}
		}
	})
}

// TestDiffDistinguishesNewerOlderAndOtherCells compares records with cells written by hand.
func TestDiffDistinguishesNewerOlderAndOtherCells(t *testing.T) {
	t.Parallel()
	j := newJob(t, embeddedStack(t))
	at := time.Now().Truncate(time.Millisecond)
	j.sendAll([]sent{
		{time: at, value: fmt.Appendf(nil, `{"waybill":"W","action":"A","at":%d,"station":"S","courier":"C"}`, at.UnixMilli())},
		{time: at, value: []byte("not json")},
	})
	j.must("run", "-q", "-c", j.file, "--until-end")
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: j.hbase})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var row []byte
	for r, err := range client.Scan(t.Context(), j.table, hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		row = r.Row
	}
	var b hbase.Batch
	b.Reset(j.table)
	b.Mutate(row)
	b.Put([]byte("e"), []byte("s"), at.UnixMilli(), []byte("other"))
	b.Put([]byte("e"), []byte("a"), at.UnixMilli()+1, []byte("newer"))
	if _, err := client.Submit(t.Context(), &b).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := lastObject[replays.Diff](t, j.output("replay", "-c", j.file, "--from", "earliest", "--json", "--diff", "10"))
	if d.Records != 2 || d.Rejected != 1 || d.Rows != 1 || d.Changed != 1 || d.Tied != 1 || d.Kept != 1 || d.Same != 1 || len(d.Examples) != 1 || d.Examples[0].Column != "e:s" || d.Examples[0].Now.String() != "other" {
		t.Errorf("%+v", d)
	}
	out := j.output("replay", "-c", j.file, "--from", "earliest", "--diff", "10")
	for _, want := range []string{"2 records of the range would become 1 row, and 1 of them dead letters:", "             1 rows exist and would change\n", "             1 would be overwritten by another value with the same version\n", " e:s: other at "} {
		if !strings.Contains(out, want) {
			t.Errorf("the diff lacks %q:\n%s", want, out)
		}
	}
}

// firstKey returns a key of the topic's records, and the number of the first partition's records with it.
func (j *job) firstKey() (key string, n int) {
	j.t.Helper()
	for r, err := range publish.Keyed(certain(first(sample.Scans(), 2000)), j.key) {
		if err != nil {
			j.t.Fatal(err)
		}
		if key == "" {
			key = string(r.Key)
		}
		if string(r.Key) == key {
			n++
		}
	}
	return key, n
}
