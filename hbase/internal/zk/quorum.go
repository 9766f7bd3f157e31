package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/hbase/internal/remote"
	"brine/internal/sockets"
)

// idleFor is how long a session stays open after its last use. Regions and masters move in bunches: one session serves the requests after
// such a move, and none is open while there are no requests, which is nearly always.
const idleFor = 5 * time.Second

// quorum is a ZooKeeper ensemble and the session to it, if one is open. turn holds one token, whose holder may use session.
type quorum struct {
	addrs []string
	dial  Dialler
	auth  string

	turn    chan struct{}
	session *session
	idle    *time.Timer // closes session

	users int // guarded by quorums.mu
}

// quorums are the ensembles that this process has open, by their addresses. It is the package's only state that outlives a call without
// belonging to a Cluster. ZooKeeper's operators limit sessions per host (maxClientCnxns), so the ensemble sees at most one session of a
// process, however many clusters it opens. Closing the last cluster ends the session.
var quorums = struct {
	mu   sync.Mutex
	open map[string]*quorum
}{open: make(map[string]*quorum)}

// joinQuorum returns the process's quorum for these addresses. The caller must leave it. A client with its own dialler or user gets its own
// quorum.
func joinQuorum(addrs []string, by Access) *quorum {
	fresh := func() *quorum {
		q := &quorum{addrs: addrs, dial: by.Dial, auth: by.Auth, turn: make(chan struct{}, 1), users: 1}
		if by.Dial == nil {
			q.dial = sockets.Dial(new(net.Dialer))
		}
		return q
	}
	if by.Dial != nil || by.Auth != "" {
		return fresh()
	}
	quorums.mu.Lock()
	defer quorums.mu.Unlock()
	q := quorums.open[quorumKey(addrs)]
	if q == nil {
		q = fresh()
		quorums.open[quorumKey(addrs)] = q
		return q
	}
	q.users++
	return q
}

func quorumKey(addrs []string) string { return strings.Join(slices.Sorted(slices.Values(addrs)), ",") }

// leave ends one use. The last one closes the session.
func (q *quorum) leave() {
	quorums.mu.Lock()
	q.users--
	last := q.users == 0
	if last && quorums.open[quorumKey(q.addrs)] == q {
		delete(quorums.open, quorumKey(q.addrs))
	}
	quorums.mu.Unlock()
	if last {
		q.turn <- struct{}{} // its users have left or will: their calls end with their client
		q.drop()
		<-q.turn
	}
}

// use calls f with the session, one caller at a time. If no session is open, or the open one has died, use tries a new one to each server
// of the ensemble in random order until one answers. The error says what happened with each. Every server has at most patience: one that
// takes longer counts as absent.
func (q *quorum) use(ctx context.Context, patience time.Duration, f func(context.Context, *session) error) error {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-q.turn }()
	if q.idle != nil {
		q.idle.Stop()
	}
	if q.session != nil {
		if err := q.attempt(ctx, patience, f); err == nil || ctx.Err() != nil || isAnswer(err) {
			return err
		}
	}
	var errs []error
	for _, i := range rand.Perm(len(q.addrs)) {
		err := q.connect(ctx, patience, q.addrs[i])
		if err == nil {
			err = q.attempt(ctx, patience, f)
		}
		if err == nil || isAnswer(err) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		errs = append(errs, fmt.Errorf("%s: %w", q.addrs[i], err))
	}
	return &remote.ConnError{Server: "ZooKeeper", Class: "connection", Err: errors.Join(errs...)}
}

// isAnswer reports whether err is the answer of a working server and not a failure to ask it.
func isAnswer(err error) bool {
	_, answered := errors.AsType[serverError](err)
	return answered || errors.Is(err, remote.ErrNoServer) || errors.Is(err, remote.ErrNoZnode) ||
		errors.Is(err, errZnode) || errors.Is(err, remote.ErrInvalid)
}

func (q *quorum) connect(ctx context.Context, patience time.Duration, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := q.dial(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	q.session, err = connect(ctx, conn, addr, q.auth)
	return err
}

func (q *quorum) attempt(ctx context.Context, patience time.Duration, f func(context.Context, *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := f(ctx, q.session)
	if err != nil && !isAnswer(err) {
		_ = q.session.conn.Close() // it has already failed
		q.session = nil
		return err
	}
	unused := min(idleFor, q.session.timeout/2)
	if q.idle == nil {
		q.idle = time.AfterFunc(unused, q.expire)
	} else {
		q.idle.Reset(unused)
	}
	return err
}

// expire closes a session that has not been used for a while. If it is in use, its user resets the timer.
func (q *quorum) expire() {
	select {
	case q.turn <- struct{}{}:
		q.drop()
		<-q.turn
	default:
	}
}

// drop closes the session. The caller holds the turn.
func (q *quorum) drop() {
	if q.idle != nil {
		q.idle.Stop()
	}
	if q.session != nil {
		q.session.close()
		q.session = nil
	}
}
