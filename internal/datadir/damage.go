package datadir

import (
	"errors"
	"fmt"
)

// ErrDamaged matches every Damage with errors.Is.
var ErrDamaged = errors.New("damaged data")

// Damage reports a file of a data folder with the wrong content.
type Damage struct {
	File string
	What string // what is wrong with it
}

func (d *Damage) Error() string { return fmt.Sprintf("%s is damaged: %s", d.File, d.What) }

// Is reports whether target is ErrDamaged.
func (d *Damage) Is(target error) bool { return target == ErrDamaged }

// Damaged returns the Damage of a file, with a text formatted by fmt.Sprintf.
func Damaged(file, format string, args ...any) error {
	return &Damage{File: file, What: fmt.Sprintf(format, args...)}
}
