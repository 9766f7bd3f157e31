package gssapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// maxFile is the maximum size of a keytab or ticket cache, in bytes.
const maxFile = 4 << 20

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return b, err
}

// cacheFile returns the file of a ticket cache from its name as klist writes it.
func cacheFile(name string) (string, error) {
	kind, rest, ok := strings.Cut(name, ":")
	switch {
	case !ok || strings.HasPrefix(name, "/"):
		return name, nil
	case kind == "FILE":
		return rest, nil
	}
	return "", fmt.Errorf("ticket cache %s: only files are supported (kinit -c FILE)", name)
}

// readCache returns the ticket-granting ticket of the cache's owner.
func readCache(file string) (Ticket, error) {
	b, err := readFile(file)
	if err != nil {
		return Ticket{}, fmt.Errorf("ticket cache: %w", err)
	}
	t, err := decodeCache(b)
	if err != nil {
		return Ticket{}, fmt.Errorf("ticket cache %s: %w", file, err)
	}
	return t, nil
}

// decodeCache decodes a ticket cache and returns the owner's ticket-granting ticket. Numbers are big-endian:
//
//	05 │ version 04 │ int16 length, header           version 03 has no header
//	principal, the owner
//	client, server (principals) │ key (int16 type, in 03 twice; data) │ int32 auth, start, end, renew │ byte │ int32 flags
//	  │ int32 n, addresses (int16, data) │ int32 n, authorization data (int16, data) │ ticket (data) │ second ticket (data)
//	principal    int32 type │ int32 n │ realm (data) │ n parts (data)
//	data         int32 length │ bytes
func decodeCache(b []byte) (Ticket, error) {
	c := &cursor{rest: b}
	if c.byte() != 5 {
		return Ticket{}, fmt.Errorf("%w: it does not begin like a ticket cache", ErrToken)
	}
	version := c.byte()
	switch version {
	case 3:
	case 4:
		c.take(int(c.int16()))
	default:
		return Ticket{}, fmt.Errorf("%w: version %d, but only 3 and 4 are supported", ErrToken, version)
	}
	owner, realm := c.principal()
	for !c.failed && len(c.rest) > 0 {
		t, err := c.credential(version)
		if c.failed || err != nil {
			return Ticket{}, errors.Join(err, c.err())
		}
		parts := t.ticket.SName.NameString
		if len(parts) == 2 && parts[0] == "krbtgt" && parts[1] == realm && t.client.Equal(owner) {
			return t, nil
		}
	}
	if c.failed {
		return Ticket{}, c.err()
	}
	return Ticket{}, errors.New("it holds no ticket-granting ticket (kinit gets one)")
}

// credential reads an entry. It skips configuration entries, whose realm begins with X-CACHECONF and which have no ticket.
func (c *cursor) credential(version byte) (t Ticket, err error) {
	t.client, t.realm = c.principal()
	server, serverRealm := c.principal()
	if version == 3 {
		c.int16()
	}
	t.key = types.EncryptionKey{KeyType: int32(c.int16()), KeyValue: c.data()}
	for _, at := range []*time.Time{&t.since, nil, &t.until, &t.renewable} { // the start may be 0
		n := c.int32()
		if at != nil && n != 0 {
			*at = time.Unix(int64(n), 0)
		}
	}
	c.take(1 + 4)
	for range 2 { // addresses, authorization data
		for n := c.int32(); n > 0 && !c.failed; n-- {
			c.int16()
			c.data()
		}
	}
	ticket := c.data()
	c.data()
	if c.failed || strings.HasPrefix(serverRealm, "X-CACHECONF") {
		return t, nil
	}
	t.server = server.PrincipalNameString() + "@" + serverRealm
	return t, guarded("ticket for "+t.server, func() error {
		if err := t.ticket.Unmarshal(ticket); err != nil {
			return err
		}
		return named(t.ticket)
	})
}

// named rejects tickets without a server name, which gokrb5 does not expect.
func named(t messages.Ticket) error {
	if len(t.SName.NameString) == 0 {
		return errors.New("it names no server")
	}
	return nil
}

// cursor reads bytes. Reading beyond the end returns zeros and sets failed.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) err() error {
	if !c.failed {
		return nil
	}
	return fmt.Errorf("%w: it is truncated", ErrToken)
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.failed, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) int16() uint16 {
	if b := c.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) data() []byte { return c.take(int(c.int32())) }

func (c *cursor) principal() (types.PrincipalName, string) {
	p := types.PrincipalName{NameType: c.int32()}
	n := c.int32()
	realm := string(c.data())
	for ; n > 0 && !c.failed; n-- {
		p.NameString = append(p.NameString, string(c.data()))
	}
	return p, realm
}
