package term

import (
	"fmt"
	"strings"
	"time"
)

// Thousands formats a number with a comma before every three digits.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number of things, with a plural if needed: "1 row", "2,000 rows".
func Count(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return Thousands(int64(n)) + " " + one
}

const kib = 1 << 10

// Size formats a number of bytes with three digits: "1.59 MiB". config.Bytes is for sizes in settings, which are read again.
func Size(bytes float64) string {
	if bytes < kib {
		return fmt.Sprintf("%.0f bytes", bytes)
	}
	n, unit := bytes/kib, 0
	for ; n >= kib && unit < len("KMGTP")-1; unit++ {
		n /= kib
	}
	text := fmt.Sprintf("%.3g", n)
	if n >= 999.5 { // %g would use an exponent
		text = Thousands(int64(n + 0.5))
	}
	return text + " " + "KMGTP"[unit:unit+1] + "iB"
}

// Estimate formats an inexact number of bytes, rounded up to whole KiB or MiB: "~12 KiB", or "-" for 0.
func Estimate(bytes int64) string {
	const mib = kib * kib
	switch {
	case bytes == 0:
		return "-"
	case bytes < mib:
		return fmt.Sprintf("~%d KiB", (bytes+kib-1)/kib)
	}
	return fmt.Sprintf("~%s MiB", Thousands((bytes+mib-1)/mib))
}

// Seconds rounds a number of seconds for people: to tenths below ten seconds, otherwise to whole seconds.
func Seconds(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// Bar draws a value relative to the largest one.
func Bar(value, largest float64) string {
	const columns = 30
	if largest <= 0 {
		return ""
	}
	return strings.Repeat("█", int(value/largest*columns+0.5))
}
