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

// Kerberos says who logs in, and how the brokers are called.
type Kerberos struct {
	gssapi.Options
	Server string // the brokers' principal: service/_HOST[@REALM]
}

// Mechanism returns the mechanism GSSAPI. It logs in when a broker is connected to first, and its login ends when nobody has it any more.
func (k Kerberos) Mechanism() sasl.Mechanism { return &kerberos{from: k, unproved: map[string]bool{}} }

type kerberos struct {
	from Kerberos

	mu       sync.Mutex
	login    *gssapi.Login
	unproved map[string]bool // servers whose ticket was sent and not accepted since: its keys may have been changed
}

func (k *kerberos) Name() string { return "GSSAPI" }

func (k *kerberos) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	login, err := k.loggedIn()
	if err != nil {
		return nil, nil, k.failed(err)
	}
	broker := sasl.MetadataFromContext(ctx)
	if broker == nil {
		return nil, nil, errors.New("kerberos: the broker's name is not known")
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

// loggedIn returns the login. Files that cannot be read may be there at the next try.
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

// sent notes that a server is sent a ticket, and reports whether it has not accepted the one before.
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

// failed says whether another try may help: a KDC that is away comes back, one that does not know us will not.
func (k *kerberos) failed(err error) error {
	for _, cause := range []error{gssapi.ErrUnknownPrincipal, gssapi.ErrWrongKey, gssapi.ErrUnknownServer, gssapi.ErrWrongRealm} {
		if errors.Is(err, cause) {
			return &refused{"kafka.sasl.kerberos", "correct kafka.sasl.kerberos", err}
		}
	}
	return &passing{err, "a KDC that is away, a clock that is off or a file that is not there is tried again"}
}

// exchange is one with a broker.
type exchange struct {
	kerberos *kerberos
	server   string
	client   *gssapi.Client
}

// Next answers a token of the broker, and is called once more after our last.
func (x *exchange) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if x.client.Done() {
		x.kerberos.accepted(x.server)
		return true, nil, nil
	}
	response, err = x.client.Step(challenge)
	if err != nil {
		return false, nil, &refused{fmt.Sprintf("Kerberos with %s", x.server),
			"is kafka.sasl.kerberos.server_principal what the brokers run as (sasl.kerberos.service.name)?", err}
	}
	return false, response, nil
}
