package main

import (
	flags "flag"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary a brine too, so that scripts and tests run it as a process of its own: they can kill it.
func TestMain(m *testing.M) {
	// Processes, sessions that time out and pauses before a retry are what most tests wait for: they do so beside each other.
	if err := flags.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	if filepath.Base(os.Args[0]) != "brine" { // the servers of all tests live here, and collecting what they leave took two fifths of the time
		debug.SetGCPercent(400)
	}
	testscript.Main(m, map[string]func(){"brine": main})
}

// notShort leaves a test out of a short run, as CI makes it under the race detector, in the processes of brine too. What the detector finds
// in one that is killed is seen by nobody, and neither memory, damaged files, texts nor further tables and keys take other ways through the
// code than what is left.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in a short run")
	}
}

// TestScripts runs command lines; UPDATE_SCRIPTS=1 writes what they print into the scripts.
func TestScripts(t *testing.T) {
	notShort(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: map[string]func(*testscript.TestScript, bool, []string){"broker": startBroker, "uneven": unevenOrders, "masked": masked}, RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != ""})
}
