package gssapi

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/types"
)

// supported are the supported encryption types, beginning with the one that every KDC knows. Type 20, AES-256 with SHA-384, is missing,
// because gokrb5 assumes that its keys have 24 bytes instead of 32.
var supported = []int32{etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA256_128, etypeID.AES128_CTS_HMAC_SHA1_96}

// Key usages of wrap tokens (RFC 4121, 2).
const (
	usageAcceptor  = 22
	usageInitiator = 24
)

// sealer encrypts and checks the messages of one direction. It derives the keys once; gokrb5 derives them for each message. It must be used
// by one goroutine at a time.
//
//	sealed    CTS(Ke, confounder (16) │ message) │ HMAC(Ki, …)
//	checksum  HMAC(Kc, message)
//
// The HMAC of a sealed message covers the plain text (RFC 3962), or a zero block and the encrypted text (RFC 8009).
type sealer struct {
	block      cipher.Block
	integrity  hash.Hash
	checksum   hash.Hash
	size       int // bytes of an HMAC that are transmitted
	overSealed bool
	sum        []byte // scratch
}

func newSealer(key types.EncryptionKey, usage uint32) (*sealer, error) {
	et, err := crypto.GetEtype(key.KeyType)
	if err != nil || !isSupported(key.KeyType) {
		return nil, fmt.Errorf("encryption type %d is not AES (17 to 19): give the principals AES keys", key.KeyType)
	}
	if len(key.KeyValue) != et.GetKeyByteSize() {
		return nil, fmt.Errorf("%w: a key of %d bytes for encryption type %d", ErrToken, len(key.KeyValue), key.KeyType)
	}
	var derived [3][]byte
	for i, kind := range []byte{0xaa, 0x55, 0x99} { // for encryption, integrity, checksum
		if derived[i], err = et.DeriveKey(key.KeyValue, append(binary.BigEndian.AppendUint32(nil, usage), kind)); err != nil {
			return nil, err
		}
	}
	block, err := aes.NewCipher(derived[0])
	if err != nil {
		return nil, err
	}
	return &sealer{
		block: block, integrity: hmac.New(et.GetHashFunc(), derived[1]), checksum: hmac.New(et.GetHashFunc(), derived[2]),
		size:       et.GetHMACBitLength() / 8,
		overSealed: key.KeyType == etypeID.AES128_CTS_HMAC_SHA256_128,
	}, nil
}

func isSupported(etype int32) bool { return slices.Contains(supported, etype) }

const blockSize = aes.BlockSize

// seal appends the sealed message, given in two parts, to dst.
func (s *sealer) seal(dst, message, more []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, blockSize)...)
	rand.Read(dst[start:]) // never fails
	dst = append(append(dst, message...), more...)
	if !s.overSealed {
		s.sum = mac(s.integrity, s.sum, dst[start:])
	}
	dst = s.encrypt(dst, start)
	if s.overSealed {
		s.sum = mac(s.integrity, s.sum, zeroBlock[:], dst[start:])
	}
	return append(dst, s.sum[:s.size]...)
}

// open returns the message in sealed, which it overwrites.
func (s *sealer) open(sealed []byte) ([]byte, error) {
	n := len(sealed) - s.size
	if n < blockSize {
		return nil, fmt.Errorf("%w: %d sealed bytes", ErrToken, len(sealed))
	}
	sealed, sum := sealed[:n], sealed[n:]
	if s.overSealed {
		s.sum = mac(s.integrity, s.sum, zeroBlock[:], sealed)
	}
	plain := s.decrypt(sealed)
	if !s.overSealed {
		s.sum = mac(s.integrity, s.sum, plain)
	}
	if subtle.ConstantTimeCompare(s.sum[:s.size], sum) != 1 {
		return nil, fmt.Errorf("%w: it was not sealed with this context's key, or was changed in transit", ErrToken)
	}
	return plain[blockSize:], nil
}

// sign appends the checksum of a message, given in two parts, to dst.
func (s *sealer) sign(dst, message, more []byte) []byte {
	s.sum = mac(s.checksum, s.sum, message, more)
	return append(dst, s.sum[:s.size]...)
}

// signed reports whether sum is the message's checksum.
func (s *sealer) signed(sum, message, more []byte) bool {
	s.sum = mac(s.checksum, s.sum, message, more)
	return subtle.ConstantTimeCompare(s.sum[:s.size], sum) == 1
}

var zeroBlock [blockSize]byte

func mac(h hash.Hash, sum []byte, parts ...[]byte) []byte {
	h.Reset()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(sum[:0])
}

// encrypt encrypts b[start:], at least a block, in place: CBC with ciphertext stealing, the last two blocks always swapped (CS3).
func (s *sealer) encrypt(b []byte, start int) []byte {
	n := len(b) - start
	last := (n-1)%blockSize + 1 // bytes in the last block
	b = append(b, zeroBlock[:blockSize-last]...)
	text := b[start:]
	cipher.NewCBCEncrypter(s.block, zeroBlock[:]).CryptBlocks(text, text)
	if m := len(text); m > blockSize {
		swap(text[m-2*blockSize:m-blockSize], text[m-blockSize:])
	}
	return b[:start+n]
}

// decrypt decrypts at least a block in place.
func (s *sealer) decrypt(b []byte) []byte {
	n := len(b)
	last := (n-1)%blockSize + 1
	text := b
	if n > blockSize {
		if last < blockSize { // the decrypted last block ends with the rest of the block before it
			text = append(make([]byte, 0, n+blockSize), b...)
			at := n - last - blockSize
			var whole [blockSize]byte
			s.block.Decrypt(whole[:], text[at:at+blockSize])
			text = append(text, whole[last:]...)
		}
		m := len(text)
		swap(text[m-2*blockSize:m-blockSize], text[m-blockSize:])
	}
	cipher.NewCBCDecrypter(s.block, zeroBlock[:]).CryptBlocks(text, text)
	return text[:n]
}

func swap(a, b []byte) {
	var t [blockSize]byte
	copy(t[:], a)
	copy(a, b)
	copy(b, t[:])
}
