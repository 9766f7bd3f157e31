package stores

import (
	"context"
	"errors"
	"testing"

	"brine/internal/datadir"
	"brine/internal/fault"
)

// TestDamageEndsWhatIsGuarded checks that damage cancels guarded contexts and replaces the error of their work, now and later, and that an
// error is kept if there is no damage.
func TestDamageEndsWhatIsGuarded(t *testing.T) {
	d := NewDamage()
	mine := errors.New("mine")
	if _, end := d.Guard(t.Context()); !errors.Is(end(mine), mine) || end(nil) != nil {
		t.Error("an error has become another one")
	}
	found := datadir.Damaged("000007.sst", "its checksum is wrong")
	d.Report(found)
	d.Report(errors.New("another"))
	for range 2 {
		ctx, end := d.Guard(t.Context())
		<-ctx.Done()
		err := end(context.Canceled)
		is, ok := errors.AsType[*fault.Error](err)
		if !ok || is.Kind != fault.Damaged || !errors.Is(err, found) || is.Fix == "" {
			t.Errorf("it ends with %v", err)
		}
	}
}
