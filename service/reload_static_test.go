package service_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	kafka "brine/ingest/embedded"
	"brine/service/reload"
)

// TestStaticMembersLeaveForGood checks that a static member leaves its group when a reload removes its pipeline, or selects the other
// protocol, and that it keeps its place when the pipeline changes and when the process stops.
func TestStaticMembersLeaveForGood(t *testing.T) {
	for _, protocol := range [][2]string{{"classic", "consumer"}, {"consumer", "classic"}} {
		t.Run(protocol[0], func(t *testing.T) {
			t.Parallel()
			static := func(text, protocol string) string {
				return strings.Replace(text, "group: brine,", "group: brine, instance_id: pod-0, group_protocol: "+protocol+",", 1)
			}
			r := startLines(t, static(lines+thirdLine, protocol[0]))
			left := leftForGood(r.on.servers.Kafka())
			for _, c := range []struct {
				does, text string
				want       []string
			}{
				{"changes a pipeline", static(lines+strings.Replace(thirdLine, "    topic: third\n", "    topic: third\n    when: n > 3\n", 1), protocol[0]), nil},
				{"removes one", static(lines, protocol[0]), []string{"brine.third.rows"}},
				{"selects the other protocol", static(lines, protocol[1]), []string{"brine.moving.documents", "brine.moving.rows", "brine.steady.rows"}},
			} {
				r.reload(c.text, reload.Applied)
				for _, half := range []string{"steady.rows", "moving.rows", "moving.documents"} {
					r.joined(half)
				}
				if got := left(); !slices.Equal(got, c.want) {
					t.Errorf("a reload that %s: %q leave for good, want %q", c.does, got, c.want)
				}
			}
			r.stop()
			if got := left(); len(got) > 0 {
				t.Errorf("the process stops: %q leave for good", got)
			}
		})
	}
}

// leftForGood returns a function that returns the groups which the static member pod-0 has left for good since it was last called.
func leftForGood(b *kafka.Broker) func() []string {
	var mu sync.Mutex
	groups := []string{}
	note := func(group string, instance *string) {
		mu.Lock()
		defer mu.Unlock()
		if instance != nil && *instance == "pod-0" {
			groups = append(groups, group)
		}
	}
	b.ControlKey(kmsg.LeaveGroup.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		for _, m := range q.(*kmsg.LeaveGroupRequest).Members {
			note(q.(*kmsg.LeaveGroupRequest).Group, m.InstanceID)
		}
		return nil, nil, false
	})
	b.ControlKey(kmsg.ConsumerGroupHeartbeat.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.KeepControl()
		if q := q.(*kmsg.ConsumerGroupHeartbeatRequest); q.MemberEpoch == -1 {
			note(q.Group, q.InstanceID)
		}
		return nil, nil, false
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		got := slices.Sorted(slices.Values(groups))
		groups = nil
		return got
	}
}
