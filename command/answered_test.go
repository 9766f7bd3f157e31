package command_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/command"
)

// shopSays writes a change of the shop as the pipeline does.
func (h *hindered) shopSays(e *command.Entry, at int64, status string) {
	h.t.Helper()
	order, _, _ := strings.Cut(e.ID, " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write(h.t, command.Record{Value: fmt.Appendf(nil, `{"order":%q,"user":"u","created":5,"at":%d,"status":%q}`, order, at, status)})
}

// TestAnswersOfTheShop checks what becomes of a command in a topic of its own: what the shop's next change of the row says, or unanswered
// after AnswerWithin, which frees the place.
func TestAnswersOfTheShop(t *testing.T) {
	for _, c := range []struct {
		name     string
		during   string // state in the shop's answer after half of the time
		within   time.Duration
		want     command.State
		another  bool   // another command is accepted afterwards
		later    string // state in the shop's answer afterwards
		wantLate command.State
	}{
		{"as the command says", "received", time.Hour, command.Applied, false, "", command.Applied},
		{"otherwise", "returned", time.Hour, command.Overtaken, false, "", command.Overtaken},
		{"never, and nobody minds", "", 0, command.Published, false, "", command.Published},
		{"never", "", time.Hour, command.Unanswered, false, "", command.Unanswered},
		{"late", "", time.Hour, command.Unanswered, false, "received", command.Applied},
		{"late and otherwise", "", time.Hour, command.Unanswered, false, "returned", command.Unanswered},
		{"late, for another perhaps", "", time.Hour, command.Unanswered, true, "received", command.Unanswered},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHindered(t)
				h.machine.Topic, h.machine.Elsewhere, h.machine.AnswerWithin = "shop.commands", true, c.within
				e := h.add("a", 1)
				h.shopSays(&e, 7, "shipped")
				h.run(30 * time.Minute)
				h.want("a", command.Published)
				if c.during != "" {
					h.shopSays(&e, 9, c.during)
				}
				h.run(31 * time.Minute)
				h.want("a", c.want)
				if c.another && !h.free(&e) {
					t.Error("its place is not free")
				}
				if c.later != "" {
					h.shopSays(&e, 20, c.later)
				}
				h.run(3 * time.Minute)
				h.want("a", c.wantLate)
				got, _, err := h.box.Get(t.Context(), "a")
				if late := strings.HasPrefix(got.Detail, "it was applied after it had ended as unanswered: the reader of the topic shop.commands has not"); err != nil ||
					late != (c.want != c.wantLate) {
					t.Errorf("it says %q, %v", got.Detail, err)
				}
				if n := len(h.late); n != map[bool]int{true: 1}[c.want != c.wantLate] {
					t.Errorf("%d late commands are reported", n)
				}
				if freed := c.want == command.Unanswered && !c.another; h.free(&e) != freed {
					t.Errorf("its place is free: %v", !freed)
				}
			})
		})
	}
}

// TestAReplayedDeadLetter checks a command that the pipeline has made a dead letter, which is replayed later.
func TestAReplayedDeadLetter(t *testing.T) {
	for _, c := range []struct {
		name   string
		replay func(h *hindered, e *command.Entry)
		want   command.State
	}{
		{"never", func(*hindered, *command.Entry) {}, command.Failed},
		{"and applied", func(h *hindered, e *command.Entry) { h.shopSays(e, 8, "received") }, command.Applied},
		{"and followed by another command", func(h *hindered, e *command.Entry) {
			h.shopSays(e, 8, "received")
			next := *e
			next.ID, next.Key, next.Expected = "a next", "next", 8
			if err := h.box.Add(h.t.Context(), &next); err != nil {
				h.t.Error(err)
			}
			h.shopSays(e, 99, "deleted")
		}, command.Applied},
		{"behind a newer change of the shop", func(h *hindered, e *command.Entry) { h.shopSays(e, 99, "returned") }, command.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHindered(t)
				e := h.add("a", 1)
				h.shopSays(&e, 7, "shipped")
				h.run(time.Second)
				h.applied[1] = 1 // settled, but not written
				h.run(time.Second)
				h.want("a", command.Failed)
				h.lateErr = errHindered
				c.replay(h, &e)
				h.run(3 * time.Minute)
				h.want("a", command.Failed) // the audit does not work
				h.lateErr, h.late = nil, nil
				h.run(3 * time.Minute)
				h.want("a", c.want)
				if n := len(h.late); n != map[bool]int{true: 1}[c.want == command.Applied] {
					t.Errorf("%d late commands are reported", n)
				}
				for _, late := range h.late {
					if late.ID != "a" || late.State != command.Applied || !strings.HasPrefix(late.Detail, "it was applied after it had ended as failed: the pipeline did not") {
						t.Errorf("%+v is reported", late)
					}
				}
			})
		})
	}
}
