package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// The parameters of password hashes: OWASP's minimum for argon2id, which takes some 33 ms on one core.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// Passwords must have a minimum length, and must not be among those that people and programs try first. There are no rules of composition.
const (
	minPassword = 15
	maxPassword = 1024 // bytes
)

// ErrBusy is returned while the machine is hashing as many passwords as it can at a time, and as many more wait.
var ErrBusy = errors.New("too many passwords are being checked; try again in a few seconds")

// CheckPassword returns the reason why an account may not have a password, or nil.
func CheckPassword(name, password string) error {
	p := norm.NFKC.String(password)
	switch {
	case !utf8.ValidString(password):
		return &RuleError{"password", "is not a text", "write it in UTF-8"}
	case utf8.RuneCountInString(p) < minPassword:
		return &RuleError{"password", fmt.Sprintf("has less than %d characters", minPassword), "four random words are a good choice"}
	case len(p) > maxPassword:
		return &RuleError{"password", fmt.Sprintf("has more than %d bytes", maxPassword), "give a shorter one"}
	case common(name, strings.ToLower(p)):
		return &RuleError{"password", "is one of the first that attackers try", "four random words are a good choice"}
	}
	return nil
}

// triedFirst are the common parts of long passwords.
var triedFirst = []string{"password", "passw0rd", "p@ssw0rd", "p@ssword", "correcthorsebatterystaple", "letmein", "welcome", "changeme",
	"iloveyou", "qwerty", "qwertz", "azerty", "administrator", "admin", "football", "baseball", "dragon", "monkey", "sunshine", "princess",
	"superman", "trustno1", "master", "secret", "login", "brine", "default", "guest", "hello", "abc123", "woaini", "q1w2e3r4t5y6",
	"1qaz2wsx3edc4rfv", "zaq12wsx"}

// Rows of keys and of letters and digits, forwards; they are also tried backwards.
const rowsOfKeys = "qwertyuiopasdfghjklzxcvbnm qwertzuiopasdfghjklyxcvbnm azertyuiopqsdfghjklmwxcvbn qwertyuiop[]asdfghjkl;'zxcvbnm,./ " +
	"12345678901234567890 01234567890123456789 abcdefghijklmnopqrstuvwxyz 1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/"

// common reports whether little is left of a password without everything that is tried first.
func common(name, p string) bool {
	for _, word := range append([]string{name}, triedFirst...) {
		if len(word) > 2 {
			p = strings.ReplaceAll(p, word, "")
		}
	}
	left, last := 0, ""
	for _, c := range p { // a character that continues the two before it adds nothing
		next := last + string(c)
		if r := []rune(next); len(r) > 3 {
			next = string(r[len(r)-3:])
		}
		r := []rune(next)
		known := len(r) == 3 && (strings.Contains(rowsOfKeys, next) || strings.Contains(rowsOfKeys, string([]rune{r[2], r[1], r[0]})) ||
			r[0] == r[2])
		if last = next; !known {
			left++
		}
	}
	return left < 8 || period(p) <= 4
}

// period returns the number of bytes after which a text repeats itself, or its length if it does not.
func period(p string) int {
	for n := 1; n < len(p); n++ {
		if strings.HasPrefix(p, p[n:]) {
			return n
		}
	}
	return len(p)
}

// hasher computes one hash per core at a time. A few more callers wait; beyond that they are refused, so that a storm of sign-ins takes a
// bounded part of memory and time.
type hasher struct {
	cores   chan struct{}
	waiting chan struct{}
}

func newHasher() *hasher {
	n := runtime.GOMAXPROCS(0)
	return &hasher{cores: make(chan struct{}, n), waiting: make(chan struct{}, 8*n)}
}

// enter takes one of the places for passwords that are being checked or hashed. Callers enter before they query the database.
func (h *hasher) enter() (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
		return func() { <-h.waiting }, nil
	default:
		return nil, ErrBusy
	}
}

// turn runs do with a core to itself.
func (h *hasher) turn(ctx context.Context, do func()) error {
	select {
	case h.cores <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w (%w)", ErrBusy, ctx.Err())
	}
	defer func() { <-h.cores }()
	do()
	return nil
}

// hash returns the hash of a password, in PHC's form.
func (h *hasher) hash(ctx context.Context, password string) (out string, err error) {
	err = h.turn(ctx, func() {
		salt := make([]byte, saltBytes)
		_, _ = rand.Read(salt) // never fails
		sum := argon2.IDKey([]byte(norm.NFKC.String(password)), salt, passes, memoryKiB, lanes, hashBytes)
		enc := base64.RawStdEncoding
		out = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
			enc.EncodeToString(salt), enc.EncodeToString(sum))
	})
	return out, err
}

// verify reports whether a password matches a hash, and whether the hash has the parameters of new ones.
func (h *hasher) verify(ctx context.Context, hash, password string) (ok, ours bool, err error) {
	f, err := parseHash(hash)
	if err != nil {
		return false, false, err
	}
	long := len(password) > maxPassword
	if long {
		password = password[:maxPassword] // too long to be right, but it must cost as much as any other
	}
	err = h.turn(ctx, func() {
		if ok = f.matches([]byte(password)); !ok { // our hashes are of the normalized form; those of others may be of either
			if n := norm.NFKC.String(password); n != password {
				ok = f.matches([]byte(n))
			}
		}
	})
	return ok && !long, f.ours(), err
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
