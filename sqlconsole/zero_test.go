package sqlconsole

import (
	"math"
	"testing"

	"brine/event"
)

// TestZerosAreOneGroup checks that −0 is in the group of 0, to which it is equal.
func TestZerosAreOneGroup(t *testing.T) {
	if keyOf(event.FloatValue(0)) != keyOf(event.FloatValue(math.Copysign(0, -1))) {
		t.Error("−0 and 0 are two groups")
	}
	if keyOf(event.FloatValue(0)) == keyOf(event.Value{}) || keyOf(event.FloatValue(0)) == keyOf(event.FloatValue(1)) {
		t.Error("0 is in the group of others")
	}
}
