package gssapi

import (
	"errors"
	"fmt"
	"strings"
)

// QOP is a quality of protection or, as a set of bits, several.
type QOP byte

// The qualities of protection: authentication, integrity, and confidentiality.
const (
	Auth QOP = 1
	Int  QOP = 2
	Conf QOP = 4
)

// qops are the names, ordered from the least protection.
var qops = []struct {
	QOP
	name string
}{{Auth, "auth"}, {Int, "auth-int"}, {Conf, "auth-conf"}}

// ParseQOP returns the quality of protection with that name.
func ParseQOP(name string) (QOP, error) {
	for _, q := range qops {
		if q.name == name {
			return q.QOP, nil
		}
	}
	return 0, fmt.Errorf("unknown quality of protection %q; write auth, auth-int or auth-conf", name)
}

func (q QOP) String() string {
	var names []string
	for _, known := range qops {
		if q&known.QOP != 0 {
			names = append(names, known.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// maxMessage is the maximum wrapped message that either side announces: the largest number in three bytes. HBase wraps longer ones.
const maxMessage = 1<<24 - 1

// Layer is the protection of the connection after an exchange.
type Layer struct {
	*Context
	Seal bool
	Max  int // the longest token that the peer announced; 0: none
}

// Client is the client's side of the SASL mechanism GSSAPI.
type Client struct {
	initiator *Initiator
	qop       QOP
	step      int
	context   *Context
	layer     *Layer
}

// NewClient returns a client that requires exactly that quality of protection.
func NewClient(t Ticket, qop QOP) *Client { return &Client{initiator: NewInitiator(t), qop: qop} }

// Done reports whether the server has proved its identity and the protection is negotiated.
func (c *Client) Done() bool { return c.step == 3 }

// Layer returns the protection of the rest of the connection, or nil if there is none.
func (c *Client) Layer() *Layer { return c.layer }

// Step answers a challenge; the first one is empty. After the last answer Done returns true. An answer may be empty and must be sent all
// the same.
func (c *Client) Step(challenge []byte) (answer []byte, err error) {
	step := c.step
	c.step = -1 // until the step has succeeded
	switch step {
	case 0:
		answer, err = c.initiator.Request()
	case 1:
		c.context, err = c.initiator.Finish(challenge)
		answer = []byte{}
	case 2:
		answer, err = c.choose(challenge)
	default:
		return nil, errors.New("the exchange is over")
	}
	if err == nil {
		c.step = step + 1
	}
	return answer, err
}

// choose answers the server's offer: a bit for each quality of protection (1) │ its longest message (3).
func (c *Client) choose(challenge []byte) ([]byte, error) {
	offer, err := c.context.Unwrap(challenge, false)
	if err != nil {
		return nil, err
	}
	if len(offer) != 4 {
		return nil, fmt.Errorf("%w: an offer of protection of %d bytes", ErrToken, len(offer))
	}
	if offered := QOP(offer[0]); offered&c.qop == 0 {
		return nil, fmt.Errorf("%w, or a different kind: the server offers %v, but qop is %v (on the server: hbase.rpc.protection or similar)",
			ErrDowngrade, offered, c.qop)
	}
	mine := []byte{byte(c.qop), 0, 0, 0}
	if c.qop != Auth {
		mine[1], mine[2], mine[3] = maxMessage>>16, maxMessage>>8&0xff, maxMessage&0xff
		c.layer = &Layer{Context: c.context, Seal: c.qop == Conf, Max: size(offer)}
	}
	return c.context.Wrap(nil, mine, false), nil
}

func size(b []byte) int { return int(b[1])<<16 | int(b[2])<<8 | int(b[3]) }

// Server is the server's side of the SASL mechanism GSSAPI.
type Server struct {
	acceptor *Acceptor
	offered  QOP
	step     int
	context  *Context
	layer    *Layer
}

// NewServer returns a server that offers the given qualities of protection.
func NewServer(a *Acceptor, offered QOP) *Server { return &Server{acceptor: a, offered: offered} }

// Done reports whether the client has proved its identity and the protection is negotiated.
func (s *Server) Done() bool { return s.step == 3 }

// Layer returns the protection of the rest of the connection, or nil if there is none.
func (s *Server) Layer() *Layer { return s.layer }

// Peer returns the client's principal, once Done returns true.
func (s *Server) Peer() string { return s.context.Peer() }

// Step returns the challenge that answers a token, or nil once Done returns true. If it fails, it may also return a challenge with the
// reason.
func (s *Server) Step(token []byte) (challenge []byte, err error) {
	step := s.step
	s.step = -1
	switch step {
	case 0:
		challenge, s.context, err = s.acceptor.Accept(token)
	case 1:
		if len(token) != 0 {
			return nil, fmt.Errorf("%w: %d bytes where nothing was expected", ErrToken, len(token))
		}
		challenge = s.context.Wrap(nil, []byte{byte(s.offered), maxMessage >> 16, maxMessage >> 8 & 0xff, maxMessage & 0xff}, false)
	case 2:
		err = s.chosen(token)
	default:
		return nil, errors.New("the exchange is over")
	}
	if err == nil {
		s.step = step + 1
	}
	return challenge, err
}

// chosen reads the client's choice. It refuses a user name after the choice, which asks to act for that user.
func (s *Server) chosen(token []byte) error {
	choice, err := s.context.Unwrap(token, false)
	if err != nil {
		return err
	}
	if len(choice) < 4 {
		return fmt.Errorf("%w: a choice of protection of %d bytes", ErrToken, len(choice))
	}
	q := QOP(choice[0])
	if q&s.offered != q || q != Auth && q != Int && q != Conf {
		return fmt.Errorf("%w: the client chose %v of %v", ErrToken, q, s.offered)
	}
	if who := string(choice[4:]); who != "" && who != s.context.Peer() {
		return fmt.Errorf("%s may not act for another user", s.context.Peer())
	}
	if q != Auth {
		s.layer = &Layer{Context: s.context, Seal: q == Conf, Max: size(choice)}
	}
	return nil
}
