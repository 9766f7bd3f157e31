package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/bench/measure"
	"brine/query"
)

const (
	askers = 32 // concurrent, for each client
	turns  = 3  // for each client
	page   = 100
	late   = 30 * time.Second
)

// saturation reads timelines with enough clients to keep the servers busy, by HTTP and by HBase's Java client, in turn.
func (s *stack) saturation(ctx context.Context) error {
	if !measure.HasJava() {
		fmt.Fprintln(os.Stderr, "  HBase's jars are not here (make real-up brings them): nothing shows what its Java client reads")
		return nil
	}
	classes, prefixes := s.dir+"/java", s.dir+"/prefixes"
	if err := measure.BuildJava(ctx, classes); err != nil {
		return err
	}
	var text strings.Builder
	for _, w := range s.waybills {
		bounds, err := query.ParseKeyWhere(s.table.RowKeys(), []string{"waybill==" + w})
		if err != nil {
			return err
		}
		scans, err := s.table.RowKeys().Scans(bounds)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s\n", scans[0].Start) // what all its keys begin with
	}
	if err := os.WriteFile(prefixes, []byte(text.String()), 0o600); err != nil {
		return err
	}
	for range turns {
		cmd := measure.JavaTimelines(ctx, classes, s.connect, s.table.Name, prefixes, page, askers, s.For)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("the Java client: %w", err)
		}
		rate, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return fmt.Errorf("the Java client printed %q: %w", out, err)
		}
		s.detail.JavaRates = append(s.detail.JavaRates, rate)
		if rate, err = s.httpRate(ctx); err != nil {
			return err
		}
		s.detail.HTTPRates = append(s.detail.HTTPRates, rate)
	}
	return nil
}

// httpRate returns how many timelines per second are read by HTTP, not counting the first fifth of the time, as with the Java client.
func (s *stack) httpRate(ctx context.Context) (float64, error) {
	began := time.Now()
	from, to := began.Add(s.For/5), began.Add(s.For)
	var n atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range askers {
		g.Go(func() error {
			a, err := newAsker(ctx, s.api.Base)
			if err != nil {
				return err
			}
			defer a.conn.Close()
			for time.Now().Before(to) {
				if err := a.timeline(one(s.waybills)); err != nil {
					return err
				}
				if now := time.Now(); now.After(from) && now.Before(to) {
					n.Add(1)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if n.Load() == 0 {
		return 0, errors.New("nothing was read over HTTP")
	}
	return float64(n.Load()) / to.Sub(from).Seconds(), nil
}

// asker is a client that costs little next to the servers, with which it shares the processors: it reads answers, and looks whether they
// are whole and have rows, but does not decode them.
type asker struct {
	conn    net.Conn
	in      *bufio.Reader
	host    string
	request []byte
	body    bytes.Buffer
}

func newAsker(ctx context.Context, base string) (*asker, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &asker{conn: conn, in: bufio.NewReader(conn), host: u.Host}, nil
}

// timeline asks for the events of a waybill.
func (a *asker) timeline(waybill string) error {
	a.request = fmt.Appendf(a.request[:0], "GET /api/v1/views/waybill?waybill=%s HTTP/1.1\r\nHost: %s\r\n\r\n",
		url.QueryEscape(waybill), a.host)
	if err := a.conn.SetDeadline(time.Now().Add(late)); err != nil {
		return err
	}
	if _, err := a.conn.Write(a.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(a.in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	a.body.Reset()
	if _, err := a.body.ReadFrom(answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !bytes.HasPrefix(a.body.Bytes(), []byte(`{"rows":[{`)) {
		return fmt.Errorf("the timeline of %s: %s: %.200s", waybill, answer.Status, a.body.Bytes())
	}
	return nil
}
