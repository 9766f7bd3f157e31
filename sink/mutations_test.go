package sink_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/sink"
)

// mutations formats the mutations of a batch.
func mutations(b *hbase.Batch) (lines []string) {
	for i := range b.Len() {
		line := fmt.Sprintf("%s %q ttl %d", b.Table(), b.Row(i), b.TTLOf(i))
		for c := range b.Cells(i) {
			line += fmt.Sprintf(" %d %s:%s@%d=%q", c.Type, c.Family, c.Qualifier, c.Timestamp, c.Value)
		}
		lines = append(lines, line)
	}
	return lines
}

// listing is a client that lists the mutations it is given.
type listing struct{ lines []string }

func (*listing) Release() {}
func (*listing) Hurry()   {}

func (l *listing) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	l.lines = append(l.lines, mutations(b)...)
	return durable{}
}

// TestMutationsAreThoseThatSubmitQueues makes the mutations of whole batches of every shape, with events that are rejected and with changes
// that leave and delete rows: they and the failures must be those of Submit, and each mutation's event must be the one that makes it when it
// is alone.
func TestMutationsAreThoseThatSubmitQueues(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var changes []string
	for _, c := range history(random, 30, true) {
		changes = append(changes, c.record())
	}
	for name, c := range map[string]struct {
		opts    sink.Options
		records []string
	}{
		"posts": {sink.Options{Schema: posts, Rows: append(sides(t, "sides"), words(t, "words", event.Words), members(t, "members"))}, []string{
			`{"id":"1","at":1000,"from":"ann","to":"bob","text":"Red shoe, red!","attrs":{"size":42,"tags":["new"],"debug":"x"},"ip":"10.0.0.1"}`,
			`{"id":"4","at":1003,"from":"ann","to":"bob","text":"one two three four five"}`,
			`{"id":"3","at":1002,"from":"cat","to":"cat"}`,
			`{"id":"5","at":1004,"from":"ann","text":"x"}`,
			`{"id":"2","at":1001,"from":"bob","to":"ann","text":"ok","attrs":{"a":null},"score":1.50,"geo":{"lat":1}}`,
		}},
		"marked": {sink.Options{Schema: logged, Rows: loggedRows(t, "t", false)}, changes},
		"hard":   {sink.Options{Schema: logged, Rows: loggedRows(t, "t", true)}, changes},
	} {
		t.Run(name, func(t *testing.T) {
			preview, err := sink.NewPreview(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			client := new(listing)
			s := newSink(t, client, c.opts)
			whole := batch(t, c.opts.Schema, c.records...)
			for range 2 { // the second time in used buffers
				client.lines = nil
				want := submit(t, s, whole)
				var got []string
				var of [][]int
				failures := preview.Mutations(whole.Events, func(rows *hbase.Batch, events []int) {
					got, of = append(got, mutations(rows)...), append(of, slices.Clone(events))
				})
				if !slices.Equal(got, client.lines) || len(got) == 0 {
					t.Fatalf("got\n%s\nSubmit queues\n%s", strings.Join(got, "\n"), strings.Join(client.lines, "\n"))
				}
				if text := failuresText(failures); text != want {
					t.Errorf("failures\n%s\nof Submit\n%s", text, want)
				}
				alone(t, s, client, whole.Events, got, slices.Concat(of...))
			}
		})
	}
}

// alone submits each event alone.
func alone(t *testing.T, s *sink.Sink, client *listing, events []event.Event, lines []string, of []int) {
	t.Helper()
	for i := range events {
		client.lines = nil
		submit(t, s, &event.Batch{Events: events[i : i+1]})
		var want []string
		for n, line := range lines {
			if of[n] == i {
				want = append(want, line)
			}
		}
		if !slices.Equal(client.lines, want) {
			t.Errorf("event %d alone makes\n%s\namong others\n%s", i, strings.Join(client.lines, "\n"), strings.Join(want, "\n"))
		}
	}
}
