package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"brine/deploy/pictures/terminal"
)

// view is a command whose terminal is pictured.
type view struct {
	name, command, addresses string
	lines                    int
	after                    time.Duration
	keys                     []string // keys to press before the picture is taken
}

// terminals draws brine's own views of skew.
func (o *options) terminals(ctx context.Context, dev, beside string) error {
	const looks = 12 * time.Second // rates need a few, three seconds apart
	for _, v := range []view{
		{"brine-skew", "brine skew couriers", " --http " + beside, 40, 5 * time.Second, nil},
		// a selected row does not show that it is hot
		{"brine-top", "brine top --list r", " --http " + dev + " --http " + beside, 28, looks, []string{"Down"}},
	} {
		screen, err := o.screen(ctx, v)
		if err != nil {
			return err
		}
		if err := o.write(v.name, terminal.Draw("$ "+v.command, screen)); err != nil {
			return err
		}
	}
	return nil
}

// screen runs a view in a terminal of tmux, with its own server, and returns the screen with its colors.
func (o *options) screen(ctx context.Context, v view) (screen string, err error) {
	const columns = "118"
	server := fmt.Sprintf("brine-pictures-%d-%s", os.Getpid(), v.name)
	tmux := func(args ...string) (string, error) {
		return said(ctx, nil, "tmux", append([]string{"-L", server, "-f", "/dev/null"}, args...)...)
	}
	command := fmt.Sprintf("TZ=UTC %s%s%s; sleep 60", o.brine, v.command[len("brine"):], v.addresses)
	if _, err := tmux("new-session", "-d", "-x", columns, "-y", strconv.Itoa(v.lines), command); err != nil {
		return "", fmt.Errorf("%w; apt-get install tmux has it", err)
	}
	defer func() {
		if _, e := tmux("kill-server"); err == nil {
			err = e
		}
	}()
	if err := wait(ctx, v.after); err != nil {
		return "", err
	}
	if len(v.keys) > 0 {
		if _, err := tmux(append([]string{"send-keys"}, v.keys...)...); err != nil {
			return "", err
		}
		if err := wait(ctx, time.Second); err != nil {
			return "", err
		}
	}
	return tmux("capture-pane", "-e", "-p")
}
