package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/event"
	"brine/internal/backoff"
	"brine/query"
)

// Publisher publishes records to topics.
type Publisher interface {
	Partitions(ctx context.Context, topic string) (int, error)
	// Publish appends records to a partition, and returns the offset of the first. ErrRefused means that none of them was or will be appended;
	// after any other error they may have been.
	Publish(ctx context.Context, topic string, partition int, records []Record) (offset int64, err error)
}

// Record is a record to be published.
type Record struct {
	Key, Value []byte
	Time       time.Time
	Command    string // the command's id, for the header Header
}

// Topics reads topics, to find out whether commands were published.
type Topics interface {
	// Since returns the offsets of a partition at which records of a time or later may be: from from up to, but not including, to. whole
	// reports whether no such record has left the topic.
	Since(ctx context.Context, topic string, partition int, at time.Time) (from, to int64, whole bool, err error)
	// Records yields the records from from up to, but not including, to.
	Records(ctx context.Context, topic string, partition int, from, to int64) iter.Seq2[Seen, error]
}

// Seen is a record in a topic.
type Seen struct {
	Offset  int64
	Command string // the id in its header Header; empty: it has none
}

// Header is the name of the header that marks records as commands, and holds the command's id.
const Header = "brine-command"

// ErrRefused is returned for records that the brokers will never take.
var ErrRefused = errors.New("the brokers refuse the record")

// Options are the options of a Desk.
type Options struct {
	Machines  []Machine
	Outbox    *Outbox
	Rows      query.Client
	Publisher Publisher
	Topics    Topics // nil: a command that was refused, and may have been published before, stays accepted
	// Settled returns the offset of a partition below which the pipeline has settled everything in the row store.
	Settled func(ctx context.Context, pipeline, topic string, partition int) (int64, error)

	// Late is called before a command is stored as applied that had ended without an effect; Detail says as what. On an error, it is tried
	// again later. nil: nothing
	Late func(ctx context.Context, e *Entry) error

	PublishWithin time.Duration // longest wait of an answer for its command to be published; 1 s
	Wait          time.Duration // longest wait of a read for what it wants to see; 2 s
	Keep          time.Duration // how long commands are kept after they end; 7 d

	Hooks Hooks
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: slog's default
}

// Hooks report what a desk does.
type Hooks struct {
	Swept func(SweptInfo) // the outbox was looked through for commands that are not published, as every 5 s
}

// SweptInfo is how many commands are not known to be published.
type SweptInfo struct {
	Accepted  int           // all of them
	Withdrawn int           // of these, those that the brokers refuse, and that are looked for in their topic
	Oldest    time.Duration // since the first of them was accepted; 0: there are none
}

// EnsureDefaults sets unset options to their defaults.
func (o *Options) EnsureDefaults() {
	o.PublishWithin = cmp.Or(o.PublishWithin, time.Second)
	o.Wait = cmp.Or(o.Wait, 2*time.Second)
	o.Keep = cmp.Or(o.Keep, 7*24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Late == nil {
		o.Late = func(context.Context, *Entry) error { return nil }
	}
	if o.Hooks.Swept == nil {
		o.Hooks.Swept = func(SweptInfo) {}
	}
}

// Desk accepts commands. It is safe for concurrent use.
type Desk struct {
	opts  Options
	relay *relay

	mu         sync.Mutex
	partitions map[string]int // by topic
}

// NewDesk returns a desk. What it accepts is published while Run runs.
func NewDesk(o Options) *Desk {
	o.EnsureDefaults()
	d := &Desk{opts: o, partitions: map[string]int{}}
	d.relay = newRelay(d)
	return d
}

// Ask is a request for a command.
type Ask struct {
	Account string
	Role    string
	May     func(*query.Row) bool // reports whether the caller may see the row; nil: any
	Table   string
	Row     []byte
	Command string
	Key     string // idempotency key
	IfMatch string
	Fields  map[string]json.RawMessage
}

// Machine returns the machine of a table, or nil if it has none.
func (d *Desk) Machine(table string) *Machine {
	if i := slices.IndexFunc(d.opts.Machines, func(m Machine) bool { return m.Table.Name == table }); i >= 0 {
		return &d.opts.Machines[i]
	}
	return nil
}

func (d *Desk) now() int64 { return d.opts.Now().UnixMilli() }

// Do accepts a command, and returns once it is stored and, unless that takes too long, published. If the same request was made before with
// the same key, Do returns the present state of the first. If the error is a *Refusal, the caller caused it; any other comes from a store.
func (d *Desk) Do(ctx context.Context, a *Ask) (e Entry, replayed bool, err error) {
	m := d.Machine(a.Table)
	if m == nil || m.Find(a.Command) == nil {
		return e, false, refuse(NotFound, "the table has no such command")
	}
	c := m.Find(a.Command)
	if err := checkKey(a.Key); err != nil {
		return e, false, err
	}
	if !slices.Contains(c.Roles, a.Role) {
		return e, false, refuse(Forbidden, "the command "+c.Name+" is for "+strings.Join(c.Roles, ", "))
	}
	print := a.print()
	if e, known, err := d.first(ctx, a, print); known || err != nil {
		return e, known, err
	}
	e, err = d.decide(ctx, m, c, a)
	if err != nil {
		return e, false, err
	}
	e.Print = print
	switch err := d.opts.Outbox.Add(ctx, &e); {
	case errors.Is(err, errKeyTaken): // by a concurrent request
		e, _, err := d.first(ctx, a, print)
		return e, true, err
	case errors.Is(err, errHeld):
		return e, false, refuse(Held, "another command on this version of the row was accepted and is being applied; read the row again")
	case err != nil:
		d.relay.doubt(e.ID)
		return e, false, err
	}
	return d.published(ctx, e), false, nil
}

const maxKey = 255

func checkKey(key string) error {
	switch {
	case key == "":
		return refuse(NoKey, "a command needs the header Idempotency-Key: a new one for each command, the same one to repeat a request")
	case len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return &Refusal{Kind: Invalid, Detail: "has more than 255 characters, or characters other than visible ASCII",
			Arg: "header.Idempotency-Key"}
	}
	return nil
}

// print returns what two requests with the same key must have in common.
func (a *Ask) print() string {
	body, _ := json.Marshal(a.Fields) // members are sorted by name
	h := sha256.New()
	for _, part := range []string{a.Table, string(a.Row), a.Command, a.IfMatch, string(body)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// running is the longest time for which the first request with a key may be in progress.
const running = 10 * time.Second

// first returns the command that was accepted with the key of a request.
func (d *Desk) first(ctx context.Context, a *Ask, print string) (e Entry, known bool, err error) {
	e, known, err = d.opts.Outbox.Find(ctx, a.Account, a.Key)
	switch {
	case err != nil || !known:
		return e, false, err
	case e.Print != print:
		return e, true, refuse(KeyReused, "the Idempotency-Key was used for another command; use a new one for each")
	case e.State == Accepted && d.now()-e.Created < running.Milliseconds():
		return e, true, refuse(KeyRunning, "the first request with this Idempotency-Key is still in progress; try again")
	}
	return e, true, nil
}

// decide makes the entry of a command.
func (d *Desk) decide(ctx context.Context, m *Machine, c *Command, a *Ask) (e Entry, err error) {
	expected, err := parseMatch(a.IfMatch)
	if err != nil {
		return e, err
	}
	given, err := m.Given(c, a.Fields)
	if err != nil {
		return e, err
	}
	o, err := d.read(ctx, m, a)
	if err != nil {
		return e, err
	}
	now := d.now()
	change, err := m.Decide(c, o, expected, given, now)
	if err != nil {
		return e, err
	}
	n, err := d.partitionsOf(ctx, m.Topic)
	if err != nil {
		return e, err
	}
	return Entry{ID: strings.ToLower(rand.Text()), Account: a.Account, Key: a.Key, Table: a.Table, Command: c.Name, Row: o.Row,
		Expected: expected, Change: change, State: Accepted, Topic: m.Topic, Part: m.Partitioner.Partition(change.Key, n), Offset: -1,
		Created: now}, nil
}

// read reads the row of a request.
func (d *Desk) read(ctx context.Context, m *Machine, a *Ask) (*Order, error) {
	rows, err := query.ByRow(ctx, d.opts.Rows, m.Table, [][]byte{a.Row})
	if err != nil {
		return nil, err
	}
	o, ok := m.orderOf(&rows[0])
	if !ok || a.May != nil && !a.May(&rows[0]) {
		return nil, refuse(NotFound, "there is no such row")
	}
	return &o, nil
}

// parseMatch parses If-Match: the ETag from a read of the row, whose first number is the version of the row's state.
func parseMatch(text string) (int64, error) {
	if text == "" {
		return 0, refuse(NoVersion, "a command needs the header If-Match with the row's ETag")
	}
	number, _, _ := strings.Cut(strings.Trim(text, `"`), ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || len(text) < 3 || text[0] != '"' || text[len(text)-1] != '"' {
		return 0, &Refusal{Kind: Invalid, Detail: "is not the ETag of a row", Arg: "header.If-Match"}
	}
	return n, nil
}

const maxText = 4 << 10 // longest field that a caller may give

// Given decodes the fields that a caller gives. Its errors are *Refusal.
func (m *Machine) Given(c *Command, fields map[string]json.RawMessage) (map[string]event.Value, error) {
	out := map[string]event.Value{}
	for name, raw := range fields {
		bad := func(detail string) error { return &Refusal{Kind: Invalid, Detail: detail, Arg: "body.fields." + name} }
		at := slices.IndexFunc(m.Schema.Fields, func(f event.Field) bool { return f.Name == name })
		if !slices.Contains(c.Take, name) || at < 0 {
			takes := "takes no fields"
			if len(c.Take) > 0 {
				takes = "takes " + strings.Join(c.Take, ", ")
			}
			return nil, bad("the command " + takes)
		}
		if len(raw) > maxText {
			return nil, bad(fmt.Sprintf("has more than %d bytes", maxText))
		}
		v, err := valueOf(m.Schema.Fields[at].Type, raw)
		if err != nil {
			return nil, bad(err.Error())
		}
		out[name] = v
	}
	return out, nil
}

// exactOf decodes a value of a type that JSON lacks, in the form that answers use, or a number.
func exactOf(t event.Type, raw json.RawMessage) (event.Value, bool) {
	text := string(raw)
	if err := json.Unmarshal(raw, &text); err != nil && t == event.Bytes {
		return event.Value{}, false
	}
	switch t {
	case event.Decimal:
		return event.DecimalValue(text)
	case event.Bytes, event.Date, event.TimeUS, event.TimeNS:
		v, err := event.Field{Type: t}.ValueOf(text)
		return v, err == nil && string(raw) != "null"
	}
	return event.Value{}, false
}

func valueOf(t event.Type, raw json.RawMessage) (event.Value, error) {
	var err error
	switch t.Stored() {
	case event.Text:
		var v string
		if err = json.Unmarshal(raw, &v); err == nil && string(raw) != "null" {
			return event.TextValue(v), nil
		}
	case event.Int:
		var v int64
		if err = json.Unmarshal(raw, &v); err == nil && string(raw) != "null" {
			return event.IntValue(v), nil
		}
	case event.Float:
		var v float64
		if err = json.Unmarshal(raw, &v); err == nil && string(raw) != "null" {
			return event.FloatValue(v), nil
		}
	case event.Bool:
		var v bool
		if err = json.Unmarshal(raw, &v); err == nil && string(raw) != "null" {
			return event.BoolValue(v), nil
		}
	case event.TimeMS:
		var v time.Time
		if err = json.Unmarshal(raw, &v); err == nil && string(raw) != "null" {
			return event.TimeValue(v.UnixMilli()), nil
		}
	}
	if v, ok := exactOf(t, raw); ok {
		return v, nil
	}
	return event.Value{}, fmt.Errorf("is not %s", t)
}

// partitionsOf returns the number of partitions of a topic. It asks for it only once: if a topic grows, its keys move for all publishers.
func (d *Desk) partitionsOf(ctx context.Context, topic string) (int, error) {
	d.mu.Lock()
	n := d.partitions[topic]
	d.mu.Unlock()
	if n > 0 {
		return n, nil
	}
	n, err := d.opts.Publisher.Partitions(ctx, topic)
	if err == nil && n < 1 {
		err = fmt.Errorf("topic %s has no partitions", topic)
	}
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	d.partitions[topic] = n
	d.mu.Unlock()
	return n, nil
}

// published passes an entry to the relay, and waits a while until it is in its topic.
func (d *Desk) published(ctx context.Context, e Entry) Entry {
	done := d.relay.take(e)
	wait := time.NewTimer(d.opts.PublishWithin)
	defer wait.Stop()
	select {
	case e = <-done:
	case <-wait.C:
	case <-ctx.Done():
	}
	return e
}

// Get returns the present state of an account's command.
func (d *Desk) Get(ctx context.Context, account, table, id string) (Entry, error) {
	e, ok, err := d.opts.Outbox.Get(ctx, id)
	if err != nil {
		return e, err
	}
	if !ok || e.Account != account || e.Table != table {
		return e, refuse(NotFound, "there is no such command")
	}
	switch {
	case e.State == Published:
		err = d.relay.settle(ctx, []*Entry{&e})
	case e.State.freed():
		err = d.relay.settleLate(ctx, []*Entry{&e})
	}
	return e, err
}

// Token returns what a reader passes to see a command applied. It is empty while the command is not known to be published.
func (e *Entry) Token() string {
	if e.Offset < 0 {
		return ""
	}
	return Token{Topic: e.Topic, Partition: e.Part, Offset: e.Offset + 1}.String()
}

// Wait waits until the record that a token names is applied. It reports stale if that takes longer than Options.Wait, or cannot be known.
func (d *Desk) Wait(ctx context.Context, text string) (stale bool, err error) {
	t, err := ParseToken(text)
	if err != nil {
		return false, &Refusal{Kind: Invalid, Detail: err.Error(), Arg: "header.Brine-After"}
	}
	i := slices.IndexFunc(d.opts.Machines, func(m Machine) bool { return m.Topic == t.Topic })
	if i < 0 {
		return false, &Refusal{Kind: Invalid, Detail: errToken.Error(), Arg: "header.Brine-After"}
	}
	m := &d.opts.Machines[i]
	if m.Elsewhere {
		return true, nil
	}
	within, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		settled, err := d.opts.Settled(within, m.Pipeline, t.Topic, t.Partition)
		if err == nil && settled >= t.Offset {
			return false, nil
		}
		if backoff.Wait(within, pause) != nil {
			return true, ctx.Err()
		}
	}
}
