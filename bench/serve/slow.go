package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"brine/bench/measure"
	"brine/serve/client"
)

const slowReaders = 20

// besideSlow queries timelines alone, and then while clients read nothing of long answers that they have asked for.
func (s *stack) besideSlow(ctx context.Context) (err error) {
	if s.detail.Alone, err = measure.OpenLoop(ctx, timelineRate, s.For, s.timeline); err != nil {
		return err
	}
	u, err := url.Parse(s.api.Base)
	if err != nil {
		return err
	}
	var conns []net.Conn
	var asking sync.WaitGroup
	defer func() {
		for _, c := range conns {
			c.Close()
		}
		asking.Wait()
	}()
	var q client.Questions
	for i := range 1000 {
		q.Questions = append(q.Questions, map[string]client.Values{"waybill": {s.waybills[i%len(s.waybills)]}})
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	const ok = "HTTP/1.1 200"
	request := fmt.Sprintf("POST /api/v1/views/waybill-latest:batch HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", u.Host, len(body), body)
	for i := range slowReaders {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return fmt.Errorf("slow reader %d: %w", i, err)
		}
		conns = append(conns, c)
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return err
		}
		// The answers are together more than the kernel buffers. Writing ends with the connection.
		asking.Go(func() { _, _ = io.WriteString(c, strings.Repeat(request, 40)) })
		begin := make([]byte, len(ok))
		if _, err := io.ReadFull(c, begin); err != nil {
			return fmt.Errorf("slow reader %d: %w", i, err)
		}
		if string(begin) != ok {
			return fmt.Errorf("slow reader %d: its answer begins with %q", i, begin)
		}
	}
	if err := s.idle(ctx); err != nil {
		return fmt.Errorf("while the answers to slow readers fill their connections: %w", err)
	}
	s.detail.BesideSlow, err = measure.OpenLoop(ctx, timelineRate, s.For, s.timeline)
	return err
}

// idle waits until the API's process takes less than a tenth of a processor for a second.
func (s *stack) idle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for before := -1.0; ; {
		now, err := measure.CPU(s.process.Process.Pid)
		if err != nil {
			return err
		}
		if before >= 0 && now-before < 0.1 {
			return nil
		}
		before = now
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API's process is still busy: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}
