package config

import (
	"fmt"
	"time"

	"brine/internal/when"
)

// UnmarshalText reads a size as settings write it, so that flags can be written so too.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := parseBytes(string(text))
	*b = n
	if err != nil {
		return fmt.Errorf("%q %w; write a size such as 300B, 64KiB or 32GiB", text, err)
	}
	return nil
}

// Duration is a time.Duration that reads as settings write it, for flags.
type Duration time.Duration

// UnmarshalText reads 92d, 1d12h, 10s, 5ms.
func (d *Duration) UnmarshalText(text []byte) error {
	n, err := when.Duration(string(text))
	*d = Duration(n)
	if err != nil {
		return fmt.Errorf("%q %w; write a time such as 92d, 1d12h, 10s or 5ms", text, err)
	}
	return nil
}
