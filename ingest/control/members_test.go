package control

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"brine/event"
)

// Reports of members are stored beside what is asked, and what later versions may store beside them is skipped.
func TestMembersAskForNothing(t *testing.T) { onBoth(t, testMembersAskForNothing) }

func testMembersAskForNothing(t *testing.T, topic *Topic) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	paused := Entry{Paused: true, At: at}
	if err := topic.Put(t.Context(), "a", paused); err != nil {
		t.Fatal(err)
	}
	first := Member{Group: "a", ID: "m-1", Version: "1.3.0", Host: "pod-0", PID: 7, Started: at}
	second, other := first, first
	second.ID, second.Version, other.Group = "m-2", "1.4.0", "b"
	report := func(members, gone []Member, want ...Member) {
		t.Helper()
		if err := topic.Report(t.Context(), members, gone); err != nil {
			t.Fatal(err)
		}
		again := Open(topic.opts) // another process, which reads the topic from its start
		defer again.Close()
		for _, reader := range []*Topic{topic, again} {
			reader.want(t, "beside members", map[string]Entry{"a": paused})
			got, expected := map[Member]bool{}, map[Member]bool{}
			for _, m := range reader.Members() {
				got[m] = true
			}
			for _, m := range want {
				expected[m] = true
			}
			if !maps.Equal(got, expected) {
				t.Errorf("members %+v; expected %+v", got, expected)
			}
		}
	}
	report([]Member{first, second, other}, nil, first, second, other)
	first.Version = "1.4.0"
	report([]Member{first}, []Member{other}, first, second)
	for key, value := range map[string]string{"member a m-3": "{", "later a": `{"paused":true}`} {
		rec := event.Record{Timestamp: 1, Key: []byte(key), Value: []byte(value)}
		if err := topic.cluster.Produce(t.Context(), topic.opts.Topic, 0, []event.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	report(nil, nil, first, second)
	report(nil, []Member{first, second})
}

// Versions without reports read one as a request for a group of its key: it must ask for nothing.
func TestMembersAskForNothingOfEarlierVersions(t *testing.T) {
	value, err := json.Marshal(Member{Group: "a", ID: "m-1", Version: "1.4.0", Host: "pod-0", PID: 7, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var e Entry
	if err := json.Unmarshal(value, &e); err != nil || !e.nothing() {
		t.Errorf("%s is read as %+v, %v", value, e, err)
	}
}
