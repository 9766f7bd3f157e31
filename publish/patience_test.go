package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/internal/testenv"
)

// TestPublishWaitsForCoordinators makes several consecutive requests fail, starting at one index, for longer than the client retries by
// itself: the command goes on, reports what it waits for, and publishes each record once.
func TestPublishWaitsForCoordinators(t *testing.T) {
	t.Parallel()
	const records, batch, partitions, inRow = 60, 20, 2, 4
	broker := testenv.KafkaFake(t, partitions)
	var said bytes.Buffer
	for n, f := range []struct {
		key kmsg.Key
		err *kerr.Error
	}{
		{kmsg.InitProducerID, kerr.CoordinatorNotAvailable}, {kmsg.InitProducerID, kerr.NotCoordinator},
		{kmsg.AddPartitionsToTxn, kerr.CoordinatorNotAvailable}, {kmsg.EndTxn, kerr.NotCoordinator}, {kmsg.EndTxn, kerr.CoordinatorNotAvailable},
	} {
		for _, index := range []int{0, 2} {
			topic := fmt.Sprintf("w%d_%d", n, index)
			createTopic(t, broker, topic, partitions)
			seen := 0
			fault := broker.Fault(kfake.Fault{Keys: []kmsg.Key{f.key}, Err: f.err, Count: -1, When: func(kmsg.Request) bool {
				seen++
				return seen > index && seen <= index+inRow
			}})
			p := Patience{Limit: time.Minute, Log: &said}
			_, got, err := p.Attempts(t.Context(), false, func(again bool) (int64, int64, error) {
				p := Transactions{Topic: topic, Name: "publish." + topic, batch: batch, Sent: func(int64) { p.Moved() }}
				return p.Publish(t.Context(), options(broker, 300*time.Millisecond), numbered(records), again)
			})
			fault.Remove()
			if err != nil || got != records {
				t.Errorf("%s from request %d on fails with %s: %d records: %v", f.key.Name(), index, f.err.Message, got, err)
			}
			there := countCommitted(t, broker, topic, partitions)
			for value, times := range there {
				if times != 1 {
					t.Errorf("%s from request %d on fails with %s: record %s is there %d times", f.key.Name(), index, f.err.Message, value, times)
				}
			}
			if len(there) != records {
				t.Errorf("%s from request %d on fails with %s: %d of %d records", f.key.Name(), index, f.err.Message, len(there), records)
			}
		}
	}
	if !strings.Contains(said.String(), "waiting for Kafka, for at most 1m0s: ") || !strings.Contains(said.String(), "COORDINATOR") {
		t.Errorf("said %q", said.String())
	}
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			err   error
			after time.Duration
		}{
			"no coordinator":      {fmt.Errorf("x: %w", kerr.CoordinatorNotAvailable), MaxWait},
			"no leader":           {fmt.Errorf("x: %w", kafka.LeaderNotAvailable), MaxWait},
			"timed out":           {kerr.RequestTimedOut, MaxWait},
			"refused":             {&net.OpError{Op: "dial", Err: errors.New("refused")}, MaxWait},
			"not allowed":         {kerr.TransactionalIDAuthorizationFailed, 0},
			"not allowed, either": {kafka.TopicAuthorizationFailed, 0},
			"another process":     {kerr.ProducerFenced, 0},
			"other records":       {ErrOtherRecords, 0},
		} {
			began, tries := time.Now(), 0
			p := Patience{Limit: MaxWait, Log: new(bytes.Buffer)}
			_, _, err := p.Attempts(t.Context(), false, func(bool) (int64, int64, error) { tries++; return 0, 0, tt.err })
			if took := time.Since(began); !errors.Is(err, tt.err) || took != tt.after || (tries > 1) != (tt.after > 0) || tries > 100 {
				t.Errorf("%s: %d tries in %s: %v", name, tries, took, err)
			}
		}
	})
}

// Progress restarts the waiting time; a stopped command does not wait.
func TestPatienceStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		p := Patience{Limit: MaxWait, Log: new(bytes.Buffer)}
		began := time.Now()
		before, n, err := p.Attempts(ctx, false, func(bool) (int64, int64, error) {
			time.Sleep(MaxWait - time.Minute)
			p.Moved()
			if time.Since(began) > 3*MaxWait {
				stop()
			}
			return 7, int64(time.Since(began) / time.Minute), kerr.NotCoordinator
		})
		if before != 7 || n != 16 || !errors.Is(err, kerr.NotCoordinator) {
			t.Errorf("%d before, %d published: %v", before, n, err)
		}
	})
}

// Publishing everything again is not restarted once something of it is there, or while that is unknown.
func TestPublishAgainGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Patience{Limit: MaxWait, Log: new(bytes.Buffer)}
		var asked []bool
		_, n, err := p.Attempts(t.Context(), true, func(again bool) (int64, int64, error) {
			asked = append(asked, again)
			switch len(asked) {
			case 1:
				return 0, 0, kerr.CoordinatorNotAvailable
			case 2:
				return 0, 10, fmt.Errorf("%w: %w", errUnclearEnd, kerr.RequestTimedOut)
			}
			return 20, 5, nil
		})
		if fmt.Sprint(asked) != "[true true false]" || n != 25 || err != nil {
			t.Errorf("%v: %d records: %v", asked, n, err)
		}
		tries := 0
		_, _, err = p.Attempts(t.Context(), true, func(bool) (int64, int64, error) {
			tries++
			return 0, 0, fmt.Errorf("%w: %w", errUnclearEnd, kerr.RequestTimedOut)
		})
		if tries != 1 || !errors.Is(err, errUnclearEnd) {
			t.Errorf("%d tries: %v", tries, err)
		}
	})
}
