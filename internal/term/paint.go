package term

import xterm "golang.org/x/term"

// Paint colours texts for Draw if the output is a terminal that supports colours.
type Paint bool

// NewPaint returns the Paint of an output. There are no colours if NO_COLOR (https://no-color.org) is set or the terminal is dumb.
func NewPaint(out any, getenv func(string) (string, bool)) Paint {
	if none, ok := getenv("NO_COLOR"); ok && none != "" {
		return false
	}
	kind, _ := getenv("TERM")
	return Paint(IsTerminal(out) && kind != "dumb")
}

// IsTerminal reports whether a stream is a terminal, or writes to one.
func IsTerminal(stream any) bool {
	f, ok := File(stream)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

// Red returns the text in red.
func (p Paint) Red(text string) string { return p.wrap("31", text) }

// Blue returns the text in blue.
func (p Paint) Blue(text string) string { return p.wrap("34", text) }

func (p Paint) wrap(colour, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
