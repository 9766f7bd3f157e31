package account

import (
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // to verify hashes that other software made
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// The largest cost of a hash from another system: importing costlier ones would slow down every sign-in.
const (
	maxMemoryKiB  = 64 << 10
	maxPasses     = 10
	maxLanes      = 8
	maxIterations = 2_000_000
	maxCost       = 14 // of bcrypt
	maxSumBytes   = 128
)

// form is the parsed form of a password hash.
type form struct {
	kind       string // argon2id, pbkdf2, bcrypt
	salt, sum  []byte
	mem        uint32 // argon2id
	passes     uint32
	lanes      uint8
	iterations int              // pbkdf2
	digest     func() hash.Hash // pbkdf2
	text       []byte           // bcrypt: the whole hash
	hexed      bool             // bcrypt of the hex SHA-256, as in Django
}

// CheckHash returns the reason why a hash from another system cannot be imported, or nil.
func CheckHash(text string) error {
	if _, err := parseHash(text); err != nil {
		return err
	}
	return nil
}

// noHash returns an error that never quotes the hash.
func noHash(format string, args ...any) error {
	return &RuleError{"hash", fmt.Sprintf(format, args...), "use bcrypt ($2b$…), argon2id or PBKDF2, in PHC's or Django's format"}
}

// parseHash parses bcrypt's form, PHC's ($argon2id$…, $pbkdf2-sha256$…) and Django's (argon2$argon2id$…, pbkdf2_sha256$…, bcrypt$…,
// bcrypt_sha256$…).
func parseHash(text string) (*form, error) {
	if len(text) > 512 {
		return nil, noHash("has more than 512 bytes")
	}
	name, rest, _ := strings.Cut(text, "$")
	switch name {
	case "":
		name, rest, _ = strings.Cut(rest, "$")
	case "argon2":
		name, rest, _ = strings.Cut(rest, "$")
	case "bcrypt", "bcrypt_sha256":
		return parseBcrypt(rest, name == "bcrypt_sha256")
	case "pbkdf2_sha256", "pbkdf2_sha1", "pbkdf2_sha512":
		parts := strings.Split(rest, "$")
		if len(parts) != 3 {
			return nil, noHash("lacks the parts of Django's PBKDF2")
		}
		f := &form{kind: "pbkdf2", salt: []byte(parts[1]), digest: digestOf(strings.TrimPrefix(name, "pbkdf2_"))}
		return f.pbkdf2(parts[0], parts[2], base64.StdEncoding)
	default:
		return nil, noHash("has an unknown format")
	}
	switch {
	case name == "2a" || name == "2b" || name == "2y":
		return parseBcrypt("$"+name+"$"+rest, false)
	case name == "argon2id":
		return parseArgon2(rest)
	case name == "pbkdf2" || strings.HasPrefix(name, "pbkdf2-"):
		return parsePHC(strings.TrimPrefix(strings.TrimPrefix(name, "pbkdf2"), "-"), rest)
	}
	return nil, noHash("has an unknown format")
}

func digestOf(name string) func() hash.Hash {
	return map[string]func() hash.Hash{"": sha1.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}[name]
}

func parseBcrypt(text string, hexed bool) (*form, error) {
	if len(text) != 60 {
		return nil, noHash("does not have bcrypt's 60 characters")
	}
	cost, err := bcrypt.Cost([]byte(text))
	switch {
	case err != nil:
		return nil, noHash("begins like bcrypt but is not")
	case cost > maxCost:
		return nil, noHash("has bcrypt cost %d, more than %d", cost, maxCost)
	}
	return &form{kind: "bcrypt", text: []byte(text), hexed: hexed}, nil
}

// parseArgon2 parses v=19$m=19456,t=2,p=1$SALT$SUM.
func parseArgon2(rest string) (*form, error) {
	parts := strings.Split(rest, "$")
	if len(parts) != 4 || parts[0] != "v=19" {
		return nil, noHash("lacks the parts of argon2id, version 19")
	}
	f := &form{kind: "argon2id"}
	for _, p := range strings.Split(parts[1], ",") {
		name, value, _ := strings.Cut(p, "=")
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return nil, noHash("has argon2id parameters that are not numbers")
		}
		switch name {
		case "m":
			f.mem = uint32(n)
		case "t":
			f.passes = uint32(n)
		case "p":
			f.lanes = uint8(min(n, 255))
		default:
			return nil, noHash("has parameters other than m, t and p")
		}
	}
	if f.mem < 8 || f.mem > maxMemoryKiB || f.passes < 1 || f.passes > maxPasses || f.lanes < 1 || f.lanes > maxLanes {
		return nil, noHash("needs more memory or time than %d MiB, %d passes and %d lanes, or none", maxMemoryKiB>>10, maxPasses, maxLanes)
	}
	return f.decoded(parts[2], parts[3])
}

// parsePHC parses i=29000,l=32$SALT$SUM, or 29000$SALT$SUM with dots for plus signs, as Python's passlib writes it.
func parsePHC(digest, rest string) (*form, error) {
	parts := strings.Split(rest, "$")
	f := &form{kind: "pbkdf2", digest: digestOf(digest)}
	if len(parts) != 3 || f.digest == nil {
		return nil, noHash("lacks the parts of PBKDF2 with SHA-1, SHA-256 or SHA-512")
	}
	salt, err := decode(parts[1])
	if err != nil {
		return nil, err
	}
	f.salt = salt
	iterations, _, _ := strings.Cut(parts[0], ",")
	return f.pbkdf2(strings.TrimPrefix(iterations, "i="), strings.TrimRight(parts[2], "="), base64.RawStdEncoding)
}

func (f *form) pbkdf2(iterations, sum string, enc *base64.Encoding) (*form, error) {
	n, err := strconv.Atoi(iterations)
	if err != nil || n < 1 || n > maxIterations {
		return nil, noHash("does not have between 1 and %d iterations", maxIterations)
	}
	f.iterations = n
	if f.sum, err = enc.DecodeString(strings.ReplaceAll(sum, ".", "+")); err != nil || len(f.sum) < 16 || len(f.sum) > maxSumBytes {
		return nil, noHash("has a sum that is not between 16 and %d bytes in base64", maxSumBytes)
	}
	return f, nil
}

func (f *form) decoded(salt, sum string) (*form, error) {
	var err error
	if f.salt, err = decode(salt); err != nil {
		return nil, err
	}
	if f.sum, err = decode(sum); err != nil || len(f.sum) < 16 || len(f.sum) > maxSumBytes {
		return nil, noHash("has a sum that is not between 16 and %d bytes in base64", maxSumBytes)
	}
	return f, nil
}

func decode(text string) ([]byte, error) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.ReplaceAll(text, ".", "+"), "="))
	if err != nil {
		return nil, noHash("has a part that is not base64")
	}
	return b, nil
}

// ours reports whether the hash has the parameters of new ones.
func (f *form) ours() bool {
	return f.kind == "argon2id" && f.mem == memoryKiB && f.passes == passes && f.lanes == lanes &&
		len(f.sum) == hashBytes && len(f.salt) == saltBytes
}

func (f *form) matches(password []byte) bool {
	switch f.kind {
	case "argon2id":
		return same(f.sum, argon2.IDKey(password, f.salt, f.passes, f.mem, f.lanes, uint32(len(f.sum)))) //nolint:gosec // at most maxSumBytes
	case "pbkdf2":
		sum, err := pbkdf2.Key(f.digest, string(password), f.salt, f.iterations, len(f.sum))
		return err == nil && same(f.sum, sum)
	}
	if f.hexed {
		sum := sha256.Sum256(password)
		password = hex.AppendEncode(nil, sum[:])
	}
	return bcrypt.CompareHashAndPassword(f.text, password) == nil
}
