package stores

import (
	"testing"
	"time"

	"brine/hbase"
)

// TestWhatTheMasterWorksOnIsNamed checks the text for a change that the master is working on.
func TestWhatTheMasterWorksOnIsNamed(t *testing.T) {
	got := working(hbase.ProcedureInfo{Op: "merge regions of", Table: "scans", ID: 17, For: 5100 * time.Millisecond})
	if want := "merge regions of scans: the master has been working on it for 5s, as procedure 17"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
