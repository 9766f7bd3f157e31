package main

import (
	"cmp"
	flags "flag"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// versionVariable is the environment variable that gives a brine process of a test another version.
const versionVariable = "BRINE_TEST_VERSION"

// TestMain makes this test binary a brine too, so that scripts and tests can run it as a separate process and kill it.
func TestMain(m *testing.M) {
	// Most tests wait for processes, session timeouts and pauses before retries, so they run in parallel.
	if err := flags.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	if filepath.Base(os.Args[0]) != "brine" { // the servers of all tests live here, and collecting their garbage took half of the time
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(3 << 30)
	}
	testscript.Main(m, map[string]func(){"brine": func() {
		version = cmp.Or(os.Getenv(versionVariable), version)
		main()
	}})
}

// notShort skips a test in a short run, which CI does under the race detector, also in the brine processes. Nobody sees what the detector
// finds in a killed process, and tests of memory, damaged files, texts, and further tables and keys take no other paths through the code
// than the remaining ones.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in a short run")
	}
}

// TestScripts runs command lines; UPDATE_SCRIPTS=1 writes their output into the scripts.
func TestScripts(t *testing.T) {
	notShort(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: map[string]func(*testscript.TestScript, bool, []string){"broker": startBroker, "uneven": unevenOrders, "masked": masked}, RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != ""})
}
