package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary a brine too, so that scripts and tests run it as a process of its own: they can kill it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"brine": main})
}

// TestScripts runs command lines; UPDATE_SCRIPTS=1 writes what they print into the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: map[string]func(*testscript.TestScript, bool, []string){"broker": startBroker, "uneven": unevenOrders, "masked": masked}, RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != ""})
}
