package pipeline

import (
	"context"
	"errors"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/internal/backoff"
)

// A server that hangs keeps its calls, while the master considers it dead and opens its regions elsewhere. So a call that stays unanswered
// for long is checked against hbase:meta: once all of its regions are open on other servers, the writer gives it up instead of waiting for
// RPCTimeout. Its outcome is then unknown, but nothing of it can be applied any more on the old server: a region is opened elsewhere only
// when its last server can no longer write to it. So what is sent again keeps its order.

var errElsewhere = errors.New("it does not answer, and the call's regions are open on other servers")

// watch checks a server's calls after a while if any are unanswered. The caller holds w.mu.
func (w *Writer) watch(s *serverQueue) {
	switch {
	case s.watched || len(s.shared.unanswered)+len(s.alone.unanswered) == 0:
		return
	case s.watcher == nil:
		s.watcher = time.AfterFunc(lookAfter, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			s.watched = false
			if !w.closed {
				w.followSlow(s)
				w.watch(s)
			}
		})
	default:
		s.watcher.Reset(lookAfter)
	}
	s.watched = true
}

// followSlow starts following the calls that have been unanswered for long. The caller holds w.mu.
func (w *Writer) followSlow(s *serverQueue) {
	now := time.Now()
	for _, q := range []*turns{&s.shared, &s.alone} {
		for _, m := range q.unanswered {
			if m.followed || now.Sub(m.left) < lookAfter {
				continue
			}
			m.followed = true
			ctx, giveUp := m.ctx, m.giveUp // m may be reused for another call meanwhile
			var regions []*locate.Region
			for _, p := range m.parts {
				regions = append(regions, p.region)
			}
			w.env.Go(func() { w.follow(ctx, giveUp, regions) })
		}
	}
}

// follow gives up a call when all of its regions are elsewhere. It ends with the call.
func (w *Writer) follow(ctx context.Context, giveUp context.CancelCauseFunc, regions []*locate.Region) {
	for !w.elsewhere(ctx, regions) {
		if backoff.Wait(ctx, lookAfter) != nil {
			return
		}
	}
	giveUp(&remote.ConnError{Server: regions[0].Server, Class: "timeout", Dead: true, Err: errElsewhere})
}

// elsewhere reports whether, since it was located, every region has been opened on another server or by a new process of the same server.
func (w *Writer) elsewhere(ctx context.Context, regions []*locate.Region) bool {
	for _, r := range regions {
		now, err := w.env.Read(ctx, r)
		if err != nil || now == nil || !now.NewerThan(r) || now.SameLife(r) {
			return false
		}
	}
	return true
}
