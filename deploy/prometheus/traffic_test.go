package prometheus

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// traffic publishes events to brine dev's topics, some every 200 ms until the test ends, so that there are rates to show, and once an event
// that no pipeline can read, for the dead letters.
func traffic(t *testing.T, broker string) {
	t.Helper()
	w := &kafka.Writer{Addr: kafka.TCP(broker), Balancer: &kafka.Hash{}, BatchTimeout: 10 * time.Millisecond, RequiredAcks: kafka.RequireAll}
	if err := w.WriteMessages(t.Context(), kafka.Message{Topic: "courier.scans", Value: []byte("no JSON")}); err != nil {
		t.Fatal(err)
	}
	var publisher sync.WaitGroup
	publisher.Go(func() {
		defer w.Close()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			if err := w.WriteMessages(t.Context(), events(n)...); err != nil {
				if t.Context().Err() == nil { // otherwise brine dev ends as well
					t.Error(err)
				}
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
		}
	})
	t.Cleanup(publisher.Wait) // the test's context ends before its cleanups run
}

// events returns a few present scans and order changes.
func events(n int) (messages []kafka.Message) {
	at := time.Now().UnixMilli()
	for i := range 10 {
		waybill := fmt.Sprintf("T%d-%d", n, i)
		messages = append(messages, kafka.Message{Topic: "courier.scans", Key: []byte(waybill), Value: fmt.Appendf(nil,
			`{"waybill": %q, "at": %d, "action": "LOADED", "station": "S%d", "courier": "C%d"}`, waybill, at, i, i)})
		order, user := fmt.Sprintf("O%d-%d", n, i), fmt.Sprintf("U%d", i)
		messages = append(messages, kafka.Message{Topic: "shop.orders", Key: []byte(order), Value: fmt.Appendf(nil,
			`{"order": %q, "user": %q, "created": %d, "at": %d, "status": "created"}`, order, user, at, at)})
	}
	return messages
}
