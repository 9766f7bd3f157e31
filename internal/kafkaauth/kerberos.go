package kafkaauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync"

	"github.com/segmentio/kafka-go/sasl"

	"brine/internal/gssapi"
)

// Kerberos configures the login and the principal of the brokers.
type Kerberos struct {
	gssapi.Options
	Server string // the brokers' principal: service/_HOST[@REALM]
}

// Mechanism returns the mechanism GSSAPI. It logs in at the first connection to a broker, and its login ends when nothing refers to it any
// more.
func (k Kerberos) Mechanism() sasl.Mechanism { return &kerberos{from: k, unproved: map[string]bool{}} }

type kerberos struct {
	from Kerberos

	mu       sync.Mutex
	login    *gssapi.Login
	unproved map[string]bool // servers that got a ticket and have not accepted one since: their keys may have changed
}

func (k *kerberos) Name() string { return "GSSAPI" }

func (k *kerberos) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	login, err := k.loggedIn()
	if err != nil {
		return nil, nil, k.failed(err)
	}
	broker := sasl.MetadataFromContext(ctx)
	if broker == nil {
		return nil, nil, errors.New("kerberos: the broker's name is unknown")
	}
	server := login.Server(ctx, k.from.Server, net.JoinHostPort(broker.Host, strconv.Itoa(broker.Port)))
	if k.sent(server) {
		login.Forget(server)
	}
	ticket, err := login.Ticket(ctx, server)
	if err != nil {
		return nil, nil, k.failed(err)
	}
	x := &exchange{k, server, gssapi.NewClient(ticket, gssapi.Auth)}
	first, err := x.client.Step(nil)
	return x, first, err
}

// loggedIn returns the login. If files cannot be read, the next attempt may find them.
func (k *kerberos) loggedIn() (*gssapi.Login, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.login != nil {
		return k.login, nil
	}
	l, err := gssapi.NewLogin(k.from.Options)
	if err != nil {
		return nil, err
	}
	k.login = l
	runtime.AddCleanup(k, func(l *gssapi.Login) { go l.Close() }, l)
	return l, nil
}

// sent records that a ticket is sent to a server, and reports whether the server has not accepted the previous one.
func (k *kerberos) sent(server string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.unproved[server]
	k.unproved[server] = true
	return before
}

func (k *kerberos) accepted(server string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.unproved, server)
}

// failed returns an error that says whether to retry: an unreachable KDC may come back, but one that does not know our principal is final.
func (k *kerberos) failed(err error) error {
	for _, cause := range []error{gssapi.ErrUnknownPrincipal, gssapi.ErrWrongKey, gssapi.ErrUnknownServer, gssapi.ErrWrongRealm} {
		if errors.Is(err, cause) {
			return &refused{"kafka.sasl.kerberos", "correct kafka.sasl.kerberos", err}
		}
	}
	return &passing{err, "brine retries if a KDC is unavailable, a clock is off or a file is missing"}
}

// exchange is an authentication with a broker.
type exchange struct {
	kerberos *kerberos
	server   string
	client   *gssapi.Client
}

// Next answers a token of the broker. It is called once more after our last token.
func (x *exchange) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if x.client.Done() {
		x.kerberos.accepted(x.server)
		return true, nil, nil
	}
	response, err = x.client.Step(challenge)
	if err != nil {
		return false, nil, &refused{fmt.Sprintf("Kerberos with %s", x.server),
			"check that kafka.sasl.kerberos.server_principal is the brokers' principal (sasl.kerberos.service.name)", err}
	}
	return false, response, nil
}
