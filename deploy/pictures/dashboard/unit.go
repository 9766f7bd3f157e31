package dashboard

import (
	"fmt"
	"math"
	"strings"
)

// scale is a way to abbreviate large and small numbers: each suffix is base times the one before.
type scale struct {
	base     float64
	suffixes []string
}

var units = map[string]scale{
	"short": {1000, []string{"", " K", " M", " G"}},
	"bytes": {1024, []string{" B", " KiB", " MiB", " GiB"}},
	"Bps":   {1000, []string{" B/s", " kB/s", " MB/s", " GB/s"}},
}

// format returns a number in one of Grafana's units.
func format(v float64, unit string) (string, error) {
	switch {
	case math.IsNaN(v):
		return "–", nil
	case unit == "percentunit" && v > .99 && v < 1: // what is missing to 100 % matters
		return fmt.Sprintf("%.2f %%", math.Floor(1e4*v)/100), nil
	case unit == "percentunit":
		return digits(100*v) + " %", nil
	case unit == "s":
		return duration(v), nil
	}
	s, ok := units[unit]
	if !ok {
		return "", fmt.Errorf("cannot write the unit %q", unit)
	}
	i := 0
	for math.Abs(v) >= s.base && i < len(s.suffixes)-1 {
		v, i = v/s.base, i+1
	}
	return digits(v) + s.suffixes[i], nil
}

func duration(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0 s"
	case a < 1e-3:
		return digits(v*1e6) + " µs"
	case a < 1:
		return digits(v*1e3) + " ms"
	case a < 120:
		return digits(v) + " s"
	case a < 2*3600:
		return digits(v/60) + " min"
	}
	return digits(v/3600) + " h"
}

// digits returns three significant digits.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return trimmed(fmt.Sprintf("%.1f", v))
	case a >= 0.01:
		return trimmed(fmt.Sprintf("%.2f", v))
	}
	return fmt.Sprintf("%.1g", v)
}

func trimmed(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// ticks returns round numbers from 0 to a little over most, some three to five, in a unit.
func ticks(most float64, unit string) []float64 {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		most = 1
	}
	base := 1.0
	for unit == "bytes" && most/base >= 1024 {
		base *= 1024
	}
	if unit == "s" && most >= 120 {
		base = 60
	}
	if unit == "s" && most >= 2*3600 {
		base = 3600
	}
	rough := most / base / 4
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		if factor*step >= rough {
			step *= factor
			break
		}
	}
	var out []float64
	for i := 0; ; i++ {
		v := float64(i) * step * base
		out = append(out, v)
		if v >= most {
			return out
		}
	}
}
