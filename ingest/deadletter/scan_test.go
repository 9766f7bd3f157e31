package deadletter

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest/internal/broker"
)

// TestTopicDeletedWhileItIsRead checks that a scan of several topics goes on with the next one.
func TestTopicDeletedWhileItIsRead(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 2)
	scan := scanOf(b)
	other := scan.Topics[0]
	scan.Topics[0].RequestTimeout = 10 * time.Second // for as long the deleted topic is asked for
	other.Topic = "other.dead"
	scan.Topics = append(scan.Topics, other)
	for _, o := range scan.Topics {
		c := broker.New(b.kafka(), time.Minute, topic, o.Topic)
		t.Cleanup(c.Close)
		d, err := OpenTopic(t.Context(), c, o.Topic, topic, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), []Letter{bad(0, 1, "x"), bad(1, 2, "y")}); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for letter, err := range scan.Letters(t.Context(), Place{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, letter.Place.String())
		if letter.Place.Topic != topic+".dead" {
			continue
		}
		drop := kmsg.NewPtrDeleteTopicsRequest()
		drop.TopicNames, drop.Topics = []string{letter.Place.Topic}, []kmsg.DeleteTopicsRequestTopic{{Topic: &letter.Place.Topic}}
		if _, err := drop.RequestWith(t.Context(), b.newClient()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{topic + ".dead/0:0", "other.dead/0:0", "other.dead/1:0"}; !slices.Equal(seen, want) {
		t.Errorf("read %q, want %q", seen, want)
	}
}
