package command

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"brine/query"
)

// relay publishes what a desk accepts, and finds out the result.
type relay struct {
	*Desk
	wake chan struct{} // buffered for one: something was taken

	mu     sync.Mutex
	queued map[lane][]pending
	busy   map[lane]bool
	here   map[string]bool   // ids that are queued or being published
	open   map[string]*Entry // published by this process, or found to be; by id
	alone  map[string]bool   // ids that failed, each of which is published by itself from then on

	leftAt, openAt place    // where the next sweep continues, of commands that are not published, and of those that are
	window         []string // ids that the last sweep added to open

	seeker *seeker
	lateAt place // where the next look continues, of commands that have ended without an effect
	lateIn int   // sweeps until then

	unsure   map[string]bool    // ids whose storing was not answered
	unmarked map[string]pending // published, but not known to be recorded as such; they are in here, too
}

// lane is a partition. A slow broker holds up only its own lanes.
type lane struct {
	topic string
	part  int
}

type pending struct {
	Entry
	fresh bool       // accepted by this process, which is the first to publish it
	done  chan Entry // buffered for one; nil: nobody waits
}

const (
	batch      = 100             // records per request
	publishFor = 5 * time.Second // timeout of a request
	sweepEvery = 5 * time.Second // by then, what this process has not published is published again, whichever process accepted it
	settleTick = 200 * time.Millisecond
	sweepSize  = 1000 // commands that a sweep reads at once, and the most in a lane that sweeps add to
	sweepPages = 10   // reads of sweepSize per sweep
)

func newRelay(d *Desk) *relay {
	r := &relay{Desk: d, wake: make(chan struct{}, 1), queued: map[lane][]pending{}, busy: map[lane]bool{}, here: map[string]bool{},
		open: map[string]*Entry{}, alone: map[string]bool{}, unsure: map[string]bool{}, unmarked: map[string]pending{}}
	r.seeker = newSeeker(r)
	return r
}

// take takes over a stored command. The channel receives it once it is published.
func (r *relay) take(e Entry) <-chan Entry {
	done := make(chan Entry, 1)
	r.queue(pending{Entry: e, fresh: true, done: done})
	return done
}

func (r *relay) queue(p pending) {
	at := lane{p.Topic, p.Part}
	r.mu.Lock()
	if full := !p.fresh && len(r.queued[at]) >= sweepSize; !full && !r.here[p.ID] {
		r.here[p.ID] = true
		r.queued[at] = append(r.queued[at], p)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run publishes what is accepted, and what ended processes left behind, until ctx is done.
func (d *Desk) Run(ctx context.Context) error {
	r := d.relay
	var lanes sync.WaitGroup
	defer lanes.Wait()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	tick := time.NewTicker(settleTick)
	defer tick.Stop()
	lanes.Go(func() { r.seeker.run(ctx) })
	r.sweep(ctx, r.now()+1)
	for {
		r.start(ctx, &lanes)
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		case <-sweep.C:
			r.sweep(ctx, r.now()-sweepEvery.Milliseconds())
		case <-tick.C:
			r.markAgain(ctx)
			r.findUnsure(ctx)
			r.settleOpen(ctx)
			if r.openAt != (place{}) && r.windowEnded() {
				r.sweepPublished(ctx)
			}
		}
	}
}

// doubt remembers a command whose storing was not answered. If it is stored, it is published as soon as the database reports it, and not
// only by a sweep. Until then, a repeat of the request with the same key is answered that the first is still in progress.
func (r *relay) doubt(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unsure) < sweepSize { // a sweep finds the others
		r.unsure[id] = true
	}
}

// findUnsure takes over the commands of doubt that are stored.
func (r *relay) findUnsure(ctx context.Context) {
	r.mu.Lock()
	ids := slices.Collect(maps.Keys(r.unsure))
	r.mu.Unlock()
	for _, id := range ids {
		e, stored, err := r.opts.Outbox.Get(ctx, id)
		if err != nil {
			return // try again next time
		}
		r.mu.Lock()
		delete(r.unsure, id)
		r.mu.Unlock()
		if stored && e.State == Accepted {
			r.queue(pending{Entry: e, fresh: true})
		}
	}
}

// markAgain retries to record where commands were published.
func (r *relay) markAgain(ctx context.Context) {
	r.mu.Lock()
	group := slices.Collect(maps.Values(r.unmarked))
	r.mu.Unlock()
	if len(group) > 0 {
		_ = r.mark(ctx, group) // note logged the first failure
	}
}

// sweep takes over commands that are not published, or whose result is unknown. If there are too many, the next one continues.
func (r *relay) sweep(ctx context.Context, before int64) {
	for range sweepPages {
		left, next, err := r.opts.Outbox.sweep(ctx, before, r.leftAt, sweepSize)
		r.warn(ctx, err, "cannot read the outbox; accepted commands are waiting")
		for _, e := range left {
			r.queue(pending{Entry: e})
		}
		if r.leftAt = next; err != nil || next == (place{}) {
			break
		}
	}
	r.sweepPublished(ctx)
	r.sweepLate(ctx)
	r.warn(ctx, r.opts.Outbox.Forget(ctx, r.now()-r.opts.Keep.Milliseconds()), "cannot delete old commands")
}

// sweepPublished looks at the next commands whose result is unknown, instead of those before. Their number is bounded, because each is
// looked at with every tick.
func (r *relay) sweepPublished(ctx context.Context) {
	found, next, err := r.opts.Outbox.published(ctx, r.openAt, sweepSize)
	if err != nil {
		r.warn(ctx, err, "cannot read the outbox; commands are waiting to complete")
		return
	}
	r.openAt = next
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.window {
		delete(r.open, id)
	}
	r.window = r.window[:0]
	for i := range found {
		r.open[found[i].ID] = &found[i]
		r.window = append(r.window, found[i].ID)
	}
}

// windowEnded reports whether all commands that the last sweep found have ended.
func (r *relay) windowEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.window, func(id string) bool { return r.open[id] != nil })
}

func (r *relay) warn(ctx context.Context, err error, what string) {
	if err != nil && ctx.Err() == nil {
		r.opts.Log.Warn(what, "error", err)
	}
}

// start starts a goroutine for each lane that has work and no goroutine.
func (r *relay) start(ctx context.Context, lanes *sync.WaitGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, list := range r.queued {
		if len(list) > 0 && !r.busy[at] {
			r.busy[at] = true
			lanes.Go(func() { r.work(ctx, at) })
		}
	}
}

// work publishes the commands of a lane until it is empty or fails. After a failure, the next sweep finds the rest.
func (r *relay) work(ctx context.Context, at lane) {
	var failed error // the first; the others are most likely of the same cause
	for {
		r.mu.Lock()
		list := r.queued[at]
		n := r.together(list)
		group := list[:n:n]
		r.queued[at] = list[n:]
		if n == 0 || ctx.Err() != nil {
			r.busy[at] = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		if err := r.publish(ctx, at, group); err != nil && failed == nil {
			failed = err
			r.warn(ctx, err, "cannot publish commands; will retry")
		}
		r.mu.Lock()
		for i := range group {
			if _, unmarked := r.unmarked[group[i].ID]; !unmarked {
				delete(r.here, group[i].ID)
			}
		}
		r.mu.Unlock()
	}
}

// confirmed returns those of a group that may still be published. Another process may have withdrawn some since this one read the outbox.
// It asks whatever the clock says: while a machine is suspended, its clocks may stand still.
func (r *relay) confirmed(ctx context.Context, group []pending) []pending {
	ids := make([]string, len(group))
	for i := range group {
		ids[i] = group[i].ID
	}
	may, err := r.opts.Outbox.publishable(ctx, ids)
	if err != nil {
		r.warn(ctx, err, "cannot read the outbox; accepted commands are waiting")
		return nil // the next sweep finds them
	}
	out := make([]pending, 0, len(group))
	for _, p := range group {
		if may[p.ID] {
			out = append(out, p)
		}
	}
	return out
}

// together returns how many of a lane's next commands are published together.
func (r *relay) together(list []pending) int {
	n := min(len(list), batch)
	if i := slices.IndexFunc(list[:n], func(p pending) bool { return r.alone[p.ID] }); i >= 0 {
		return max(1, i)
	}
	return n
}

// publish publishes a group together, without those that the outbox no longer lets it publish: nothing stands between that question and the
// request. If the group is refused, it publishes the records one by one to find out which are refused.
// An error means that some are tried again later, by themselves: one of them may be the cause.
func (r *relay) publish(ctx context.Context, at lane, group []pending) error {
	if group = r.confirmed(ctx, group); len(group) == 0 {
		return nil
	}
	records := make([]Record, len(group))
	for i := range group {
		e := &group[i]
		records[i] = Record{Key: e.Change.Key, Value: e.Change.Value, Time: time.UnixMilli(e.Created), Command: e.ID}
	}
	within, cancel := context.WithTimeout(ctx, publishFor)
	offset, err := r.opts.Publisher.Publish(within, at.topic, at.part, records)
	cancel()
	switch {
	case err == nil:
		r.note(ctx, group, offset)
	case errors.Is(err, ErrRefused) && len(group) > 1:
		var errs []error
		for i := range group {
			errs = append(errs, r.publish(ctx, at, group[i:i+1]))
		}
		return errors.Join(errs...)
	case errors.Is(err, ErrRefused):
		r.refused(ctx, &group[0], err)
	default:
		r.separate(group)
		return err
	}
	return nil
}

// separate makes each command of a group be published by itself.
func (r *relay) separate(group []pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.alone) >= sweepSize {
		clear(r.alone) // among them those that other processes published; the rest fail in a group once more
	}
	for i := range group {
		r.alone[group[i].ID] = true
	}
}

// note records where a group was published, and wakes those who wait. If recording fails, it is retried until it succeeds; if the process
// ends before that, the commands are published again.
func (r *relay) note(ctx context.Context, group []pending, offset int64) {
	for i := range group {
		e := &group[i].Entry
		e.Offset, e.State, e.Since = offset+int64(i), Published, r.now()
	}
	if err := r.mark(ctx, group); err != nil {
		r.warn(ctx, err, "cannot mark commands as published; will retry")
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, p := range group {
			r.unmarked[p.ID] = p
		}
	}
}

// mark records that commands were published.
func (r *relay) mark(ctx context.Context, group []pending) error {
	entries := make([]*Entry, len(group))
	for i := range group {
		entries[i] = &group[i].Entry
	}
	missing, err := r.opts.Outbox.Publish(context.WithoutCancel(ctx), entries, r.now())
	if err != nil {
		return err
	}
	for _, e := range missing {
		r.opts.Log.Error("a command is in the topic, but not in the outbox: nobody will see what became of it", "command", e.ID, "topic", e.Topic,
			"partition", e.Part, "offset", e.Offset)
	}
	r.mu.Lock()
	for _, e := range entries {
		if !slices.Contains(missing, e) {
			kept := *e
			r.open[e.ID] = &kept
		}
		delete(r.alone, e.ID)
		if _, was := r.unmarked[e.ID]; was {
			delete(r.unmarked, e.ID)
			delete(r.here, e.ID)
		}
	}
	r.mu.Unlock()
	for i := range group {
		group[i].say()
	}
	return nil
}

func (p *pending) say() {
	if p.done != nil {
		p.done <- p.Entry
	}
}

// refusedDetail is why a command failed that the brokers do not take.
const refusedDetail = "the brokers refused it"

// refused ends a command that the brokers will never take. If it may have been published before, by this process or another, it is
// withdrawn, and the seeker finds out.
func (r *relay) refused(ctx context.Context, p *pending, why error) {
	freed, err := false, error(nil)
	if p.fresh {
		freed, err = r.opts.Outbox.Refused(ctx, p.ID, refusedDetail, r.now())
	}
	if !freed && err == nil {
		err = r.opts.Outbox.withdraw(ctx, p.ID)
	}
	r.warn(ctx, errors.Join(why, err), "cannot publish a command")
	if freed {
		p.State, p.Detail = Failed, refusedDetail
		p.say()
	}
}

// settleOpen finds out the results of published commands.
func (r *relay) settleOpen(ctx context.Context) {
	r.mu.Lock()
	entries := make([]*Entry, 0, len(r.open))
	for _, e := range r.open {
		entries = append(entries, e)
	}
	r.mu.Unlock()
	if len(entries) > 0 {
		r.warn(ctx, r.settle(ctx, entries), "the outcome of commands is not known yet")
	}
}

// settle finds out the known results of published commands. The caller owns the entries. An error concerns only some of them.
func (r *relay) settle(ctx context.Context, entries []*Entry) error {
	settled := map[lane]int64{}
	by := map[*Machine][]*Entry{}
	var errs []error
	for _, e := range entries {
		m := r.Machine(e.Table)
		at := lane{e.Topic, e.Part}
		if m == nil {
			continue // the table no longer has commands
		}
		if _, known := settled[at]; !known && !m.Elsewhere {
			n, err := r.opts.Settled(ctx, m.Pipeline, e.Topic, e.Part)
			if err != nil {
				n = -1
				errs = append(errs, err)
			}
			settled[at] = n
		}
		if m.Elsewhere || settled[at] > e.Offset {
			by[m] = append(by[m], e)
		}
	}
	var ended []*Entry
	for m, list := range by {
		some, err := r.compare(ctx, m, list)
		errs = append(errs, err)
		ended = append(ended, some...)
	}
	if len(ended) == 0 {
		return errors.Join(errs...)
	}
	if err := r.opts.Outbox.End(ctx, ended, r.now()); err != nil {
		return errors.Join(append(errs, err)...)
	}
	r.mu.Lock()
	for _, e := range ended {
		delete(r.open, e.ID)
	}
	r.mu.Unlock()
	return errors.Join(errs...)
}

// compare reads the rows of commands that the pipeline has settled, and returns the commands that ended, also if it cannot read some rows.
func (r *relay) compare(ctx context.Context, m *Machine, entries []*Entry) (ended []*Entry, err error) {
	err = r.eachOrder(ctx, m, entries, func(e *Entry, o *Order) (err error) {
		followed := false
		if o.Version > e.Change.At {
			if followed, err = r.opts.Outbox.Follows(ctx, e); err != nil {
				return err
			}
		}
		if s, detail := m.became(e, o, followed, r.now()); s != Published {
			ended = append(ended, &Entry{ID: e.ID, State: s, Detail: detail})
			e.State, e.Detail = s, detail
		}
		return nil
	})
	return ended, err
}

// eachOrder calls each for commands with what their rows are now, also if it cannot read some rows, or if each returns an error for some.
func (r *relay) eachOrder(ctx context.Context, m *Machine, entries []*Entry, each func(*Entry, *Order) error) error {
	keys := make([][]byte, len(entries))
	for i, e := range entries {
		keys[i] = e.Row
	}
	rows, err := query.ByRow(ctx, r.opts.Rows, m.Table, keys)
	if _, unreadable := errors.AsType[*query.UnreadableError](err); unreadable && len(entries) > 1 {
		half := len(entries) / 2 // until the row is alone
		return errors.Join(r.eachOrder(ctx, m, entries[:half], each), r.eachOrder(ctx, m, entries[half:], each))
	}
	if err != nil {
		return err
	}
	var errs []error
	for i, e := range entries {
		o, _ := m.orderOf(&rows[i])
		errs = append(errs, each(e, &o))
	}
	return errors.Join(errs...)
}

// became returns the result of a command whose change is settled, given the present row and time. followed reports whether another command
// was accepted on top of it.
func (m *Machine) became(e *Entry, o *Order, followed bool, now int64) (State, string) {
	at := e.Change.At
	switch {
	case m.Elsewhere && o.Version <= e.Expected && m.AnswerWithin > 0 && now-e.Since >= m.AnswerWithin.Milliseconds():
		return Unanswered, "the reader of the topic " + m.Topic + " has not changed the row within " + m.AnswerWithin.String()
	case m.Elsewhere && o.Version <= e.Expected:
		return Published, "" // unknown so far
	case m.Elsewhere && o.State == e.Change.State, o.Version == at && o.State == e.Change.State, o.Version > at && followed:
		return Applied, ""
	case o.Version >= at, m.Elsewhere:
		return Overtaken, "a newer change set the row to " + o.State
	}
	return Failed, "the pipeline did not write the change: its dead letters say why"
}
