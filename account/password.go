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

// What passwords are hashed with: OWASP's least for argon2id, some 33 ms of a core.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// Passwords are held to a length, and to being none that people and programs try first. There are no rules of composition.
const (
	minPassword = 15
	maxPassword = 1024 // bytes
)

// ErrBusy says that as many passwords are being hashed as the machine does at a time, and as many wait.
var ErrBusy = errors.New("too many passwords are being checked; try again in a few seconds")

// CheckPassword returns why a password may not be an account's.
func CheckPassword(name, password string) error {
	p := norm.NFKC.String(password)
	switch {
	case !utf8.ValidString(password):
		return &RuleError{"password", "is no text", "write it in UTF-8"}
	case utf8.RuneCountInString(p) < minPassword:
		return &RuleError{"password", fmt.Sprintf("has less than %d characters", minPassword), "four random words are good"}
	case len(p) > maxPassword:
		return &RuleError{"password", fmt.Sprintf("has more than %d bytes", maxPassword), "give a shorter one"}
	case common(name, strings.ToLower(p)):
		return &RuleError{"password", "is one of those that are tried first", "four random words are good"}
	}
	return nil
}

// triedFirst are what long passwords are commonly made of.
var triedFirst = []string{"password", "passw0rd", "p@ssw0rd", "p@ssword", "correcthorsebatterystaple", "letmein", "welcome", "changeme",
	"iloveyou", "qwerty", "qwertz", "azerty", "administrator", "admin", "football", "baseball", "dragon", "monkey", "sunshine", "princess",
	"superman", "trustno1", "master", "secret", "login", "brine", "default", "guest", "hello", "abc123", "woaini", "q1w2e3r4t5y6",
	"1qaz2wsx3edc4rfv", "zaq12wsx"}

// rows of keys, and of what is counted, forwards; backwards is tried too.
const rowsOfKeys = "qwertyuiopasdfghjklzxcvbnm qwertzuiopasdfghjklyxcvbnm azertyuiopqsdfghjklmwxcvbn qwertyuiop[]asdfghjkl;'zxcvbnm,./ " +
	"12345678901234567890 01234567890123456789 abcdefghijklmnopqrstuvwxyz 1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/"

// common reports whether little is left of a password when all that is tried first is taken out of it.
func common(name, p string) bool {
	for _, word := range append([]string{name}, triedFirst...) {
		if len(word) > 2 {
			p = strings.ReplaceAll(p, word, "")
		}
	}
	left, last := 0, ""
	for _, c := range p { // what goes on from the two characters before it says nothing more
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

// period is after how many bytes a text repeats itself; its length if it does not.
func period(p string) int {
	for n := 1; n < len(p); n++ {
		if strings.HasPrefix(p, p[n:]) {
			return n
		}
	}
	return len(p)
}

// hasher makes one hash a core at a time. More wait, but not many: further ones are refused, so that a storm of sign-ins takes a
// bounded part of memory and time.
type hasher struct {
	cores   chan struct{}
	waiting chan struct{}
}

func newHasher() *hasher {
	n := runtime.GOMAXPROCS(0)
	return &hasher{cores: make(chan struct{}, n), waiting: make(chan struct{}, 8*n)}
}

// enter takes one of the places of those whose password is checked or made, which whoever does takes before asking the database anything.
func (h *hasher) enter() (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
		return func() { <-h.waiting }, nil
	default:
		return nil, ErrBusy
	}
}

// turn has do run with a core of its own.
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

// hash makes the hash of a password, in PHC's form.
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

// verify reports whether a password has a hash, and whether the hash is made as new ones are.
func (h *hasher) verify(ctx context.Context, hash, password string) (ok, ours bool, err error) {
	f, err := parseHash(hash)
	if err != nil {
		return false, false, err
	}
	long := len(password) > maxPassword
	if long {
		password = password[:maxPassword] // it costs what any costs, and is none
	}
	err = h.turn(ctx, func() {
		if ok = f.matches([]byte(password)); !ok { // ours are of the normal form; those of others may be of either
			if n := norm.NFKC.String(password); n != password {
				ok = f.matches([]byte(n))
			}
		}
	})
	return ok && !long, f.ours(), err
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
