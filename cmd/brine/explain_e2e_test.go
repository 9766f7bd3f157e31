package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/explain"
)

var parcelsExample = example{"../cmd/brine/testdata/filters/parcels.yaml", "parcels", "post.parcels", "post:parcels", "parcels", "parcel"}

// parcel is a record of parcelsExample, and the expected outcome in each half.
type parcel struct {
	value           string
	rows, documents explain.Outcome
}

// parcels are sent a millisecond apart, which is also their version.
var parcels = []parcel{
	{`{"parcel":"A","at":1700000000000,"station":"Oslo","courier":"Ann","weight":500}`, explain.Written, explain.Written},
	{`{"parcel":"A","at":1700000000001,"station":"TEST","courier":"Ann","weight":500}`, explain.LeftOut, explain.LeftOut},
	{"not json\u001b[2J", explain.DeadLetter, explain.DeadLetter},
	{`{"parcel":"A","at":1700000000003,"station":"Oslo","courier":"Ann","weight":-1}`, explain.Written, explain.Written}, // taken back
	{`{"parcel":"B","at":1700000000004,"station":"Oslo","weight":7}`, explain.DeadLetter, explain.DeadLetter},
	{`{"parcel":"C","at":1700000000005,"station":"Oslo","courier":"Cid","weight":7}`, explain.Written, explain.Written},
	{`{"parcel":"D","at":1700000000006,"station":"Oslo","courier":"Ann"}`, explain.DeadLetter, explain.DeadLetter}, // weight is null
}

func (j *job) sendParcel(i int, value string) {
	j.sendAt(0, value, time.UnixMilli(1700000000000+int64(i)))
}

// explained is the output of brine explain --json for an offset, without the rows.
func (j *job) explained(offset string) (got struct {
	Pipelines []struct{ Halves []explain.Half }
}) {
	j.t.Helper()
	if err := json.Unmarshal([]byte(j.output("explain", "-c", j.file, "--json", j.topic, "0", offset)), &got); err != nil {
		j.t.Fatal(err)
	}
	return got
}

// steady returns a text without what differs from run to run.
func (j *job) steady(text string) string {
	for _, r := range [][2]string{
		{regexp.QuoteMeta(filepath.Dir(j.file)) + "/", ""}, {j.name, j.pipeline}, {`[0-9a-f]{32} on 127\.0\.0\.1:\d+`, "REGION on SERVER"},
		{`"region": ?"[0-9a-f]{32}"`, `"region":"REGION"`}, {`"server": ?"127[^"]*"`, `"server":"SERVER"`},
		{`of 202\d-\d\d-\d\dT[0-9:.]+Z, open`, "of TIME, open"}, {`\.dead/0:\d+`, ".dead/0:N"},
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

// TestExplain asks what became of records of each kind, in text and as JSON.
func TestExplain(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), parcelsExample)
	for i, p := range parcels {
		j.sendParcel(i, p.value)
	}
	j.must("run", "-q", "-c", j.file, "--until-end")
	n := len(parcels)
	j.sendParcel(n, fmt.Sprintf(`{"parcel":"E","at":%d,"station":"Oslo","courier":"Cid","weight":700}`, 1700000000000+n))
	all := append(parcels[:n:n], parcel{"", explain.NotYet, explain.NotYet})

	var text strings.Builder
	for offset, p := range all {
		at := fmt.Sprint(offset)
		text.WriteString(j.output("explain", "-c", j.file, j.topic, "0", at) + "\n")
		got := j.explained(at)
		if len(got.Pipelines) != 1 || len(got.Pipelines[0].Halves) != 2 {
			t.Fatalf("offset %d: %+v", offset, got)
		}
		for i, want := range []explain.Outcome{p.rows, p.documents} {
			if h := got.Pipelines[0].Halves[i]; h.Outcome != want || h.Settled != (offset < n) {
				t.Errorf("offset %d: %s: %s, settled %t, expected %s", offset, h.Half, h.Outcome, h.Settled, want)
			}
		}
	}
	golden(t, filepath.Join("filters", "explain.txt"), j.steady(text.String()))

	for _, c := range []struct {
		place []string
		code  int
		want  string
	}{
		{[]string{j.topic, "0", fmt.Sprint(n + 1)}, exitFailed, fmt.Sprintf("which has offsets 0 to %d\nhint: name an offset within", n)},
		{[]string{j.topic, "1", "0"}, exitFailed, "which is empty; its next offset is 0"},
		{[]string{j.topic, "99", "0"}, exitMissing, "has no partition 99; it has 4, numbered from 0"},
		{[]string{"other", "0", "0"}, exitUsage, "no pipeline reads topic other; parcels reads " + j.topic},
		{[]string{j.topic, "0", "0", "--pipeline", "x"}, exitUsage, "--pipeline: there is no pipeline x"},
	} {
		if out, code := j.exit(append([]string{"explain", "-c", j.file}, c.place...)...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit %d, expected %d and %q:\n%s", c.place, code, c.code, c.want, out)
		}
	}
}

// TestExplainFindsWhatIsNotThere: rows removed behind brine's back are missing, and two pipelines of a topic both answer.
func TestExplainFindsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), parcelsExample)
	j.sendParcel(0, parcels[0].value)
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.replace("pipelines:\n", "pipelines:\n  others:\n    topic: "+j.topic+"\n    fields: { parcel: text }\n    rows:\n      - { table: "+j.table+
		", set: { \"e:other\": parcel } }\n")
	dropTable(t, j.hbase, j.table)
	j.must("tables", "apply", "-c", j.file)
	got := j.explained("0")
	if len(got.Pipelines) != 2 || got.Pipelines[0].Halves[0].Settled || got.Pipelines[1].Halves[0].Outcome != explain.NotThere {
		t.Errorf("%+v", got.Pipelines)
	}
	if only := j.output("explain", "-c", j.file, "--pipeline", "others", j.topic, "0", "0"); strings.Contains(only, "pipeline parcels") {
		t.Errorf("of one pipeline:\n%s", only)
	}
}

// TestExplainLooksKeysUp: a change that lacks fields of its key is explained with the values looked up, or with what it waits for.
func TestExplainLooksKeysUp(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), statesExample)
	at := time.UnixMilli(1700000000000)
	j.sendAt(0, `{"order":"o1","user":"ann","created":1690000000000,"at":1700000000000,"status":"created"}`, at)
	j.sendAt(0, `{"order":"o1","at":1700000000001,"status":"paid"}`, at)
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.sendAt(0, `{"order":"o2","at":1700000000002,"status":"paid"}`, at)
	for offset, want := range []struct {
		outcome explain.Outcome
		text    string
	}{
		{explain.Written, "e:s  created  at 1700000000000  newer: paid at 1700000000001"},
		{explain.Written, `user     text     "ann"`},
		{explain.NotYet, "it cannot be written yet: awaited: "},
	} {
		place := fmt.Sprint(offset)
		if h := j.explained(place).Pipelines[0].Halves[0]; h.Outcome != want.outcome {
			t.Errorf("offset %d: %+v, expected %s", offset, h, want.outcome)
		}
		if out := j.output("explain", "-c", j.file, j.topic, "0", place); !strings.Contains(out, want.text) {
			t.Errorf("offset %d lacks %q:\n%s", offset, want.text, out)
		}
	}
}
