// Package display formats skew's results for people: how the rows of a table lie over its regions and servers, what is hot, and the map of
// its key ranges over time.
//
// Texts from rows and servers stay within their lines: term escapes them.
package display

import (
	"fmt"
	"io"

	"brine/internal/term"
	"brine/skew"
)

// Hot prints the hot regions and servers, with the causes and the actions that help.
func Hot(out io.Writer, spots []skew.HotSpot) {
	for _, h := range spots {
		fmt.Fprintln(out)
		term.Wrapped(out, "", fmt.Sprintf("%s: %s, %s rows a second, %.0f %% of all, %.1f times the mean, for %.0f s", h.Severity, Place(h),
			term.Thousands(int64(h.Rate)), 100*h.Share, h.Times, h.Seconds))
		term.Wrapped(out, "  cause: ", fmt.Sprintf("%s: %s", h.Cause, h.Why))
		for i, a := range h.Actions {
			term.Wrapped(out, map[bool]string{true: "  do:    ", false: "  or:    "}[i == 0], a.String())
		}
	}
}

// Place returns the name of what is hot: a region or a server.
func Place(h skew.HotSpot) string {
	if h.Region == nil {
		return "server " + h.Server + " is hot"
	}
	return fmt.Sprintf("%s: the region from %s on %s is hot", h.Table, term.Clip(h.Region.Start.Start(), 40), h.Server)
}
