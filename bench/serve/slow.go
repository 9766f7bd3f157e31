package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"brine/bench/measure"
)

const slowReaders = 100

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
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	const ok = "HTTP/1.1 200"
	const statement = `{"statement": "SELECT * FROM scans LIMIT 10000 ALLOW FULL SCAN"}`
	head := "POST /api/v1/sql HTTP/1.1\r\nHost: " + u.Host + "\r\nAccept: application/x-ndjson\r\nContent-Type: application/json\r\n"
	request := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(statement), statement)
	for i := range slowReaders {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return fmt.Errorf("slow reader %d: %w", i, err)
		}
		conns = append(conns, c)
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return err
		}
		if _, err := io.WriteString(c, strings.Repeat(request, 10)); err != nil { // together more than the kernel buffers
			return fmt.Errorf("slow reader %d: %w", i, err)
		}
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
