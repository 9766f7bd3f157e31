package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/query"
)

// Machine is the states of a table's rows, and the commands that lead from one to another.
type Machine struct {
	Pipeline string // pipeline that applies the changes
	Table    query.Table

	Topic     string // topic to which changes are published
	Elsewhere bool   // the pipeline does not read Topic: its reader answers with changes of its own
	// AnswerWithin is how long a published command holds its place if Elsewhere and the row does not change; 0: for ever.
	AnswerWithin time.Duration
	Partitioner  Partitioner
	RecordKey    string // field whose value is the key of records

	State   string   // field of the state
	Version string   // field of a change's version, a time
	Carried []string // fields that every change copies from the row

	Commands []Command
	Schema   event.Schema // the pipeline's: used to encode changes, and to check them before they are stored

	Purged time.Duration // how long after a delete it may be forgotten somewhere; 0: never
}

// Command is one transition.
type Command struct {
	Name  string
	From  []string
	To    string
	Roles []string
	Set   []Setting
	Take  []string // fields that the caller may give
}

// Setting is a field and the value to which a command sets it.
type Setting struct {
	Field string
	Value event.Value
}

// Order is a row as a command finds it.
type Order struct {
	Row     []byte
	State   string
	Version int64 // newest version of its state and of its deletion mark
	Deleted bool
	Fields  map[string]event.Value
}

// orderOf converts a row that was read whole; ok is false if the row does not exist.
func (m *Machine) orderOf(r *query.Row) (o Order, ok bool) {
	if len(r.Fields) == 0 {
		return o, false
	}
	o = Order{Row: r.Key, Version: r.StateVersion, Deleted: r.Deleted, Fields: map[string]event.Value{}}
	for _, f := range r.Fields {
		o.Fields[f.Name] = r.Value(f.Name)
	}
	if v := o.Fields[m.State]; !v.Null() {
		o.State = string(v.Text())
	}
	return o, true
}

// Find returns the command with a name, or nil.
func (m *Machine) Find(name string) *Command {
	if i := slices.IndexFunc(m.Commands, func(c Command) bool { return c.Name == name }); i >= 0 {
		return &m.Commands[i]
	}
	return nil
}

// marks reports how a command changes the deletion mark.
func (m *Machine) marks(c *Command) (deletes, restores bool) {
	for _, s := range c.Set {
		if s.Field == m.Table.Deleted && m.Table.Deleted != "" {
			return s.Value.Bool(), !s.Value.Bool()
		}
	}
	return false, false
}

// Restores reports whether a command undoes a delete.
func (m *Machine) Restores(c *Command) bool {
	_, restores := m.marks(c)
	return restores
}

// OnlyDeleted reports whether all rows in a state are deleted: only commands lead to it, and all of these delete.
func (m *Machine) OnlyDeleted(state string, others []string) bool {
	led := false
	for i := range m.Commands {
		if c := &m.Commands[i]; c.To == state {
			deletes, _ := m.marks(c)
			if !deletes {
				return false
			}
			led = true
		}
	}
	return led && !slices.Contains(others, state)
}

// Change is what a command publishes.
type Change struct {
	At    int64 // its version
	State string
	Key   []byte // of the record
	Value []byte
}

// Decide returns the change that a command makes to a row, or a *Refusal. It depends only on its arguments: now is in ms since 1970,
// expected is the version that the caller has seen.
func (m *Machine) Decide(c *Command, o *Order, expected int64, given map[string]event.Value, now int64) (Change, error) {
	deletes, restores := m.marks(c)
	switch {
	case o.Deleted && !restores:
		return Change{}, refuse(NotFound, "there is no such row")
	case o.Version != expected:
		return Change{}, refuseAt(Stale, o, fmt.Sprintf("the row has version %d, not %d", o.Version, expected))
	case !slices.Contains(c.From, o.State), restores && !o.Deleted, deletes && o.Deleted:
		return Change{}, refuseAt(NotAllowed, o, fmt.Sprintf("%s leads from %s, but the row is %q%s", c.Name, strings.Join(c.From, ", "), o.State,
			map[bool]string{true: ", not deleted"}[restores && !o.Deleted]))
	case restores && m.Purged > 0 && now-o.Version >= (m.Purged-purgeMargin).Milliseconds():
		return Change{}, refuseAt(Gone, o, fmt.Sprintf("the row was deleted more than %v ago, so what was deleted may already be purged",
			m.Purged-purgeMargin))
	}
	fields := map[string]event.Value{}
	for _, name := range m.Carried {
		fields[name] = o.Fields[name]
	}
	for name, v := range given {
		fields[name] = v
	}
	for _, s := range c.Set {
		fields[s.Field] = s.Value
	}
	change := Change{At: max(now, o.Version+1), State: c.To}
	fields[m.State] = event.TextValue(c.To)
	fields[m.Version] = event.TimeValue(change.At)
	return change, m.write(&change, fields, now)
}

// purgeMargin is how long before its purge a delete can no longer be undone, because the change must still be applied.
const purgeMargin = 10 * time.Minute

// Reachable returns the states to which commands can lead from the given ones, which it includes.
func Reachable(from []string, commands []Command) []string {
	out := slices.Clone(from)
	for grown := true; grown; {
		grown = false
		for i := range commands {
			c := &commands[i]
			begins := slices.ContainsFunc(c.From, func(s string) bool { return slices.Contains(out, s) })
			if begins && !slices.Contains(out, c.To) {
				out, grown = append(out, c.To), true
			}
		}
	}
	return out
}
