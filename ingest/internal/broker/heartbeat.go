package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// sendHeartbeats calls revoke when the group rebalances, and g.lost when it has removed us or no answer has come for so long that it must
// have.
// If the coordinator is away for less than that, it costs nothing.
func (m *Member) sendHeartbeats(ctx context.Context, g *Generation, revoke context.CancelCauseFunc) {
	tick := time.NewTicker(m.Heartbeat)
	defer tick.Stop()
	for heard := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := m.beat(ctx, g)
		switch {
		case err == nil:
			heard = time.Now()
		case errors.Is(err, kafka.RebalanceInProgress):
			heard = time.Now()
			revoke(err)
		case expelled(err), Refused(err):
			g.lost(err)
			return
		case time.Since(heard) > m.SessionTimeout:
			g.lost(fmt.Errorf("no answer to a heartbeat for %v: %w", m.SessionTimeout, err))
			return
		}
	}
}

func (m *Member) beat(ctx context.Context, g *Generation) error {
	answer, err := m.at.call(ctx, &beatRequest{
		group: m.Group, generation: g.ID, member: g.Member, instance: m.InstanceID,
	}, beatVersion, min(m.cluster.timeout, m.SessionTimeout/3))
	if err != nil {
		return err
	}
	return m.at.failure(answer.(*beatAnswer).code)
}

// beatRequest is a heartbeat. kafka-go has one too, but takes the error of an answer for its throttle time.
type beatRequest struct {
	group      string
	generation int32
	member     string
	instance   string
}

type beatAnswer struct{ code int16 }

func (*beatRequest) ApiKey() protocol.ApiKey { return protocol.Heartbeat }
func (*beatAnswer) ApiKey() protocol.ApiKey  { return protocol.Heartbeat }

// exchange writes length int32 · key int16 · version int16 · correlation id int32 · client id · group · generation int32 · member · from
// version 3 on the instance, null for none. It reads, from version 1 on, throttle time int32 · error int16.
func (h *beatRequest) exchange(rw io.ReadWriter, version int16, client string) (*beatAnswer, error) {
	b := appendString(newRequest(protocol.Heartbeat, version, client), h.group)
	b = binary.BigEndian.AppendUint32(b, uint32(h.generation))
	b = appendString(b, h.member)
	switch {
	case version < beatVersion:
	case h.instance == "":
		b = append(b, 0xff, 0xff)
	default:
		b = appendString(b, h.instance)
	}
	return exchange(rw, protocol.Heartbeat, b, func(answer []byte) (*beatAnswer, error) {
		r := reader{b: answer}
		if version > 0 {
			r.skip(4)
		}
		a := &beatAnswer{r.int16()}
		if r.bad {
			return nil, fmt.Errorf("the answer to a heartbeat has only %d bytes", len(answer))
		}
		return a, nil
	})
}
