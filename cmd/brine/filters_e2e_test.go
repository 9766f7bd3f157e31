package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/service/replays"
)

// parcelChange is a change of a parcel. parcelsExample makes a row of it if weight >= 0 and a document if weight > 100.
type parcelChange struct {
	name    string
	at      int64
	test    bool // left out by the pipeline's when
	weight  int
	courier string
}

// parcelChanges are changes of some parcels, each with a version of its own.
func parcelChanges(n int) (changes []parcelChange) {
	r := rand.New(rand.NewPCG(18, 5))
	for i := range n {
		changes = append(changes, parcelChange{name: fmt.Sprintf("P%02d", r.IntN(20)), at: 1700000000000 + int64(i), test: r.IntN(8) == 0,
			weight: r.IntN(400) - 100, courier: fmt.Sprintf("C%d", r.IntN(5))})
	}
	return changes
}

func (c *parcelChange) record() []byte {
	station := "Oslo"
	if c.test {
		station = "TEST"
	}
	return fmt.Appendf(nil, `{"parcel":%q,"at":%d,"station":%q,"courier":%q,"weight":%d}`, c.name, c.at, station, c.courier, c.weight)
}

// standing returns what changes leave in a store that takes a change only if taken returns true: for each parcel, the version and the
// courier. If a change that is not taken deletes, it hides what older ones made.
func standing(changes []parcelChange, deletes bool, taken func(*parcelChange) bool) map[string]string {
	newest, left := map[string]int64{}, map[string]string{}
	for i := range changes {
		c := &changes[i]
		if c.test || c.at < newest[c.name] {
			continue
		}
		if taken(c) {
			newest[c.name], left[c.name] = c.at, fmt.Sprintf("%d %s at Oslo", c.at, c.courier)
		} else if deletes {
			newest[c.name] = c.at
			delete(left, c.name)
		}
	}
	return left
}

// parcelRows returns the rows that readers see, in the form of standing.
func (j *job) parcelRows() map[string]string {
	j.t.Helper()
	client, err := hbase.Open(j.t.Context(), hbase.Options{Connect: j.hbase})
	if err != nil {
		j.t.Fatal(err)
	}
	defer client.Close()
	rows := map[string]string{}
	for row, err := range client.Scan(j.t.Context(), j.table, hbase.Scan{}) {
		if err != nil {
			j.t.Fatal(err)
		}
		text, gone := "", false
		for _, c := range row.Cells {
			switch string(c.Qualifier) {
			case "gone":
				gone = len(c.Value) == 1 && c.Value[0] != 0
			case "info":
				text = fmt.Sprintf("%d %s", c.Timestamp, c.Value)
			}
		}
		if !gone {
			rows[string(row.Row[1:])] = text
		}
	}
	return rows
}

// parcelDocuments returns the documents that searches find, in the same form.
func (j *job) parcelDocuments() map[string]string {
	docs := map[string]string{}
	for row, fields := range j.documents() {
		if fields["deleted"] != true {
			docs[row[1:]] = fmt.Sprintf("%v %v", fields["_ver"], fields["info"])
		}
	}
	return docs
}

// TestFiltersEndToEnd checks that in whatever order the changes come, the rows and documents follow the conditions in the order of the
// versions, verify finds nothing, and events that a condition leaves out are counted the same everywhere.
func TestFiltersEndToEnd(t *testing.T) {
	t.Parallel()
	changes := parcelChanges(400)
	onRow, onDocument := func(c *parcelChange) bool { return c.weight >= 0 }, func(c *parcelChange) bool { return c.weight > 100 }
	filtered, noRow, noDocument := int64(0), int64(0), int64(0)
	for i := range changes {
		switch c := &changes[i]; {
		case c.test:
			filtered++
		default:
			noRow += map[bool]int64{false: 1}[onRow(c)]
			noDocument += map[bool]int64{false: 1}[onDocument(c)]
		}
	}
	for _, otherwise := range []string{"delete", "skip"} {
		t.Run(otherwise, func(t *testing.T) {
			t.Parallel()
			j := newJobOf(t, embeddedStack(t), parcelsExample)
			for range 2 { // rows and documents
				j.replace("otherwise: delete", "otherwise: "+otherwise)
			}
			records := make([]sent, len(changes))
			for i := range changes {
				records[i] = sent{partition: i % devPartitions, value: changes[i].record(), time: time.UnixMilli(changes[i].at)}
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
			j.sendAll(records)

			byRows := map[string]int64{j.table: noRow}
			d := lastObject[replays.Diff](t, j.output("replay", "-c", j.file, "--from", "earliest", "--half", "rows", "--json", "--diff", "10000"))
			if d.LeftOut["filtered"] != filtered || !maps.Equal(d.Filtered, byRows) {
				t.Errorf("replay --diff: %v left out, %v filtered", d.LeftOut, d.Filtered)
			}
			planned := lastObject[struct {
				Sample []struct {
					LeftOut  map[string]int64 `json:"left_out_by_reason"`
					Filtered int64            `json:"filtered"`
				} `json:"sample"`
			}](t, j.output("tables", "plan", "-c", j.file, "--offline", "--sample", "topic:"+j.topic, "--json"))
			if len(planned.Sample) != 1 || planned.Sample[0].LeftOut["filtered"] != filtered || planned.Sample[0].Filtered != noRow {
				t.Errorf("tables plan: %+v", planned)
			}
			s, out := j.ran(exitOK)
			if s.LeftOutBy["filtered"] != filtered || !maps.Equal(s.Filtered, byRows) || s.Dead > 0 {
				t.Errorf("run: %+v\n%s", s, out)
			}
			if !strings.Contains(out, fmt.Sprintf(`"filtered":{%q:%d}`, j.name, noDocument)) {
				t.Errorf("run does not say that %d events made no document\n%s", noDocument, out)
			}
			if got, want := j.parcelRows(), standing(changes, otherwise == "delete", onRow); !maps.Equal(got, want) {
				t.Errorf("rows\n%v, want\n%v", got, want)
			}
			if got, want := j.parcelDocuments(), standing(changes, otherwise == "delete", onDocument); !maps.Equal(got, want) {
				t.Errorf("documents\n%v, want\n%v", got, want)
			}
			result, _ := j.verified(exitOK, "--full")
			for i, want := range []map[string]int64{byRows, {j.name: noDocument}} {
				if src := result.Sources[i]; src.LeftOut[event.Filtered] != filtered || !maps.Equal(src.Filtered, want) {
					t.Errorf("verify: %+v, want %v", src, want)
				}
			}
		})
	}
}
