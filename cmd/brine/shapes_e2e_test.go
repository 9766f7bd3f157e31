package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/internal/when"
)

// shape is a configuration of testdata/shapes with records, and what queries must find.
type shape struct {
	example
	records []string
	queries map[string]string // from the arguments after the table to the answer: the fields of each row
	dead    int
}

func shapes(now time.Time) []shape {
	at := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() }
	shown := func(ms int64) string { return when.Text(ms) }
	words := shape{example: example{"words.yaml", "words", "shop.words", "shop:words", "", "order"}, dead: 1, records: []string{
		`{"order":"o1","user":"ann","created":1357034220000,"items":[{"name":"红色鞋"},{"name":"Nike Air","sku":"x1"}],"brand":"NIKE"}`,
		`{"order":"o2","user":"ann","created":1357034221000,"items":[{"name":"鞋带"}],"brand":null}`,
		`{"order":"o3","user":"bob","created":1357034222000,"items":[]}`,
		fmt.Sprintf(`{"order":"o4","user":"bob","created":1357034222000,"brand":%q}`, strings.Join(alphabet(65), " ")),
	}, queries: map[string]string{
		"user=ann token=鞋 --fields order":        "order:o2 | order:o1",
		"user=ann token=红色 --fields order,token": "order:o1 token:红色",
		"user=ann token=nike --fields order":     "order:o1",
		"user=ann token=x1":                      "",
		"user=bob":                               "",
	}}
	talks := shape{example: example{"talks.yaml", "talks", "shop.talks", "shop:talks", "", "id"}, records: []string{
		`{"id":"1","from":"ann","to":"bob","at":1357034220000,"text":"hi"}`,
		`{"id":"2","from":"bob","to":"ann","at":1357034221000,"text":"hello"}`,
		`{"id":"3","from":"ann","to":"cat","at":1357034222000,"text":"cat?"}`,
	}, queries: map[string]string{
		"owner=ann peer=bob --fields from,id,text": "from:bob id:2 text:hello | from:ann id:1 text:hi",
		"owner=bob peer=ann --fields from,id,text": "from:bob id:2 text:hello | from:ann id:1 text:hi",
		"owner=cat --fields from,peer,text":        "from:ann peer:ann text:cat?",
	}}
	risks := shape{example: example{"risks.yaml", "risks", "shop.risks", "shop:risks", "", "member"}, dead: 1, records: []string{
		fmt.Sprintf(`{"member":"m1","at":%d,"rule":"r7","facts":{"score":0.50,"ips":["a","b"]},"channel":"app","trace":"t"}`, at(time.Hour)),
		fmt.Sprintf(`{"member":"m1","at":%d,"rule":null,"channel":"web","facts":{}}`, at(2*time.Hour)),
		fmt.Sprintf(`{"member":"m1","at":%d,"rule":"old"}`, at(25*time.Hour)),
		fmt.Sprintf(`{"member":"m1","at":%d,"a":1,"b":2,"c":3,"d":4}`, at(3*time.Hour)),
	}, queries: map[string]string{
		"member=m1": `*:map[channel:app] at:` + shown(at(time.Hour)) + ` facts:map[ips:["a","b"] score:0.50] member:m1 rule:r7 | ` +
			`*:map[channel:web] at:` + shown(at(2*time.Hour)) + ` facts:<nil> member:m1 rule:<nil>`,
	}}
	return []shape{words, talks, risks}
}

// alphabet returns this many different words.
func alphabet(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("w", i))
	}
	return out
}

// TestShapesEndToEnd takes records through Kafka into rows of each shape, and queries them, with the same results on both servers.
func TestShapesEndToEnd(t *testing.T) {
	notShort(t)
	t.Parallel()
	for name, servers := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servers(t)
			for _, x := range shapes(time.Now()) {
				t.Run(x.pipeline, func(t *testing.T) {
					x.file = "../cmd/brine/testdata/shapes/" + x.file
					j := newJobOf(t, s, x.example)
					j.publish(func(yield func([]byte) bool) {
						for _, r := range x.records {
							if !yield([]byte(r)) {
								return
							}
						}
					})
					j.must("run", "-q", "-c", j.file, "--until-end")
					for query, want := range x.queries {
						if diff := cmp.Diff(want, j.fieldsOf(strings.Fields(query)...)); diff != "" {
							t.Errorf("%s (-want +got):\n%s", query, diff)
						}
					}
					if x.dead > 0 {
						if letters := j.deadLetters(); len(letters) != x.dead || letters[0].Reason != event.TooLarge {
							t.Errorf("dead letters %v, not %d", letters, x.dead)
						}
					}
				})
			}
		})
	}
}

// fieldsOf returns the fields of the rows that a query finds.
func (j *job) fieldsOf(query ...string) string {
	var rows []string
	for _, row := range j.answered(query...) {
		var fields []string
		for name, value := range row["fields"].(map[string]any) {
			fields = append(fields, fmt.Sprint(name, ":", value))
		}
		slices.Sort(fields)
		rows = append(rows, strings.Join(fields, " "))
	}
	return strings.Join(rows, " | ")
}

// TestManyWordsInLittleMemory: a batch of events may become many times its size, and more than all of memory.
func TestManyWordsInLittleMemory(t *testing.T) {
	notShort(t)
	const orders, each = 2000, 64
	j := newJobOf(t, embeddedStack(t), example{"../cmd/brine/testdata/shapes/words.yaml", "words", "shop.words", "shop:words", "", "order"})
	j.replace("tables:", "memory: 16MiB\ntables:")
	brand := strings.Join(alphabet(each), " ")
	j.publish(func(yield func([]byte) bool) {
		for i := range orders {
			if !yield(fmt.Appendf(nil, `{"order":"order-%06d","user":"user-%03d","created":%d,"brand":%q}`, i, i%100, 1357034220000+i, brand)) {
				return
			}
		}
	})
	j.must("run", "-q", "-c", j.file, "--until-end")
	if got := scanTable(t, j.hbase, j.table); got.rows != orders*each {
		t.Errorf("%d rows of %d orders of %d words", got.rows, orders, each)
	}
}
