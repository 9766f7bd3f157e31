package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"
	"brine/internal/gssapi"

	"google.golang.org/protobuf/proto"
)

// Kerberos is how connections are authenticated.
type Kerberos struct {
	Login  *gssapi.Login
	Server string // principal of the servers: service/_HOST[@REALM]
	QOP    gssapi.QOP
}

// protectedOverhead exceeds what wrapping adds to an answer.
const protectedOverhead = 64 << 10

// authenticate writes the preamble, authenticates both sides to each other, and returns the connection for everything that follows: the
// socket, or a protecting layer on it. It gets the ticket first, because the server waits only for a limited time.
func (o *Options) authenticate(ctx context.Context, socket net.Conn, addr string) (net.Conn, error) {
	k, by := o.Kerberos, time.Now().Add(o.DialTimeout)
	if d, ok := ctx.Deadline(); ok {
		by = d
	}
	by = by.Add(-time.Until(by) / 10) // leaves time to report the reason to whoever waits for the connection
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	if err := socket.SetDeadline(by); err != nil {
		return nil, err
	}
	server := k.Login.Server(ctx, k.Server, addr)
	ticket, err := k.Login.Ticket(ctx, server)
	if err != nil {
		return nil, err
	}
	if _, err := socket.Write(wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthKerberos})); err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	layer, err := o.exchange(socket, gssapi.NewClient(ticket, k.QOP))
	if err != nil {
		k.Login.Forget(server) // its keys may have changed: the next try gets another ticket
		return nil, exchangeError(addr, server, err)
	}
	if layer == nil {
		return socket, nil
	}
	return layer.Conn(socket, socket, o.MaxAnswerBytes+protectedOverhead), nil
}

// exchange sends the client's tokens and reads the server's answers until the client is done.
func (o *Options) exchange(socket net.Conn, client *gssapi.Client) (*gssapi.Layer, error) {
	var challenge []byte
	for first := true; ; first = false {
		token, err := client.Step(challenge)
		if err != nil {
			return nil, err
		}
		if _, err := socket.Write(wire.AppendSASLToken(nil, token)); err != nil {
			return nil, err
		}
		if client.Done() {
			return client.Layer(), nil
		}
		challenge, err = wire.ReadSASLChallenge(socket)
		switch {
		case err != nil && first:
			return nil, o.unanswered(err)
		case err != nil:
			return nil, err
		}
	}
}

// exchangeError explains why an exchange failed.
func exchangeError(addr, server string, err error) error {
	refused, isRefusal := errors.AsType[*wire.SASLError](err)
	other, isOther := errors.AsType[*wire.OtherAnswer](err)
	switch {
	case errors.Is(err, wire.ErrNoAuthentication):
		return errors.New("it offers to continue without authentication, which brine refuses: hbase.kerberos is set, but this server has no " +
			"Kerberos (hbase.security.authentication)")
	case isRefusal:
		return fmt.Errorf("it refuses the ticket for %s: %w (see its log; check its keytab, its clock and its hbase.rpc.protection)",
			server, refused)
	case isOther && other.Response.Exception != nil:
		return remote.NewException(addr, other.Response.Exception)
	}
	return fmt.Errorf("Kerberos with %s: %w", server, err)
}

// refusal returns the error for an exception to no call, by which a server ends the connection. It says so if the server wants Kerberos.
func (o *Options) refusal(addr string, m *hbasepb.ExceptionResponse) error {
	e := remote.NewException(addr, m)
	if o.Kerberos == nil && e.Class == remote.Package+"security.AccessDeniedException" && strings.Contains(e.Text,
		"Authentication is required") {
		e.Text = "Authentication is required: this HBase requires Kerberos; set hbase.kerberos"
	}
	return e
}

// userInfo returns the calling user if nothing else identifies it: the server trusts it.
func (o *Options) userInfo() *hbasepb.UserInformation {
	if o.Kerberos != nil {
		return nil // any user other than the ticket's would mean impersonation
	}
	return &hbasepb.UserInformation{EffectiveUser: proto.String(o.User)}
}
