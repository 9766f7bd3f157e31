package main

import (
	"os"
	"regexp"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// regionName and serverName match what differs between runs in the output about regions.
var (
	regionName = regexp.MustCompile(`(?m)^[0-9a-f]{8} `)
	serverName = regexp.MustCompile(`127\.0\.0\.1:[0-9]+|localhost:[0-9]+`)
)

// masked is the command `masked FILE`: compares the last stdout with the file, except for the names of regions and servers.
func masked(ts *testscript.TestScript, _ bool, args []string) {
	got := regionName.ReplaceAllString(ts.ReadFile("stdout"), "REGION   ")
	got = serverName.ReplaceAllString(got, "SERVER")
	got = regexp.MustCompile(`SERVER +`).ReplaceAllString(got, "SERVER ")
	if os.Getenv("UPDATE_MASKED") != "" {
		ts.Logf("%s:\n%s", args[0], got)
		return
	}
	if diff := cmp.Diff(ts.ReadFile(args[0]), got); diff != "" {
		ts.Fatalf("-%s +got:\n%s", args[0], diff)
	}
}
