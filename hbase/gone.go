package hbase

import (
	"context"
	"errors"
	"time"

	"brine/internal/backoff"
)

// A server that stands still keeps its calls, while the master takes it for dead and gives its regions to others. So a call that is out for
// long has hbase:meta looked at: once all of its regions are open on other servers it is given up, instead of waiting for RPCTimeout.
// Its outcome is unknown then. But where it is, nothing of it can be applied any more: a region is opened elsewhere only when its last server can no longer
// write to it. So what is sent again keeps its order.

var errGone = errors.New("it does not answer, and the regions of the call are open on other servers")

// watch looks at a server's calls in a while, if any are out. w.mu is held.
func (w *writer) watch(s *line) {
	switch {
	case s.watched || len(s.healthy.out)+len(s.sick.out) == 0:
		return
	case s.watcher == nil:
		s.watcher = time.AfterFunc(lookAfter, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			s.watched = false
			if !w.closed {
				w.followLate(s)
				w.watch(s)
			}
		})
	default:
		s.watcher.Reset(lookAfter)
	}
	s.watched = true
}

// followLate begins to look after the calls that have been out for long. w.mu is held.
func (w *writer) followLate(s *line) {
	now := time.Now()
	for _, q := range []*queue{&s.healthy, &s.sick} {
		for _, m := range q.out {
			if m.followed || now.Sub(m.left) < lookAfter {
				continue
			}
			m.followed = true
			ctx, giveUp := m.ctx, m.giveUp // the call itself may be another by the time of the answer
			var regions []*Region
			for _, p := range m.parts {
				regions = append(regions, p.region)
			}
			w.c.wg.Go(func() { w.follow(ctx, giveUp, regions) })
		}
	}
}

// follow gives a call up when all of its regions are elsewhere. It ends with the call.
func (w *writer) follow(ctx context.Context, giveUp context.CancelCauseFunc, regions []*Region) {
	for !w.elsewhere(ctx, regions) {
		if backoff.Wait(ctx, lookAfter) != nil {
			return
		}
	}
	giveUp(&connError{server: regions[0].Server, class: "timeout", dead: true, err: errGone})
}

// elsewhere reports whether each region has been opened on another server, or on another life of its own, since it was located.
func (w *writer) elsewhere(ctx context.Context, regions []*Region) bool {
	for _, r := range regions {
		now, err := w.c.locator.look(ctx, r)
		if err != nil || now == nil || !now.newerThan(r) || now.sameLife(r) {
			return false
		}
	}
	return true
}

// sameLife reports whether both may be on one life of one server: a RegionMovedException does not say which.
func (r *Region) sameLife(o *Region) bool {
	return r.Server == o.Server && (o.StartCode == 0 || r.StartCode == o.StartCode)
}

// look returns what hbase:meta has at the start of a region that is known, whatever is cached; nil if that is on no server. A newer
// region takes the known one's place in the cache. That hbase:meta does not answer is no reason to forget where it is, since it may be over the
// connection that is looked after; that the registry says another place is.
func (l *locator) look(ctx context.Context, r *Region) (*Region, error) {
	return l.lookupOnce(ctx, "look\x00"+string(r.Name), func() (*Region, error) {
		ctx, cancel := context.WithTimeout(l.servers.ctx, l.servers.opts.DialTimeout)
		defer cancel()
		meta, err := l.findMeta(ctx)
		if err != nil {
			return nil, err
		}
		found, err := l.lookupAt(ctx, meta, r.Table, metaKey(r.Table, r.Start, greatestID), prefetch)
		if err != nil {
			if at, metaErr := l.registry.meta(l.servers.ctx); metaErr == nil && !at.sameLife(meta) {
				l.dropMeta(meta)
			}
			return nil, err
		}
		if lack(found, func(now *Region) bool { return now.contains(r.Start) }) != nil {
			return nil, nil
		}
		return found[0], nil
	})
}
