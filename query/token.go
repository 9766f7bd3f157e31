package query

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"brine/rowkey"
)

// Token is a place in an answer of the key: behind one row. It stays valid while rows are written and removed, including that row, because
// it holds the row's key instead of a count: what follows neither repeats nor skips a row. It also stays valid when the table gets another
// key, for the rows that keep their key.
//
//	token   base64url of: byte 1 │ CRC-32 of the table's first key, as it is written, and the row │ row
//	        or of: byte 2 │ CRC-32 of the row's key, as it is written, its From and the row │ uint64 From │ row
type Token string

const (
	ofFirstKey  = 1
	ofOther     = 2
	tokenHeader = 1 + 4
	fromBytes   = 8
)

// Token returns the place behind one of the table's rows.
func (t Table) Token(row Row) Token {
	at := t.Keys.At(row.From)
	body := row.Key
	kind := byte(ofFirstKey)
	if at > 0 {
		kind, body = ofOther, append(binary.BigEndian.AppendUint64(nil, uint64(t.Keys[at].From)), row.Key...)
	}
	b := append(make([]byte, 0, tokenHeader+len(body)), kind)
	b = append(binary.BigEndian.AppendUint32(b, t.sum(at, body)), body...)
	return Token(base64.RawURLEncoding.EncodeToString(b))
}

// behind returns the row that a token was made of.
func (t Table) behind(token Token) (place, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(token))
	if err != nil || len(b) < tokenHeader || b[0] == ofOther && len(b) < tokenHeader+fromBytes {
		return place{}, errors.New("the token is incomplete; copy it unchanged from the answer")
	}
	body := b[tokenHeader:]
	at := place{row: body}
	switch b[0] {
	case ofFirstKey:
	case ofOther:
		from := int64(binary.BigEndian.Uint64(body))
		at = place{key: slices.IndexFunc(t.Keys, func(k rowkey.KeyFrom) bool { return k.From == from }), row: body[fromBytes:]}
	default:
		return place{}, fmt.Errorf("the token has version %d, but only versions up to %d are known; start over without it", b[0], ofOther)
	}
	if at.key < 0 || at.key == 0 && b[0] == ofOther || binary.BigEndian.Uint32(b[1:]) != t.sum(at.key, body) {
		key := t.Keys[max(0, at.key)].Key
		return place{}, fmt.Errorf("the token is damaged, or belongs to a table with another key than %s; start over without it", key)
	}
	return at, nil
}

func (t Table) sum(key int, body []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(t.Keys[key].Key.String())), crc32.IEEETable, body)
}

// CheckToken returns the reason that an answer to where cannot continue after a token or, if the token is empty, that there is no answer.
func (t Table) CheckToken(where map[string]rowkey.Bound, after Token) error {
	_, _, err := t.buckets(where, after)
	return err
}
