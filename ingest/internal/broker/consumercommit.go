package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// ErrLost is the error of a commit for what the group has taken from us, by either protocol. A retry does not help.
var ErrLost = errors.New("the group has assigned these partitions to others")

// Tenure is the time from a join until the group drops us. Its commits fail once it is over, even if we have joined again.
type Tenure struct {
	over bool // guarded by the consumer's mu
}

// Commit commits offsets of a topic, of partitions that were taken in a tenure and are not released yet. While the coordinator rejects our
// epoch as old, it waits for the new one. It fails once the tenure is over, even if we have joined again.
func (m *Consumer) Commit(t *Tenure, topic string, commits map[int]Commit) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.CommitTimeout)
	defer cancel()
	m.committing.Lock()
	defer m.committing.Unlock()
	for {
		m.mu.Lock()
		claim, moved, over := Claim{m.Group, int(m.epoch), m.id, m.InstanceID}, m.moved, t.over
		m.mu.Unlock()
		if over {
			return ErrLost
		}
		err := m.commit(ctx, &epochCommit{claim, topic, commits})
		switch {
		case errors.Is(err, fencedEpoch), errors.Is(err, kafka.UnknownMemberId):
			m.nudge()
		case errors.Is(err, staleEpoch):
			m.nudge()
			select {
			case <-moved:
				continue
			case <-ctx.Done():
			}
		}
		return err
	}
}

func (m *Consumer) commit(ctx context.Context, q *epochCommit) error {
	answer, err := m.commits.call(ctx, q, epochCommitVersion, m.CommitTimeout)
	if err != nil {
		return err
	}
	codes := answer.(*epochCommitAnswer).codes
	for p := range q.commits {
		code, ok := codes[p]
		if !ok {
			return fmt.Errorf("commit of group %q: no answer for partition %d", m.Group, p)
		}
		if err := m.commits.failure(code); err != nil {
			return fmt.Errorf("commit of group %q, partition %d: %w", m.Group, p, err)
		}
	}
	return nil
}
