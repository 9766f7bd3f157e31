package command_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/command"
	"brine/internal/sample"
)

// always refuses all records.
func always(int, []command.Record) error { return fmt.Errorf("too large: %w", command.ErrRefused) }

// publishes appends a command to the topic, as a process did that died before it noted that.
func (h *hindered) publishes(e *command.Entry) {
	h.t.Helper()
	r := command.Record{Key: e.Change.Key, Value: e.Change.Value, Time: time.UnixMilli(e.Created), Command: e.ID}
	if _, err := h.world.Publish(h.t.Context(), e.Topic, e.Part, []command.Record{r}); err != nil {
		h.t.Fatal(err)
	}
}

// free reports whether the place that a command held is free.
func (h *hindered) free(e *command.Entry) bool {
	h.t.Helper()
	other := *e
	other.ID, other.Key = e.ID+" again", e.Key+" again"
	return h.box.Add(h.t.Context(), &other) == nil
}

// long is enough for a command that the brokers refuse to be withdrawn, looked for and ended.
const long = 100 * time.Second

// TestARefusedCommandIsLookedFor checks what becomes of a command that another process left behind, and that the brokers refuse: it is
// published if it is in the topic, and has failed otherwise, which frees its place. Nothing is published either way.
func TestARefusedCommandIsLookedFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(h *hindered, e *command.Entry)
		want   command.State
		detail string
		free   bool
	}{
		{"in the topic", func(h *hindered, e *command.Entry) {
			h.log[1] = append(h.log[1], command.Record{}, command.Record{Command: "another", Time: time.UnixMilli(e.Created)})
			h.publishes(e)
			h.publishes(e)
		}, command.Published, "", false},
		{"not in the topic", func(h *hindered, e *command.Entry) {
			h.log[0] = append(h.log[0], command.Record{Command: e.ID, Time: time.UnixMilli(e.Created)}) // another partition
			h.log[1] = append(h.log[1], command.Record{Command: "another", Time: time.UnixMilli(e.Created)})
		}, command.Failed, "the brokers refused it", true},
		{"an empty partition", func(*hindered, *command.Entry) {}, command.Failed, "the brokers refused it", true},
		{"gone from the topic, and written", func(h *hindered, e *command.Entry) {
			h.publishes(e)
			h.apply(h.t, 9)
			h.gone[1] = 1
		}, command.Applied, "", false},
		{"gone from the topic, and followed by the shop", func(h *hindered, e *command.Entry) {
			h.publishes(e)
			h.apply(h.t, 9)
			h.write(h.t, command.Record{Value: fmt.Appendf(nil, `{"order":%q,"user":"u","created":5,"at":99,"status":"returned"}`, e.ID)})
			h.gone[1] = 1
		}, command.Overtaken, "a newer change set the row to returned", false},
		{"perhaps gone from the topic, and not written", func(h *hindered, e *command.Entry) {
			h.log[1] = append(h.log[1], command.Record{})
			h.applied[1], h.gone[1] = 1, 1
			h.write(h.t, command.Record{Value: fmt.Appendf(nil, `{"order":%q,"user":"u","created":5,"at":7,"status":"shipped"}`, e.ID)})
		}, command.Failed, "the brokers refused it", true},
		{"perhaps gone from the topic, and not settled", func(h *hindered, e *command.Entry) {
			h.log[1] = append(h.log[1], command.Record{})
			h.gone[1] = 1
		}, command.Accepted, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHindered(t)
				h.publish = always
				e := h.add("a", 1)
				c.before(h, &e)
				had := fmt.Sprint(h.log)
				h.run(long)
				got, _, err := h.box.Get(t.Context(), "a")
				if err != nil || got.State != c.want || got.Detail != c.detail {
					t.Errorf("%s (%s), %v; want %s (%s)", got.State, got.Detail, err, c.want, c.detail)
				}
				if c.want == command.Published && got.Offset != 2 {
					t.Errorf("it is at %d", got.Offset)
				}
				if h.free(&e) != c.free {
					t.Errorf("its place is free: %v", !c.free)
				}
				if now := fmt.Sprint(h.log); now != had {
					t.Errorf("the topic had %s and has %s", had, now)
				}
			})
		})
	}
}

// TestASearchGoesOn checks that a partition is read in parts, and that the search continues where it was after an outage, which it asks
// about more and more rarely, while everybody sees that a command waits.
func TestASearchGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHindered(t)
		h.publish = always
		e := h.add("a", 1)
		for range 20 {
			h.log[1] = append(h.log[1], command.Record{Time: time.UnixMilli(e.Created)})
		}
		h.publishes(&e)
		began, asked, away := time.Now(), 0, true
		h.topics = func() error {
			asked++
			if away {
				return errHindered
			}
			time.Sleep(time.Second) // a part is read for 3 s
			return nil
		}
		h.run(time.Hour)
		h.want("a", command.Accepted)
		if asked < 5 || asked > 30 {
			t.Errorf("the partition was away for %v, and was asked for %d times", time.Since(began), asked)
		}
		last := h.swept[len(h.swept)-1]
		if want := (command.SweptInfo{Accepted: 1, Withdrawn: 1, Oldest: last.Oldest}); last != want || last.Oldest < 59*time.Minute {
			t.Errorf("%+v is reported", last)
		}
		away, asked = false, 0
		h.run(10 * time.Minute)
		h.want("a", command.Published)
		if asked > 60 {
			t.Errorf("%d records of 21 were read: it began again", asked)
		}
	})
}

// TestAFirstAttemptAndARefusal checks every way in which the first attempt to publish a command can end, and the process with it, when the
// brokers refuse the record from then on.
func TestAFirstAttemptAndARefusal(t *testing.T) {
	for _, c := range []struct {
		first fault
		want  command.State
	}{{lost, command.Failed}, {unclear, command.Applied}, {refused, command.Failed}} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.first, " killed ", killed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					for n := 2; n < 100; n++ {
						w.faults[n] = refused
					}
					w.faults[1] = c.first
					db := database(t)
					defer db.Close()
					w.shop(sample.Change{Order: "A", User: "u", Created: 5, At: 7, Status: "shipped"})
					w.apply(t, 9)
					d, stop := w.desk(t, db)
					ask := command.Ask{Account: "1", Role: "customer", Table: w.machine.Table.Name, Row: w.row(t, "A", "u", 5), Command: "confirm",
						Key: "k", IfMatch: `"7"`}
					e, _, err := d.Do(t.Context(), &ask)
					if err != nil {
						t.Fatal(err)
					}
					if killed {
						stop()
						d, stop = w.desk(t, db)
					}
					defer func() { stop() }()
					time.Sleep(long)
					w.apply(t, 9)
					time.Sleep(time.Second)
					got, err := d.Get(t.Context(), "1", w.machine.Table.Name, e.ID)
					if err != nil || got.State != c.want {
						t.Errorf("it is %s (%s), want %s: %v", got.State, got.Detail, c.want, err)
					}
					ask.Key = "l" // the place is free if it failed
					if _, _, err := d.Do(t.Context(), &ask); (err == nil) != (c.want == command.Failed) {
						t.Errorf("another command: %v", err)
					}
				})
			})
		}
	}
}

// TestAWithdrawnCommandIsNotPublished checks that a command is not published once another process has withdrawn it, whatever this process
// waited for after it had read the outbox. No time passes meanwhile: the clocks of a machine that is suspended may all stand still.
func TestAWithdrawnCommandIsNotPublished(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(n int, together bool) error // to the n-th request
		during int                              // the request during which b is withdrawn
	}{
		{"the request before it", func(n int, _ bool) error { return map[int]error{1: errHindered}[n] }, 2},
		{"the refusal of its group", func(_ int, together bool) error {
			if together {
				return command.ErrRefused
			}
			return nil
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHindered(t)
				for _, id := range []string{"a", "b"} {
					h.add(id, 1)
					time.Sleep(time.Millisecond) // a is first
				}
				n := 0
				h.publish = func(_ int, records []command.Record) error {
					n++
					if n == c.during {
						exec(t, h.db.DB(), "UPDATE commands SET swept = 2 WHERE id = 'b'")
					} else if n > c.during && slices.ContainsFunc(records, func(r command.Record) bool { return r.Command == "b" }) {
						t.Errorf("request %d publishes it", n)
					}
					return c.answer(n, len(records) > 1)
				}
				h.run(2 * time.Minute)
				h.want("a", command.Published)
				h.want("b", command.Failed)
			})
		})
	}
}
