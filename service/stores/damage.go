package stores

import (
	"context"
	"errors"
	"fmt"

	"brine/internal/fault"
)

// Damaged is the error of a data folder that is not what was written.
func Damaged(what string, err error) error {
	return fault.New(fault.Damaged, fmt.Errorf("%s: %w", what, err),
		"brine dev --data DIR --repair saves what it can of a folder of brine dev or of an embedded HBase, and says what is lost; or delete the "+
			"folder and write it again")
}

// DamagedAccounts is the error of an accounts.connect of embedded:DIR that is not what was written.
func DamagedAccounts(err error) error {
	return fault.New(fault.Damaged, err, "move the contents of its folder away and put accounts.db of a backup there; without a backup, "+
		"begin with an empty folder: nothing restores accounts, tokens and the audit (brine dev --data DIR --repair sets those of a folder "+
		"of brine dev aside)")
}

// Damage carries the first damage that the embedded HBase finds in its folder while it reads it, to the process that has to end then.
type Damage struct{ found chan error }

// NewDamage returns a Damage of which nothing is reported yet.
func NewDamage() Damage { return Damage{make(chan error, 1)} }

// Report takes a damage; it is what embedded.Options.Damaged calls. Only the first one counts.
func (d Damage) Report(err error) {
	select {
	case d.found <- err:
	default:
	}
}

// Guard returns a context that ends when damage is reported. What was done within it ends with end, which takes its error, returns the
// damage instead of it if there is one, and releases the context.
func (d Damage) Guard(ctx context.Context) (guarded context.Context, end func(error) error) {
	guarded, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-d.found:
			d.Report(err) // for those who guard something after this
			cancel(Damaged("embedded HBase", err))
		case <-guarded.Done():
		}
	}()
	return guarded, func(err error) error {
		select {
		case damage := <-d.found: // just now
			d.Report(damage)
			cancel(Damaged("embedded HBase", damage))
		default:
			cancel(nil)
		}
		if damage, found := errors.AsType[*fault.Error](context.Cause(guarded)); found {
			return damage
		}
		return err
	}
}
