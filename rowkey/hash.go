package rowkey

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/murmur3"
)

// algorithm is a hash function; sum computes its digest, most significant byte first.
type algorithm struct {
	name string
	size int // bytes of the digest
	says string
}

// The algorithms of hash prefixes. Their names are functions of the language.
var (
	md5Hash     = &algorithm{"md5", md5.Size, "md5"}
	murmur3Hash = &algorithm{"murmur3", 4, "murmur3 (x86, 32 bits, seed 0)"}
	xxhashHash  = &algorithm{"xxhash", 8, "xxHash64 (seed 0)"}
)

type digest [md5.Size]byte

func (a *algorithm) sum(d *digest, text []byte) {
	switch {
	case a == md5Hash && len(text) <= oneBlock:
		md5Block(d, text)
	case a == md5Hash:
		*d = md5.Sum(text) // for spreading rows, not for secrecy
	case a == murmur3Hash:
		binary.BigEndian.PutUint32(d[:], murmur3.Sum32(text))
	case a == xxhashHash:
		binary.BigEndian.PutUint64(d[:], xxhash.Sum64(text))
	}
}

// hash is the first digits or bytes of the hash of the concatenated texts of one or more fields.
type hash struct {
	*algorithm
	fields []field
	plain  bool // the hash of a single text field
	n      int  // hex digits, or bytes when raw
	raw    bool // bytes of the digest instead of lower-case hex digits
}

func (h *hash) width() int     { return h.n }
func (h *hash) reads() []field { return h.fields }

func (h *hash) expr() string {
	unit := ""
	switch {
	case h.raw && h.n == 1:
		unit = " byte"
	case h.raw:
		unit = " bytes"
	}
	return fmt.Sprintf("%s(%s, %d%s)", h.name, joinNames(h.fields), h.n, unit)
}

func (h *hash) doc() string {
	unit := "hex digits"
	if h.raw {
		unit = "bytes"
	}
	return fmt.Sprintf("the first %d %s of the %s of %s: spreads the rows evenly, in no order of the field", h.n, unit,
		h.says, joinNames(h.fields))
}

func (h *hash) append(dst []byte, values []Value) ([]byte, error) {
	var d digest
	if err := h.digest(&d, values); err != nil {
		return dst, err
	}
	if h.raw {
		return append(dst, d[:h.n]...), nil
	}
	for i := range h.n {
		dst = append(dst, hexDigits[d[i/2]>>(4-4*(i%2))&15])
	}
	return dst, nil
}

func (h *hash) digest(d *digest, values []Value) error {
	if h.plain { // the bytes of the field are hashed as they are
		v, err := h.fields[0].of(values)
		if err == nil {
			h.sum(d, v.Text)
		}
		return err
	}
	var buf [hashBuffer]byte
	text, err := fieldsText(buf[:0], h.fields, values)
	if err == nil {
		h.sum(d, text)
	}
	return err
}

func (h *hash) measure(row []byte) (int, error) {
	n, err := measureFixed(row, h.n)
	if err != nil || h.raw {
		return n, err
	}
	for _, c := range row[:n] {
		if c < '0' || c > '9' && c < 'a' || c > 'f' {
			return 0, fmt.Errorf("%s is not a lower-case hex digit", quote([]byte{c}))
		}
	}
	return n, nil
}

func (h *hash) decode([]byte, []Value) error { return nil }

func (h *hash) verify(b []byte, values []Value) error {
	var buf [2 * md5.Size]byte
	want, err := h.append(buf[:0], values)
	if err != nil || bytes.Equal(b, want) {
		return err
	}
	return h.mismatch(b, values, want)
}

func (h *hash) mismatch(got []byte, values []Value, want []byte) error {
	text, err := fieldsText(nil, h.fields, values)
	if err != nil {
		return err
	}
	return fmt.Errorf("is %s, but %s %s hashes to %s", Binary(got), joinNames(h.fields), Binary(clip(text)), Binary(want))
}

// hashBuffer is the number of bytes of several fields' texts that are hashed without allocating.
const hashBuffer = 128

// fieldsText appends the texts of fields to buf.
func fieldsText(buf []byte, fields []field, values []Value) ([]byte, error) {
	for i := range fields {
		v, err := fields[i].of(values)
		if err != nil {
			return nil, err
		}
		if fields[i].kept == nil {
			buf = appendText(buf, *v)
			continue
		}
		coarse, err := fields[i].kept.round(&fields[i], *v)
		if err != nil {
			return nil, err
		}
		buf = appendText(buf, coarse)
	}
	return buf, nil
}

// maxBuckets is the number of values of two bytes.
const maxBuckets = 1 << 16

// salt is the bucket of one or more fields: the murmur3 of their texts, modulo the number of buckets, big-endian. It is computed, never
// random, because a replay, a reader and a second writer must all find the same row.
type salt struct {
	fields  []field
	buckets int
}

func (s *salt) reads() []field { return s.fields }
func (s *salt) expr() string   { return fmt.Sprintf("salt(%d, %s)", s.buckets, joinNames(s.fields)) }

func (s *salt) width() int {
	if s.buckets > 256 {
		return 2
	}
	return 1
}

func (s *salt) doc() string {
	return fmt.Sprintf("bucket 0 to %d computed from %s: spreads the rows over %d ranges, each in the order of the parts that follow",
		s.buckets-1, joinNames(s.fields), s.buckets)
}

func (s *salt) appendBucket(dst []byte, bucket int) []byte {
	if s.width() == 2 {
		dst = append(dst, byte(bucket>>8))
	}
	return append(dst, byte(bucket))
}

func (s *salt) bucketOf(values []Value) (int, error) {
	var buf [hashBuffer]byte
	text, err := fieldsText(buf[:0], s.fields, values)
	if err != nil {
		return 0, err
	}
	return int(murmur3.Sum32(text) % uint32(s.buckets)), nil
}

func (s *salt) bucketIn(b []byte) int {
	bucket := 0
	for _, c := range b {
		bucket = bucket<<8 | int(c)
	}
	return bucket
}

func (s *salt) append(dst []byte, values []Value) ([]byte, error) {
	bucket, err := s.bucketOf(values)
	if err != nil {
		return dst, err
	}
	return s.appendBucket(dst, bucket), nil
}

func (s *salt) measure(row []byte) (int, error) {
	n, err := measureFixed(row, s.width())
	if err == nil && s.bucketIn(row[:n]) >= s.buckets {
		err = fmt.Errorf("there is no bucket %d", s.bucketIn(row[:n]))
	}
	return n, err
}

func (s *salt) decode([]byte, []Value) error { return nil }

func (s *salt) verify(b []byte, values []Value) error {
	want, err := s.bucketOf(values)
	if err != nil {
		return err
	}
	if got := s.bucketIn(b); got != want {
		return fmt.Errorf("is bucket %d, but %s belongs in bucket %d", got, joinNames(s.fields), want)
	}
	return nil
}

func joinNames(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}
