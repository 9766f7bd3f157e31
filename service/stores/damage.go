package stores

import (
	"context"
	"errors"
	"fmt"

	"brine/internal/fault"
)

// Damaged returns the error of a damaged data folder.
func Damaged(what string, err error) error {
	return fault.New(fault.Damaged, fmt.Errorf("%s: %w", what, err),
		"brine dev --data DIR --repair saves what it can from a folder of brine dev or an embedded HBase, and reports what is lost; or delete "+
			"the folder and write it again")
}

// DamagedAccounts returns the error of damaged accounts in a folder of embedded:DIR.
func DamagedAccounts(err error) error {
	return fault.New(fault.Damaged, err, "move the contents of its folder away and put accounts.db from a backup there; without a backup, "+
		"begin with an empty folder: nothing restores accounts, tokens and the audit (brine dev --data DIR --repair sets those of a folder "+
		"of brine dev aside)")
}

// Damage passes the first damage that the embedded HBase finds in its folder to the process, which must stop then.
type Damage struct{ found chan error }

// NewDamage returns a Damage without a report.
func NewDamage() Damage { return Damage{make(chan error, 1)} }

// Report reports damage. It is meant for embedded.Options.Damaged. Only the first call counts.
func (d Damage) Report(err error) {
	select {
	case d.found <- err:
	default:
	}
}

// Guard returns a context that is canceled when damage is reported. The caller passes the error of its work to end, which returns the
// damage instead if there is any, and releases the context.
func (d Damage) Guard(ctx context.Context) (guarded context.Context, end func(error) error) {
	guarded, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-d.found:
			d.Report(err) // for later guards
			cancel(Damaged("embedded HBase", err))
		case <-guarded.Done():
		}
	}()
	return guarded, func(err error) error {
		select {
		case damage := <-d.found: // reported just now
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
