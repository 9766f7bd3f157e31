package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"brine/bench/measure"
	"brine/internal/sample"
	"brine/query"
	"brine/serve/client"
)

const (
	ordersFile = "data/orders.jsonl.gz" // of `make data`
	settling   = 5 * time.Minute        // until what was published is written
	kept       = 2_000                  // number of waybills and orders that are queried
)

func (s *stack) publish(ctx context.Context, file, topic, key string, rate int) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.brine, "publish", file, "-c", configuration, "--alone", "--topic", topic, "--key", key,
		"--rate", strconv.Itoa(rate))
	cmd.Env, cmd.Stderr = s.env, nil
	return cmd
}

// fill publishes events and orders, and waits until all are written.
func (s *stack) fill(ctx context.Context) error {
	scans, orders := s.dir+"/scans.jsonl", s.dir+"/orders.jsonl"
	if err := errors.Join(measure.WriteScans(scans, s.Events), s.writeOrders(orders)); err != nil {
		return err
	}
	if err := s.pick(scans, orders); err != nil {
		return err
	}
	began := time.Now()
	for _, p := range [][3]string{{scans, "centre.scans", "waybill"}, {orders, "centre.orders", "order"}} {
		if out, err := s.publish(ctx, p[0], p[1], p[2], 0).CombinedOutput(); err != nil {
			return fmt.Errorf("brine publish %s: %w: %s", p[0], err, out)
		}
	}
	if err := s.settled(); err != nil {
		return err
	}
	s.detail.Filled = time.Since(began)
	time.Sleep(2 * time.Second) // a refresh of the index
	return nil
}

// settled waits until everything that was published is written.
func (s *stack) settled() error {
	client := &http.Client{Timeout: 5 * time.Second}
	for deadline := time.Now().Add(settling); ; time.Sleep(100 * time.Millisecond) {
		n, lag, err := measure.Settled(client, s.detail.admin, "")
		switch {
		case err != nil:
			return err
		case n >= s.Events+s.Orders && lag == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%d events are settled, and %d are not, after %v", n, lag, settling)
		}
	}
}

// writeOrders writes the first changes of orders to a file.
func (s *stack) writeOrders(name string) error {
	in, err := os.Open(ordersFile)
	if err != nil {
		return fmt.Errorf("%w (`make data` brings it)", err)
	}
	defer in.Close()
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w, n := bufio.NewWriter(out), 0
	for line, err := range sample.Read(in) {
		if err != nil {
			return err
		}
		if n++; n > s.Orders {
			break
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// pick selects some waybills and orders to query.
func (s *stack) pick(scans, orders string) error {
	each := func(name string, n int, take func(fields map[string]any)) error {
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		for i := 0; lines.Scan(); i++ {
			if i%max(1, n/kept) != 0 {
				continue
			}
			var fields map[string]any
			if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
				return err
			}
			take(fields)
		}
		return lines.Err()
	}
	err := each(scans, s.Events, func(f map[string]any) { s.waybills = append(s.waybills, fmt.Sprint(f["waybill"])) })
	if err != nil {
		return err
	}
	return each(orders, s.Orders, func(f map[string]any) {
		items, _ := f["items"].(string)
		for _, word := range strings.FieldsFunc(items, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(word) > 3 {
				s.orders = append(s.orders, url.Values{"user": {fmt.Sprint(f["user"])}, "items": {word}, "status": {"paid", "shipped", "received"}})
				return
			}
		}
	})
}

func one[T any](of []T) T { return of[rand.IntN(len(of))] }

// timelines queries the events of waybills while others arrive, through package query and through the API.
func (s *stack) timelines(ctx context.Context) error {
	more := s.dir + "/more.jsonl"
	// Twice what the two loads take: an open loop ends late where answers are slow.
	span := 4*(s.For+measure.WarmUp) + time.Minute
	if err := measure.WriteScans(more, s.Events+int(span.Seconds())*eventRate); err != nil { // brine publish continues after these
		return err
	}
	stop, err := measure.Publish(s.publish(ctx, more, "centre.scans", "waybill", eventRate))
	if err != nil {
		return err
	}
	defer func() { _ = stop() }() // if it was not stopped, there is another error
	s.detail.Query, err = measure.OpenLoop(ctx, timelineRate, s.For, func(ctx context.Context, _ int) error {
		_, err := s.reader.Page(ctx, query.Request{Args: []string{"waybill=" + one(s.waybills)}})
		return err
	})
	if err != nil {
		return err
	}
	s.detail.Timeline, err = measure.OpenLoop(ctx, timelineRate, s.For, s.timeline)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	return s.settled() // the next queries have the servers to themselves
}

// timeline queries the events of a waybill.
func (s *stack) timeline(ctx context.Context, _ int) error {
	page, err := s.api.Ask(ctx, "waybill", url.Values{"waybill": {one(s.waybills)}})
	if err == nil && len(page.Rows) == 0 {
		err = errors.New("a waybill has no events")
	}
	return err
}

// latest queries the latest events of 100 waybills in one call.
func (s *stack) latest(ctx context.Context) (err error) {
	s.detail.Latest, err = measure.OpenLoop(ctx, latestRate, s.For, func(ctx context.Context, _ int) error {
		var q client.Questions
		for range 100 {
			q.Questions = append(q.Questions, map[string]client.Values{"waybill": {one(s.waybills)}})
		}
		a, err := s.api.AskAll(ctx, "waybill-latest", q)
		if err == nil && len(a.Answers) != 100 {
			err = fmt.Errorf("%d answers", len(a.Answers))
		}
		return err
	})
	return err
}

// byWord queries a user's orders by a word and some states.
func (s *stack) byWord(ctx context.Context) error {
	if len(s.orders) == 0 {
		return errors.New("no order has a word to search for")
	}
	var mu sync.Mutex
	found := 0
	took, err := measure.OpenLoop(ctx, ordersRate, s.For, func(ctx context.Context, _ int) error {
		page, err := s.api.Ask(ctx, "user-orders", one(s.orders))
		mu.Lock()
		defer mu.Unlock()
		found += len(page.Rows)
		return err
	})
	if err == nil && found == 0 {
		err = errors.New("no query found an order")
	}
	s.detail.Orders, s.detail.Found = took, found
	return err
}

// signed signs requests with an API token.
type signed struct {
	token string
	by    http.RoundTripper
}

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return s.by.RoundTrip(r)
}

// sql queries a timeline through its view, by SQL, and by audited SQL, in turn.
func (s *stack) sql(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < s.For; {
		waybill := one(s.waybills)
		at := time.Now()
		if _, err := s.api.Ask(ctx, "waybill", url.Values{"waybill": {waybill}}); err != nil {
			return err
		}
		s.detail.View.Add(time.Since(at))
		at = time.Now()
		statement := "SELECT * FROM scans WHERE waybill = '" + strings.ReplaceAll(waybill, "'", "''") + "' LIMIT 100"
		if _, err := s.api.SQL(ctx, statement, ""); err != nil {
			return err
		}
		s.detail.SQL.Add(time.Since(at))
		at = time.Now()
		if _, err := s.audited.SQL(ctx, statement, "a benchmark"); err != nil {
			return err
		}
		s.detail.Audited.Add(time.Since(at))
	}
	return nil
}

// streams opens event streams, and measures how much memory they add to the process that serves them.
func (s *stack) streams(ctx context.Context) error {
	pid := strconv.Itoa(s.process.Process.Pid)
	var err error
	if s.detail.BareMiB, err = residents(pid); err != nil {
		return err
	}
	u, err := url.Parse(s.api.Base)
	if err != nil {
		return err
	}
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range s.Streams {
		c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return fmt.Errorf("stream %d: %w (needs one file descriptor per stream: ulimit -n)", i, err)
		}
		conns = append(conns, c)
		_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // a TCP connection accepts deadlines
		path := "/api/v1/views/waybill/events?waybill=" + url.QueryEscape(s.waybills[i%100%len(s.waybills)])
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: "+u.Host+"\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
			return fmt.Errorf("stream %d: %w", i, err)
		}
		head := make([]byte, 12)
		if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 200" {
			return fmt.Errorf("stream %d answers %q, %w", i, head, err)
		}
	}
	s.detail.StreamsMiB, err = residents(pid)
	return err
}

// residents samples a process's memory once per second, because it varies with the garbage.
func residents(pid string) (mib []float64, err error) {
	for range 9 {
		time.Sleep(time.Second)
		now, err := measure.ResidentMiB(pid)
		if err != nil {
			return nil, err
		}
		mib = append(mib, now)
	}
	return mib, nil
}
