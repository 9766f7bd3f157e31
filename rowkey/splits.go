package rowkey

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
)

// Splits returns the n−1 split points that cut the key space into n regions of equal expected load, on salt, hash and hex boundaries:
// between a salt's buckets and, if n exceeds their number, inside the hash that follows. It never splits between bytes that are not hex
// digits. It returns an error (*UsageError) if the key's first part does not spread (no hash or salt) and n > 1.
func (k *Key) Splits(n int) ([][]byte, error) {
	if n < 1 {
		return nil, &UsageError{Msg: fmt.Sprintf("a table cannot have %d regions", n), Fix: "write 1 or more"}
	}
	if n == 1 {
		return nil, nil
	}
	prefix, spreads, err := k.spreading(n)
	if err != nil {
		return nil, err
	}
	space := big.NewInt(1)
	for _, s := range spreads {
		space.Mul(space, s.size())
	}
	points := make([][]byte, 0, n-1)
	for i := 1; i < n; i++ {
		at := new(big.Int).Mul(space, big.NewInt(int64(i)))
		at.Div(at, big.NewInt(int64(n)))
		points = append(points, append(bytes.Clone(prefix), splitPoint(spreads, at)...))
	}
	return points, nil
}

// spreading returns the constants that the key begins with, and as many of the parts after them as are needed for n different values.
func (k *Key) spreading(n int) (prefix []byte, spreads []spread, err error) {
	values := big.NewInt(1)
	enough := big.NewInt(int64(n))
	for _, s := range k.slots {
		if lit, ok := s.part.(literal); ok && len(spreads) == 0 {
			prefix = append(prefix, lit...)
			continue
		}
		sp, ok := spreadOf(s.part)
		if !ok || values.Cmp(enough) >= 0 {
			break
		}
		spreads = append(spreads, sp)
		values.Mul(values, sp.size())
	}
	switch {
	case len(spreads) == 0:
		by := k.spreadBy()
		fix := fmt.Sprintf("begin it with md5(%s, 4), or omit regions and let brine tables plan --sample … --regions %d find split points",
			by.name, n)
		if lead := k.lead(); lead.isTime() { // split points of a time are useless for future rows
			fix = k.fixLead(n)
		}
		return nil, nil, &UsageError{by.name,
			fmt.Sprintf("the key %s does not begin with a hash or a salt, so it is not known how its rows spread over %d regions", k, n), fix}
	case values.Cmp(enough) < 0:
		return nil, nil, &UsageError{"",
			fmt.Sprintf("%s gives only %s distinct prefixes, not enough for %d regions", k.spreadExpr(len(spreads)), values, n),
			k.moreSpread(n)}
	}
	return prefix, spreads, nil
}

// moreSpread returns the advice on how to get enough beginnings for n regions.
func (k *Key) moreSpread(n int) string {
	if s, ok := k.lead().part.(*salt); ok && n <= maxBuckets {
		more := *s
		more.buckets = n
		return fmt.Sprintf("write %s, or use %d regions", more.expr(), s.buckets)
	}
	return "use a longer hash or more buckets, or fewer regions"
}

func (k *Key) spreadExpr(n int) string {
	var b bytes.Buffer
	for _, s := range k.slots {
		if _, ok := spreadOf(s.part); !ok {
			continue
		}
		if n--; n < 0 {
			break
		}
		if b.Len() > 0 {
			b.WriteString(" + ")
		}
		b.WriteString(s.expr())
	}
	return b.String()
}

// spread is a part whose values are all equally likely: digits of a base, or buckets.
type spread struct {
	base   int // 16 for hex, 10 for decimal, 256 for bytes; the number of buckets for a salt
	digits int
	write  func(dst []byte, digit int) []byte
	whole  bool // trailing zeros are written
}

func (s spread) size() *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(s.base)), big.NewInt(int64(s.digits)), nil)
}

const hexDigits = "0123456789abcdef"

// spreadOf returns the spread of a part, and whether it spreads rows.
func spreadOf(p part) (spread, bool) {
	appendDigit := func(dst []byte, d int) []byte { return append(dst, hexDigits[d]) }
	switch p := p.(type) {
	case *hash:
		if p.raw {
			return spread{base: 256, digits: p.n, write: func(dst []byte, d int) []byte { return append(dst, byte(d)) }, whole: true}, true
		}
		return spread{base: 16, digits: p.n, write: appendDigit, whole: true}, true
	case *salt:
		return spread{base: p.buckets, digits: 1, write: p.appendBucket, whole: true}, true
	case *reversedInt: // the last digits of counted numbers are evenly distributed; a shorter number sorts first, so 5 and not 5000
		digits := p.digits
		if digits == 0 {
			digits = len(strconv.Itoa(1 << 30))
		}
		return spread{base: 10, digits: digits, write: appendDigit}, true
	}
	return spread{}, false
}

// splitPoint writes at as a number whose digits are those of spreads, without trailing parts that are all zero.
func splitPoint(spreads []spread, at *big.Int) []byte {
	parts := make([][]byte, len(spreads))
	rest := new(big.Int).Set(at)
	digit := new(big.Int)
	used := 0
	for i := len(spreads) - 1; i >= 0; i-- {
		s := spreads[i]
		digits := make([]int, s.digits)
		nonzero := 0
		for j := s.digits - 1; j >= 0; j-- {
			rest.DivMod(rest, big.NewInt(int64(s.base)), digit)
			digits[j] = int(digit.Int64())
			if digits[j] != 0 && nonzero == 0 {
				nonzero = j + 1
			}
		}
		if nonzero > 0 && used == 0 {
			used = i + 1
		}
		if s.whole {
			nonzero = s.digits
		}
		for _, d := range digits[:nonzero] {
			parts[i] = s.write(parts[i], d)
		}
	}
	return bytes.Join(parts[:used], nil)
}
