package hbase

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

	"brine/internal/sockets"
)

// zkIdle is for how long a session stays open after its last use. Regions and masters move in bunches: one session serves
// the questions after such a move, and none is open while nothing is asked, which is nearly always.
const zkIdle = 5 * time.Second

// quorum is a ZooKeeper ensemble and the one session to it, if one is open. turn holds one token: who has it may use session.
type quorum struct {
	addrs []string
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)

	turn    chan struct{}
	session *zkSession
	idle    *time.Timer // closes session

	users int // under quorums.mu
}

// quorums are the ensembles that clients of this process have open, by their addresses. It is the package's only state that
// outlives a call without belonging to a Client: ZooKeeper's operators bound sessions by host (maxClientCnxns), so however
// many clients a process opens, the ensemble sees at most one session of it. The last client that closes takes it away.
var quorums = struct {
	mu   sync.Mutex
	open map[string]*quorum
}{open: make(map[string]*quorum)}

// joinQuorum returns the process's quorum of these addresses; it must be left. A client with a dialler of its own has its own.
func joinQuorum(addrs []string, dial func(context.Context, string, string) (net.Conn, error)) *quorum {
	fresh := func() *quorum {
		q := &quorum{addrs: addrs, dial: dial, turn: make(chan struct{}, 1), users: 1}
		if dial == nil {
			q.dial = sockets.Dial(new(net.Dialer))
		}
		return q
	}
	if dial != nil {
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

// leave gives up one use; the last one closes the session.
func (q *quorum) leave() {
	quorums.mu.Lock()
	q.users--
	last := q.users == 0
	if last && quorums.open[quorumKey(q.addrs)] == q {
		delete(quorums.open, quorumKey(q.addrs))
	}
	quorums.mu.Unlock()
	if last {
		q.turn <- struct{}{} // whoever used it has gone or will go: its calls have ended with their client
		q.drop()
		<-q.turn
	}
}

// use calls f with the session, one caller at a time: the session that is open, else, or if that one has died, one to each
// server of the ensemble in a random order until one answers. The error says what became of each. Every server has at most
// patience: one that takes longer is as good as not there.
func (q *quorum) use(ctx context.Context, patience time.Duration, f func(context.Context, *zkSession) error) error {
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
	return &connError{server: "ZooKeeper", class: "connection", err: errors.Join(errs...)}
}

// isAnswer tells what a working server answered from a failure to ask it.
func isAnswer(err error) bool {
	_, answered := errors.AsType[zkError](err)
	return answered || errors.Is(err, errNoServer) || errors.Is(err, errNoZnode) || errors.Is(err, errZnode) || errors.Is(err, errInvalidResponse)
}

func (q *quorum) connect(ctx context.Context, patience time.Duration, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := q.dial(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	q.session, err = zkConnect(ctx, conn, addr)
	return err
}

func (q *quorum) attempt(ctx context.Context, patience time.Duration, f func(context.Context, *zkSession) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := f(ctx, q.session)
	if err != nil && !isAnswer(err) {
		_ = q.session.conn.Close() // it has failed already
		q.session = nil
		return err
	}
	unused := min(zkIdle, q.session.timeout/2)
	if q.idle == nil {
		q.idle = time.AfterFunc(unused, q.expire)
	} else {
		q.idle.Reset(unused)
	}
	return err
}

// expire closes the session that nobody used for a while. Who uses it just now sets the timer again.
func (q *quorum) expire() {
	select {
	case q.turn <- struct{}{}:
		q.drop()
		<-q.turn
	default:
	}
}

// drop closes the session. The caller has the turn.
func (q *quorum) drop() {
	if q.idle != nil {
		q.idle.Stop()
	}
	if q.session != nil {
		q.session.close()
		q.session = nil
	}
}
