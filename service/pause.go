package service

import (
	"fmt"
	"io"
	"time"

	"brine/ingest"
	"brine/internal/term"
)

// waitsFor returns why a half is paused or held, or "" if it is not.
func (h *Half) waitsFor(loop *ingest.Status) string {
	e := h.order.entry.Load()
	switch {
	case loop.Paused && e != nil && !e.At.IsZero():
		return fmt.Sprintf("paused by %s at %s", e.By, e.At.UTC().Format(time.DateTime))
	case loop.Paused:
		return "paused"
	}
	return loop.Why
}

// PrintAsked prints the orders of halves, as text or as JSON.
func PrintAsked(out io.Writer, asked []Asked, asJSON bool) error {
	if asJSON {
		for _, a := range asked {
			term.Println(out, "%s", term.JSON(a))
		}
		return nil
	}
	for _, a := range asked {
		text := "goes on"
		if a.Paused {
			text = "paused"
		}
		if a.Limit > 0 {
			text += fmt.Sprintf(", with at most %s records a second", term.Thousands(int64(a.Limit)))
		}
		term.Println(out, "%s: %s", a.Half, text)
	}
	return nil
}
