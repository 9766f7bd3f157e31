package top

import (
	"context"
	"time"

	"github.com/gdamore/tcell/v2"

	"brine/internal/term"
)

// Watch draws the view until a key quits it or ctx ends. It reads snapshots at intervals, concurrently with the keys and one at a time.
func (v *View) Watch(ctx context.Context, screen tcell.Screen, every time.Duration, read func(context.Context, time.Time) Snapshot) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snaps := make(chan Snapshot)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		readEvery(ctx, every, read, snaps)
	}()
	events, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(events, quit)
	defer func() {
		close(quit)
		cancel()
		<-reading
	}()
	for {
		v.paint(screen)
		select {
		case <-ctx.Done():
			return nil
		case snap := <-snaps:
			if !v.frozen {
				v.snap = snap
			}
		case ev := <-events:
			switch ev := ev.(type) {
			case *tcell.EventResize:
				screen.Sync()
			case *tcell.EventKey:
				if v.press(keyName(ev)) {
					return nil
				}
			}
		}
	}
}

func readEvery(ctx context.Context, every time.Duration, read func(context.Context, time.Time) Snapshot, to chan<- Snapshot) {
	for ctx.Err() == nil {
		select {
		case to <- read(ctx, time.Now()):
		case <-ctx.Done():
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
}

var keyNames = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right", tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn",
	tcell.KeyEnter: "enter", tcell.KeyEscape: "esc", tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace",
	tcell.KeyCtrlC: "ctrl+c",
}

func keyName(ev *tcell.EventKey) string {
	if ev.Key() != tcell.KeyRune {
		return keyNames[ev.Key()]
	}
	if ev.Rune() == ' ' {
		return "space"
	}
	return string(ev.Rune())
}

var looks = map[style]tcell.Style{
	usual: tcell.StyleDefault, heading: tcell.StyleDefault.Bold(true).Underline(true),
	chosen: tcell.StyleDefault.Reverse(true), warm: tcell.StyleDefault.Foreground(tcell.ColorRed),
}

func (v *View) paint(screen tcell.Screen) {
	columns, height := screen.Size()
	screen.Clear()
	for y, l := range v.draw(columns, height) {
		x := 0
		for _, r := range l.text {
			screen.SetContent(x, y, r, nil, looks[l.style])
			x += term.Width(string(r))
		}
	}
	screen.Show()
}
