package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size in bytes, written as 64MiB.
type Bytes int64

// sizeUnits are tried in this order, so that a longer unit is met before its own ending.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseBytes reads 64MiB, 1.5GiB, 4096B or a plain number of bytes.
func parseBytes(s string) (Bytes, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n < 0 || n > math.MaxInt64/unit {
			return 0, errors.New("is out of range")
		}
		return Bytes(n * unit), nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) || unit == 1 {
		return 0, errors.New("is not a size")
	}
	if f *= float64(unit); f < 0 || f >= math.MaxInt64 {
		return 0, errors.New("is out of range")
	}
	return Bytes(f), nil
}

// String is the size in the largest unit that divides it.
func (b Bytes) String() string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; b != 0 && int64(b)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(b)/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

const day = 24 * time.Hour

// DurationText writes a duration as a user would: 92d, 1h30m, 100ms.
func DurationText(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
