package ingest

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kfake"

	"brine/internal/memnet"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// unless returns dial, which fails while down is set.
func unless(down *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if down.Load() {
			return nil, errors.New("connection refused")
		}
		return dial(ctx, network, address)
	}
}

// inBubble runs a test in a synctest bubble with a broker on an in-memory network.
func inBubble(t *testing.T, partitions int, test func(t *testing.T, b *fakeKafka)) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New(1)
		b := &fakeKafka{t: t, dial: n.NewPlace("brine").Dial, sent: map[int]int64{}}
		b.begin(kfake.SeedTopics(int32(partitions), topic), kfake.ListenFn(n.NewPlace("broker").Listen))
		b.client = b.newClient()
		test(t, b)
	})
}
