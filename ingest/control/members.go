package control

import (
	"context"
	"encoding/json"
	"time"

	"brine/event"
)

// Member is what a member of a consumer group reports about its process. A member that stops removes its report. A killed one does not, so
// a report counts only while the group lists its member.
type Member struct {
	Group   string    `json:"group"`
	ID      string    `json:"member"` // in the group
	Version string    `json:"version"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Started time.Time `json:"started"` // when the process started
}

// memberKey begins the keys of members.
const memberKey = "member "

// Report writes what members report and removes the reports of others. It returns nil once that is durable.
func (t *Topic) Report(ctx context.Context, members, gone []Member) error {
	var records []event.Record
	for i := range members {
		value, err := json.Marshal(&members[i])
		if err != nil {
			return err
		}
		records = append(records, members[i].record(value))
	}
	for i := range gone {
		records = append(records, gone[i].record(nil))
	}
	if len(records) == 0 {
		return nil
	}
	return t.write(ctx, records)
}

func (m *Member) record(value []byte) event.Record {
	return event.Record{Timestamp: time.Now().UnixMilli(), Key: []byte(memberKey + m.Group + " " + m.ID), Value: value}
}

// Members returns the reports of members as of the last Read, also those of members that were killed since.
func (t *Topic) Members() []Member {
	t.reports.Lock()
	defer t.reports.Unlock()
	members := make([]Member, 0, len(t.members))
	for _, m := range t.members {
		members = append(members, m)
	}
	return members
}

// report adopts a member's report, or its removal.
func (t *Topic) report(rec *event.Record) {
	t.reports.Lock()
	defer t.reports.Unlock()
	var m Member
	if len(rec.Value) == 0 || json.Unmarshal(rec.Value, &m) != nil {
		delete(t.members, string(rec.Key))
		return
	}
	t.members[string(rec.Key)] = m
}
