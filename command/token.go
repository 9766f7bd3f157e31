package command

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Token names a record, published by a command, that a reader wants to see applied. It is no permission, and no secret.
//
//	token   base64url of: byte 1 │ CRC-32 of what follows │ uint32 partition │ uint64 offset │ topic
type Token struct {
	Topic     string
	Partition int
	Offset    int64 // the offset to be read next once the record is settled
}

const (
	tokenKind = 1
	tokenHead = 1 + 4 + 4 + 8
	maxTopic  = 249
)

// String returns the encoded token.
func (t Token) String() string {
	b := append(make([]byte, 0, tokenHead+len(t.Topic)), tokenKind, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(t.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Offset))
	b = append(b, t.Topic...)
	binary.BigEndian.PutUint32(b[1:], crc32.ChecksumIEEE(b[5:]))
	return base64.RawURLEncoding.EncodeToString(b)
}

var errToken = errors.New("is incomplete, or from another brine; copy it unchanged from the answer to a command")

// ParseToken decodes a token.
func ParseToken(text string) (Token, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= tokenHead || len(b) > tokenHead+maxTopic || b[0] != tokenKind ||
		binary.BigEndian.Uint32(b[1:]) != crc32.ChecksumIEEE(b[5:]) {
		return Token{}, errToken
	}
	part, offset := binary.BigEndian.Uint32(b[5:]), binary.BigEndian.Uint64(b[9:])
	if part > 1<<31-1 || offset > 1<<63-1 {
		return Token{}, errToken
	}
	return Token{Topic: string(b[tokenHead:]), Partition: int(part), Offset: int64(offset)}, nil
}
