package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// liar is an HBase that can turn hostile: from then on every answer is what instead writes.
type liar struct {
	*embedded.Server
	instead atomic.Pointer[func(net.Conn)]
}

// newLiar starts one that is as honest as any other so far.
func newLiar(t *testing.T) (*liar, stack) {
	t.Helper()
	l := &liar{}
	servers, server := ownStack(t, embedded.Options{Listen: func(network, addr string) (net.Listener, error) {
		inner, err := net.Listen(network, addr)
		return &lyingListener{inner, l}, err
	}})
	l.Server = server
	return l, servers
}

type lyingListener struct {
	net.Listener
	of *liar
}

func (l *lyingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lyingConn{c, l.of}, nil
}

type lyingConn struct {
	net.Conn
	of *liar
}

func (c *lyingConn) Write(b []byte) (int, error) {
	if lie := c.of.instead.Load(); lie != nil {
		(*lie)(c.Conn)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// lie has every answer be these bytes and so many MiB behind them; then the connection ends if it is to.
func (l *liar) lie(answer []byte, more int, end bool) {
	zeros := make([]byte, 1<<20)
	lie := func(c net.Conn) {
		_, err := c.Write(answer)
		for i := 0; i < more && err == nil; i++ { // until the other side has had enough
			_, err = c.Write(zeros)
		}
		if end {
			_ = c.Close()
		}
	}
	l.instead.Store(&lie)
}

// announced is the length of a frame, as it stands before it.
func announced(length uint32) []byte { return binary.BigEndian.AppendUint32(nil, length) }

// each answers all calls of the job's table with an outcome.
func (l *liar) each(j *job, method string, outcome embedded.Outcome) {
	l.Control(method, func(r *embedded.Request) *embedded.Outcome {
		if m, ok := r.Param.(*hbasepb.ScanRequest); ok && !bytes.HasPrefix(m.GetRegion().GetValue(), []byte(j.table+",")) {
			return nil
		}
		r.Keep()
		return &outcome
	})
}

// hostilities are what a server may turn to, and what is then said of it.
var hostilities = []struct {
	name string
	turn func(l *liar, j *job)
	says string

	pipeline bool // also of what a pipeline says: the others look the same to it
}{
	{"garbage", func(l *liar, _ *job) { l.lie([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 0, false) }, "frame is longer than the limit: 1213486160 bytes", false},
	{"malformed frames", func(l *liar, _ *job) { l.lie([]byte{0, 0, 0, 3, 0xff, 0xff, 0xff}, 0, false) }, "malformed bytes on the wire", true},
	{"a giant length", func(l *liar, _ *job) { l.lie(announced(1<<31-1), 0, false) }, "frame is longer than the limit: 2147483647 bytes", false},
	{"an answer of 250 MB", func(l *liar, _ *job) { l.lie(announced(250<<20), 250, false) }, "frame is longer than the limit: 262144000 bytes, limit 18874368", true},
	{"cut frames", func(l *liar, _ *job) { l.lie(announced(100), 0, true) }, "the connection was closed", false},
	{"a stack of 4 MB", func(l *liar, j *job) { l.each(j, "", exceptionOf(4<<20)) }, "answered IOException: xxx", true},
	{"silence", func(l *liar, j *job) { l.each(j, "", embedded.Outcome{Silent: true}) }, "no answer", false},
	{"frozen", func(l *liar, _ *job) { l.Master().Freeze() }, "no answer", false},
	{"cells that are missing", func(l *liar, j *job) {
		l.each(j, "Scan", embedded.Outcome{Answer: &hbasepb.ScanResponse{CellsPerResult: []uint32{1}}})
		l.each(j, "Multi", embedded.Outcome{Answer: &hbasepb.MultiResponse{}})
	}, "invalid answer", false},
}

func exceptionOf(size int) embedded.Outcome {
	return embedded.Outcome{Exception: &embedded.Exception{Class: "java.io.IOException", Message: strings.Repeat("x", size)}}
}

const (
	hostileMemory = 56 << 20
	mostResident  = hostileMemory + 64<<20
)

// A question to an HBase that turns hostile when it is asked ends in time, with the address and the cause, in bounded memory.
func TestAHostileHBaseEndsAQuestion(t *testing.T) {
	t.Parallel()
	for _, h := range hostilities {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			l, servers := newLiar(t)
			j := newJob(t, servers)
			l.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
				if !bytes.HasPrefix(r.Param.(*hbasepb.ScanRequest).GetRegion().GetValue(), []byte(j.table+",")) {
					return nil
				}
				turned := make(chan struct{})
				go func() { // a control function must not register others
					defer close(turned)
					h.turn(l, j)
				}()
				return &embedded.Outcome{Until: turned, Drop: true}
			})
			cmd := j.command("query", "-c", j.file, j.table, "waybill=UA-1545-20130101-EWR", "--timeout", "5s")
			cmd.Env = append(cmd.Env, "BRINE_MEMORY=56MiB", "GOMEMLIMIT=")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			peak, err := untilEnded(t, cmd.Process.Pid, ended)
			if took := time.Since(began); err == nil || cmd.ProcessState.ExitCode() != exitUnreachable || took > time.Minute {
				t.Errorf("%v after %v", err, took)
			}
			if said := stderr.String(); !strings.Contains(said, l.Addr()) || !strings.Contains(said, h.says) || len(said) > 64<<10 {
				t.Errorf("does not say %q: %.600s", h.says, said)
			}
			resident(t, peak)
			l.instead.Store(nil)
			l.Master().Thaw()
		})
	}
}

// untilEnded waits for a process, and looks at its memory meanwhile: what the system says of one that has ended is at least what its parent had.
func untilEnded(t *testing.T, pid int, ended <-chan error) (peak int64, err error) {
	t.Helper()
	for {
		select {
		case err = <-ended:
			return peak, err
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, peakMemory(t, pid))
		}
	}
}

func resident(t *testing.T, peak int64) {
	t.Helper()
	t.Logf("the largest resident set is %d MiB", peak>>20)
	if peak > mostResident && !testenv.Race {
		t.Errorf("the largest resident set is %d MiB, more than %d", peak>>20, mostResident>>20)
	}
}

// A pipeline whose HBase turns hostile says what is wrong and where, and is unhealthy, in bounded memory.
func TestAHostileHBaseHoldsAPipelineUp(t *testing.T) {
	for _, h := range hostilities {
		if !h.pipeline {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			l, servers := newLiar(t)
			j := newJob(t, servers)
			p := j.begin("BRINE_MEMORY=56MiB", "GOMEMLIMIT=", "BRINE_HBASE_PAUSE=20ms", "BRINE_HBASE_RPC_TIMEOUT=1s", "BRINE_HBASE_DIAL_TIMEOUT=1s", "BRINE_HTTP_STALL=300ms", "BRINE_KAFKA_STOP_TIMEOUT=1s")
			p.health("/readyz", 200, "")
			h.turn(l, j)
			j.publish(first(sample.Scans(), 500))
			p.health("/healthz", 503, `(?s)scans.rows: .*`+h.says)
			resident(t, peakMemory(t, p.cmd.Process.Pid))
			p.stop()
			if log := p.log.String(); !strings.Contains(log, h.says) {
				t.Errorf("the log does not say %q: %.600s", h.says, log)
			}
		})
	}
}
