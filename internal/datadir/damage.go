package datadir

import (
	"errors"
	"fmt"
)

// ErrDamaged is what every Damage is.
var ErrDamaged = errors.New("damaged data")

// Damage is a file of a data folder that does not hold what it must.
type Damage struct {
	File string
	What string // is wrong with it
}

func (d *Damage) Error() string { return fmt.Sprintf("%s is damaged: %s", d.File, d.What) }

// Is reports whether target is ErrDamaged.
func (d *Damage) Is(target error) bool { return target == ErrDamaged }

// Damaged returns the damage of a file, in words as fmt.Sprintf makes them.
func Damaged(file, format string, args ...any) error {
	return &Damage{File: file, What: fmt.Sprintf(format, args...)}
}
