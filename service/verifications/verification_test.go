package verifications

import (
	"testing"

	"brine/service/former"
)

// TestNotesThatMayNotBeReadAnyMore checks that notes that cannot be read in a later round fail that round, rather than leave everything to
// be judged as configured now; and that who could never read them goes on without.
func TestNotesThatMayNotBeReadAnyMore(t *testing.T) {
	for _, asked := range []Asked{{}, {AsConfigured: true}} {
		v := &Verification{asked: asked}
		for range 2 {
			if err := v.take(nil); err != nil {
				t.Errorf("never read: %v", err)
			}
		}
		notes := &former.Notes{}
		if err := v.take(notes); err != nil {
			t.Fatal(err)
		}
		if err := v.take(nil); err == nil || !asked.AsConfigured && v.notes != notes {
			t.Errorf("not read any more: %v, and the notes are %v", err, v.notes)
		}
		if err := v.take(notes); err != nil {
			t.Errorf("read again: %v", err)
		}
	}
}
