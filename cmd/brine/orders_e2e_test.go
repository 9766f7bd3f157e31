package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/valyala/fastjson"

	"brine/internal/sample"
	"brine/internal/testenv"
)

const orderCount = 2000

// orderChanges returns the sample's order changes. Every tenth order has two more in one millisecond with different notes and carriers, the
// latter of which wins.
func orderChanges() [][]byte {
	var all [][]byte
	ties := 0
	for change := range sample.Orders(orderCount) {
		all = append(all, change)
		if v := fastjson.MustParseBytes(change); string(v.GetStringBytes("status")) == sample.Paid {
			if ties++; ties%10 != 0 {
				continue
			}
			for _, note := range []string{"first", "second"} {
				all = append(all, fmt.Appendf(nil, `{"order":%s,"user":%s,"created":%s,"at":%d,"note":%q,"brand":%q}`,
					v.Get("order"), v.Get("user"), v.Get("created"), v.GetInt64("at")+1, note, note))
			}
		}
	}
	return all
}

// shuffled reorders the changes, except those of one order and version, because the last of equal versions wins.
func shuffled(changes [][]byte, seed uint64) [][]byte {
	out := slices.Clone(changes)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	identity := func(change []byte) string {
		v := fastjson.MustParseBytes(change)
		return fmt.Sprintf("%s@%d", v.GetStringBytes("order"), v.GetInt64("at"))
	}
	queues := map[string][][]byte{}
	for _, change := range changes {
		queues[identity(change)] = append(queues[identity(change)], change)
	}
	for i := range out {
		id := identity(out[i])
		out[i], queues[id] = queues[id][0], queues[id][1:]
	}
	return out
}

// repeated returns every change twice, the second time after up to fifty others.
func repeated(changes [][]byte) [][]byte {
	var out [][]byte
	for from := 0; from < len(changes); from += 50 {
		part := changes[from:min(len(changes), from+50)]
		out = append(append(out, part...), part...)
	}
	return out
}

// orders is the result of a run of the pipeline.
type orders struct {
	rows contents
	docs documents
}

func (o orders) String() string { return o.rows.String() + "; " + o.docs.String() }

// outcome reads both stores and compares them with each other.
func (j *job) outcome() orders {
	j.t.Helper()
	o := orders{rows: scanTable(j.t, j.hbase, j.table), docs: j.documents()}
	fields := j.checkAgainstRows(o.docs)
	j.t.Logf("%v; %d fields of documents and rows are equal, versions too", o, fields)
	return o
}

func (j *job) expect(want orders) {
	j.t.Helper()
	got := j.outcome()
	if got.rows != want.rows {
		j.t.Errorf("the tables differ: %v, want %v", got.rows, want.rows)
	}
	compare(j.t, got.docs, want.docs)
}

var calmOrders shared[orders]

// undisturbedChanges is the result of undisturbedOrders for orderChanges; nobody changes it.
func undisturbedChanges(t *testing.T) orders {
	t.Helper()
	return calmOrders.by(t, func() orders { return undisturbedOrders(t, orderChanges()) })
}

// undisturbedOrders returns the result of one calm run on the embedded stack for these changes.
func undisturbedOrders(t *testing.T, changes [][]byte) orders {
	t.Helper()
	j := newJobOf(t, embeddedStack(t), ordersExample)
	n := j.publish(slices.Values(changes))
	j.must("run", "-q", "-c", j.file, "--until-end")
	t.Logf("embedded, undisturbed: %d events", n)
	return j.outcome()
}

// mixedStack is the embedded Kafka and HBase with a real Elasticsearch.
func mixedStack(t *testing.T) stack {
	t.Helper()
	url := testenv.Elasticsearch(t)
	s := embeddedStack(t)
	s.search, s.lasting = url, true
	return s
}

var orderStacks = []struct {
	name  string
	start func(*testing.T) stack
}{{"embedded", embeddedStack}, {"real Elasticsearch", mixedStack}, {"real", realStack}}

// TestOrdersEndToEnd checks that in whatever order the changes come, each order ends as the same row and the same document, on any servers.
func TestOrdersEndToEnd(t *testing.T) {
	t.Parallel()
	changes := orderChanges()
	want := undisturbedChanges(t)
	if want.rows.rows != orderCount || len(want.docs) != orderCount {
		t.Fatalf("%d orders became %v", orderCount, want)
	}
	ways := []struct {
		name    string
		changes iter.Seq[[]byte]
	}{
		{"as they were", slices.Values(changes)},
		{"shuffled and repeated", slices.Values(repeated(shuffled(changes, 2)))},
	}
	for _, s := range orderStacks {
		for i, way := range ways {
			if s.name == "embedded" && i == 0 {
				continue // the others are compared with it
			}
			t.Run(s.name+"/"+way.name, func(t *testing.T) {
				t.Parallel() // much of it is waiting for tables to be created and deleted
				j := newJobOf(t, s.start(t), ordersExample)
				n := j.publish(way.changes)
				start := time.Now()
				j.must("run", "-q", "-c", j.file, "--until-end")
				t.Logf("%d events, %v with the start and the group's forming", n, time.Since(start).Round(10*time.Millisecond))
				j.expect(want)
			})
		}
	}
}

// TestOrdersKilledInMidStream kills brine while both halves have work left.
func TestOrdersKilledInMidStream(t *testing.T) {
	notShort(t)
	t.Parallel()
	changes := orderChanges()
	want := undisturbedChanges(t)
	for _, s := range orderStacks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for the sessions of killed members
			j := newJobOf(t, s.start(t), ordersExample)
			j.shortSessions()
			const slow = "    read: { rate: 200, max_batch_records: 100 }\n" // enough for a kill to hit it in the middle
			j.replace("    topic: ", slow+"    topic: ")
			j.publish(slices.Values(changes))
			const kills = 2
			left := map[string]int{}
			for range kills {
				halves := []string{"rows", "documents"}
				before := map[string]int{}
				for _, half := range halves {
					before[half] = j.uncommitted(half)
				}
				cmd := j.command("run", "-q", "-c", j.file)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for _, half := range halves {
					if before[half] > 0 {
						j.progress(half, before[half])
					}
				}
				wait(t, time.Duration(rand.IntN(100))*time.Millisecond)
				kill(t, cmd)
				for _, half := range halves {
					left[half] += j.uncommitted(half)
				}
			}
			if left["rows"] == 0 || left["documents"] == 0 {
				t.Fatalf("uncommitted at the kills: %v: the test tried too little", left)
			}
			j.replace(slow, "")
			j.must("run", "-q", "-c", j.file, "--until-end")
			if n := j.uncommitted("rows") + j.uncommitted("documents"); n != 0 {
				t.Errorf("%d records are not committed after the drain", n)
			}
			t.Logf("%d kills, uncommitted at them %v", kills, left)
			j.expect(want)
		})
	}
}
