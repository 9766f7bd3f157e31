package command_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"brine/account"
	"brine/command"
	"brine/internal/sample"
	"brine/query"
)

// next are the states to which the shop itself moves an order.
var next = map[string]string{"created": "paid", "paid": "shipped", "shipped": "received"}

// TestCommandsFollowTheMachine plays customers, the shop, a lagging pipeline, failing brokers and dying processes against each other, in an
// order that a seed determines, and compares the topic with the machine: see judge. In every second game, two processes take the commands:
// what one accepts, the other must know, and publish if the first dies.
func TestCommandsFollowTheMachine(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGame(t, seed, 1+int(seed%2))
				defer g.end()
				for range 200 {
					g.move()
				}
				g.finish()
				g.judge()
			})
		})
	}
}

// game is one run of the model.
type game struct {
	*world
	t *testing.T
	r *rand.Rand

	processes []process

	orders   []order
	accepted map[string]*command.Entry // by id
	asked    int
	refused  map[command.Kind]int
}

// process is one of those that take commands. They share the database, each by connections of its own.
type process struct {
	db   *account.Store
	desk *command.Desk
	stop func()
}

// any returns a process that takes the next request.
func (g *game) any() *process {
	if len(g.processes) == 1 {
		return &g.processes[0]
	}
	return &g.processes[g.r.IntN(len(g.processes))]
}

// end ends all processes.
func (g *game) end() {
	for _, p := range g.processes {
		p.stop()
		if err := p.db.Close(); err != nil {
			g.t.Error(err)
		}
	}
}

type order struct {
	id, user string
	created  int64
	row      []byte
	at       int64 // of the shop's last change
	state    string
}

func newGame(t *testing.T, seed uint64, processes int) *game {
	g := &game{world: newWorld(t), t: t, r: rand.New(rand.NewPCG(seed, 1)), accepted: map[string]*command.Entry{}, refused: map[command.Kind]int{}}
	for range 20 {
		g.faults[1+g.r.IntN(60)] = fault(1 + g.r.IntN(3))
	}
	for i := range 8 {
		now := time.Now().UnixMilli()
		o := order{id: fmt.Sprintf("G%d", i), user: "u1", created: now, at: now, state: "created"}
		o.row = g.row(t, o.id, o.user, o.created)
		g.orders = append(g.orders, o)
		g.shop(sample.Change{Order: o.id, User: o.user, Created: o.created, At: o.at, Status: o.state})
	}
	g.apply(t, 100)
	for dir := t.TempDir(); len(g.processes) < processes; {
		p := process{db: databaseIn(t, dir)}
		p.desk, p.stop = g.desk(t, p.db)
		g.processes = append(g.processes, p)
	}
	return g
}

func (g *game) move() {
	switch g.r.IntN(10) {
	case 0, 1, 2, 3, 4:
		g.customer()
	case 5:
		g.overtake()
	case 6: // a process dies and leaves its work undone
		p := g.any()
		p.stop()
		p.desk, p.stop = g.desk(g.t, p.db)
	default:
		g.apply(g.t, 1+g.r.IntN(3))
	}
	time.Sleep(time.Duration(g.r.IntN(3000)) * time.Millisecond)
}

// overtake makes the shop change an order, about which it may know something other than the rows do.
func (g *game) overtake() {
	o := &g.orders[g.r.IntN(len(g.orders))]
	to := next[o.state]
	if to == "" {
		return
	}
	o.at = max(o.at+1, time.Now().UnixMilli()-int64(g.r.IntN(4000)))
	o.state = to
	g.shop(sample.Change{Order: o.id, User: o.user, Created: o.created, At: o.at, Status: to})
}

var names = []string{"confirm", "cancel", "delete", "restore"}

// customer gives a command on the present version of the row, sometimes on an older one, and sometimes repeats the request.
func (g *game) customer() {
	o := &g.orders[g.r.IntN(len(g.orders))]
	row := g.read(g.t, o.row)
	g.asked++
	ask := command.Ask{Account: "1", Role: "operator", Table: g.machine.Table.Name, Row: o.row, Command: names[g.r.IntN(len(names))],
		Key: strconv.Itoa(g.asked), IfMatch: fmt.Sprintf("%q", strconv.FormatInt(row.StateVersion-int64(g.r.IntN(8)/7), 10))}
	for i := range g.machine.Commands {
		if c := &g.machine.Commands[i]; slices.Contains(c.From, stateOf(&row)) && g.r.IntN(3) > 0 {
			ask.Command = c.Name
		}
	}
	if ask.Command == "cancel" && g.r.IntN(2) == 0 {
		ask.Fields = map[string]json.RawMessage{"reason": json.RawMessage(`"too late"`)}
	}
	e := g.do(&ask)
	if e != nil && g.r.IntN(2) == 0 {
		if again := g.do(&ask); again != nil && again.ID != e.ID {
			g.t.Errorf("asked again with the key %s: command %s, then %s", ask.Key, e.ID, again.ID)
		}
		ask.Command = "other"
		if _, _, err := g.any().desk.Do(g.t.Context(), &ask); kindOf(err) != command.NotFound {
			g.t.Errorf("an unknown command: %v", err)
		}
	}
}

func stateOf(r *query.Row) string {
	for _, f := range r.Fields {
		if f.Name == "status" {
			return string(f.Value.Text())
		}
	}
	return ""
}

func (g *game) do(ask *command.Ask) *command.Entry {
	e, _, err := g.any().desk.Do(g.t.Context(), ask)
	if err != nil {
		if kindOf(err) == "" {
			g.t.Errorf("%s: %v", ask.Command, err)
		}
		g.refused[kindOf(err)]++
		return nil
	}
	g.accepted[e.ID] = &e
	return &e
}

func kindOf(err error) command.Kind {
	if r, ok := errors.AsType[*command.Refusal](err); ok {
		return r.Kind
	}
	return ""
}

// finish lets everything complete, without faults.
func (g *game) finish() {
	g.mu.Lock()
	clear(g.faults)
	g.mu.Unlock()
	for range 10 { // until commands that were refused are found, or not
		time.Sleep(12 * time.Second)
		g.apply(g.t, 1000)
	}
	time.Sleep(time.Second)
}

// judge compares the topic with the machine, using only the records: each command is in it unless it failed, alone or as copies of itself;
// it leads from a state in which it is allowed, and which the order had at the version on which it was accepted; no two commands of one
// order were accepted on one version; and the row matches the newest change of its order.
func (g *game) judge() {
	t := g.t
	effects := map[string]string{}            // by command
	states := map[string]map[int64][]string{} // several if the shop has the version of a command
	for _, records := range g.log {
		for _, r := range records {
			c := decode(t, r)
			if r.Command != "" {
				if has, ok := effects[r.Command]; ok && has != string(r.Value) {
					t.Errorf("command %s says %s and %s", r.Command, has, r.Value)
				}
				effects[r.Command] = string(r.Value)
			}
			if states[c.Order] == nil {
				states[c.Order] = map[int64][]string{}
			}
			states[c.Order][c.At] = append(states[c.Order][c.At], c.Status)
		}
	}
	ends := map[command.State]int{}
	places := map[string]bool{}
	for id, e := range g.accepted {
		now, err := g.any().desk.Get(t.Context(), e.Account, e.Table, id)
		if err != nil {
			t.Fatal(err)
		}
		ends[now.State]++
		_, there := effects[id]
		delete(effects, id)
		if there == (now.State == command.Failed) || now.State == command.Accepted || now.State == command.Published {
			t.Errorf("command %s is %s (%s), in the topic: %v", id, now.State, now.Detail, there)
		}
		if now.State == command.Failed {
			continue
		}
		o := g.orders[slices.IndexFunc(g.orders, func(o order) bool { return string(o.row) == string(e.Row) })]
		from, c := states[o.id][e.Expected], g.machine.Find(e.Command)
		if !slices.ContainsFunc(from, func(s string) bool { return slices.Contains(c.From, s) }) || !slices.Contains(states[o.id][e.Change.At], c.To) {
			t.Errorf("%s of %s leads from %q to %q", c.Name, o.id, from, states[o.id][e.Change.At])
		}
		place := fmt.Sprint(o.id, " ", e.Expected)
		if places[place] {
			t.Errorf("two commands upon %s", place)
		}
		places[place] = true
	}
	for id := range effects {
		if _, err := g.any().desk.Get(t.Context(), "1", g.machine.Table.Name, id); err != nil {
			t.Errorf("command %s is in the topic, and nobody gave it: %v", id, err)
		}
	}
	for _, o := range g.orders {
		newest := int64(0)
		for at := range states[o.id] {
			newest = max(newest, at)
		}
		row := g.read(t, o.row)
		for _, f := range row.Fields {
			if f.Name == "status" && (!slices.Contains(states[o.id][newest], string(f.Value.Text())) || row.StateVersion != newest) {
				t.Errorf("%s is %s at %d, the topic says %s at %d", o.id, f.Value.Text(), row.StateVersion, states[o.id][newest], newest)
			}
		}
	}
	if len(g.accepted) == 0 || g.refused[command.Stale] == 0 {
		t.Errorf("the game is dull: %d commands accepted, refused %v", len(g.accepted), g.refused)
	}
	t.Logf("%d asked, %d accepted and %v; refused %v; %d publishings", g.asked, len(g.accepted), ends, g.refused, g.calls)
}
