package query

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"brine/rowkey"
)

// Token is a place in an answer of the key: behind one row. It stays good while rows are written and removed, that row
// among them, since it holds the row's key and no count of rows: what follows neither repeats a row nor passes one over.
//
//	token   base64url of: byte 1 │ CRC-32 of the table's key, as it is written, and the row │ row
type Token string

const (
	tokenVersion = 1
	tokenHeader  = 1 + 4
)

// Token is the place behind one of the table's rows.
func (t Table) Token(row []byte) Token {
	b := append(make([]byte, 0, tokenHeader+len(row)), tokenVersion)
	b = append(binary.BigEndian.AppendUint32(b, t.sum(row)), row...)
	return Token(base64.RawURLEncoding.EncodeToString(b))
}

// behind gives the row that a token was made of.
func (t Table) behind(token Token) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(token))
	switch {
	case err != nil || len(b) < tokenHeader:
		return nil, errors.New("the token is not whole; take it from the answer as it stands")
	case b[0] != tokenVersion:
		return nil, fmt.Errorf("the token is of version %d, and only %d is known; ask again from the start", b[0], tokenVersion)
	case binary.BigEndian.Uint32(b[1:]) != t.sum(b[tokenHeader:]):
		return nil, fmt.Errorf("the token is damaged, or of a table with another key than %s; ask again from the start", t.Key)
	}
	return b[tokenHeader:], nil
}

func (t Table) sum(row []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(t.Key.String())), crc32.IEEETable, row)
}

// bucket is what is to be read under one salt: ranges in ascending order, which all begin with the salt's bytes.
type bucket struct {
	ranges []rowkey.Range
}

// buckets gives the ranges of where behind a token, by salt, in ascending order; one bucket without a salt.
func (t Table) buckets(where map[string]rowkey.Bound, after Token) ([]bucket, error) {
	ranges, err := t.Key.Ranges(where)
	if err != nil {
		return nil, err
	}
	if after != "" {
		row, err := t.behind(after)
		if err == nil && !slices.ContainsFunc(ranges, func(r rowkey.Range) bool { return r.Contains(row) }) {
			err = errors.New("the token's row is none that these conditions find; repeat those that it came from")
		}
		if err != nil {
			return nil, err
		}
		ranges = goOn(ranges, row, t.Key.SaltWidth())
	}
	var out []bucket
	salt := t.Key.SaltWidth()
	for i, r := range ranges {
		if i == 0 || !bytes.Equal(r.Start[:salt], ranges[i-1].Start[:salt]) {
			out = append(out, bucket{})
		}
		last := &out[len(out)-1]
		last.ranges = append(last.ranges, r)
	}
	return out, nil
}

// CheckToken says what keeps an answer to where from going on behind a token.
func (t Table) CheckToken(where map[string]rowkey.Bound, after Token) error {
	_, err := t.buckets(where, after)
	return err
}

// goOn cuts ranges to what comes behind row in an answer: in the order of the bytes behind the salt, and where those are
// equal in the order of the salt.
func goOn(ranges []rowkey.Range, row []byte, salt int) []rowkey.Range {
	var left []rowkey.Range
	for _, r := range ranges {
		start := append(slices.Clone(r.Start[:salt]), row[salt:]...)
		if bytes.Compare(r.Start[:salt], row[:salt]) <= 0 {
			start = append(start, 0)
		}
		if bytes.Compare(start, r.Start) > 0 {
			r.Start = start
		}
		if r.Stop == nil || bytes.Compare(r.Start, r.Stop) < 0 {
			left = append(left, r)
		}
	}
	return left
}
