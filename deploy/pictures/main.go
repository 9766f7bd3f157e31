// Command pictures makes the pictures in docs/images from a real run: brine dev, a second brine next to it, one that verifies, traffic with
// a burst, bad records and a courier that becomes too busy, and a real Prometheus that scrapes all three. From Prometheus' answers it draws
// each dashboard of deploy/grafana, because Grafana itself is in no package registry; from the output of brine skew and brine top it draws
// the terminal. `make pictures` runs it; it needs Debian's packages prometheus and tmux. Nothing imports it.
//
// The invariant: no number in a picture is made up; all are from that run.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"brine/deploy/pictures/dashboard"
)

type options struct {
	out, prometheus string
	brine, dir      string
	from            time.Time
	length          time.Duration
	rate            int
}

const (
	dashboards = "deploy/grafana/dashboards/*.json"
	scrape     = 5 * time.Second
	pointsMost = 60 // per line
)

func main() {
	log.SetFlags(0)
	o := options{}
	flag.StringVar(&o.out, "out", "docs/images", "folder of the pictures")
	flag.StringVar(&o.brine, "brine", "bin/brine", "the program")
	flag.StringVar(&o.dir, "dir", "",
		"keep the data of the run in this folder, so that its Prometheus can be asked again (default: none is kept)")
	flag.DurationVar(&o.length, "for", 10*time.Minute, "how long it runs")
	flag.IntVar(&o.rate, "rate", 400, "scans a second when nothing happens")
	flag.StringVar(&o.prometheus, "prometheus", "", "draw the dashboards of this Prometheus, and run nothing")
	flag.Func("from", "with -prometheus: when the time that is drawn begins (default: -for ago)", func(text string) (err error) {
		o.from, err = time.Parse(time.RFC3339, text)
		return err
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx); err != nil {
		log.Fatal(err)
	}
}

func (o *options) run(ctx context.Context) error {
	if o.prometheus != "" {
		if o.from.IsZero() {
			o.from = time.Now().Add(-o.length)
		}
		return o.draw(ctx)
	}
	return o.stage(ctx)
}

// draw draws every dashboard.
func (o *options) draw(ctx context.Context) error {
	files, err := filepath.Glob(dashboards)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no %s here: run this from the root of the repository", dashboards)
	}
	step := max(scrape, (o.length / pointsMost).Truncate(scrape))
	source := &dashboard.Source{URL: o.prometheus, From: o.from.Truncate(step), Step: step, Scrape: scrape}
	source.To = source.From.Add(o.length.Truncate(step))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		b, err := dashboard.Read(text)
		if err != nil {
			return err
		}
		picture, err := dashboard.Draw(ctx, b, source)
		if err != nil {
			return err
		}
		if err := o.write(b.UID, picture); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) write(name string, picture []byte) error {
	const most = 150 << 10
	if len(picture) > most {
		return fmt.Errorf("%s: %d bytes are too many for a picture that is read from a repository", name, len(picture))
	}
	path := filepath.Join(o.out, name+".svg")
	fmt.Printf("%s: %d KiB\n", path, len(picture)>>10)
	return os.WriteFile(path, picture, 0o644)
}
