package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/internal/sample"
	"brine/internal/testenv"

	"google.golang.org/protobuf/encoding/protowire"
)

// liar is an HBase that can turn hostile. From then on, instead writes every answer.
type liar struct {
	*embedded.Server
	instead atomic.Pointer[func(c net.Conn, honest []byte)]
}

// newLiar starts one that is honest at first.
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
		(*lie)(c.Conn, b)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// lie replaces every answer by these bytes, followed by zeros up to size. Then it ends the connection if asked to.
func (l *liar) lie(answer []byte, size int, end bool) {
	l.answer(func([]byte) []byte { return answer }, size, end)
}

// answer is lie with an answer that depends on the honest one.
func (l *liar) answer(answer func(honest []byte) []byte, size int, end bool) {
	zeros := make([]byte, 1<<20)
	lie := func(c net.Conn, honest []byte) {
		n, err := c.Write(answer(honest))
		for more := size - n; more > 0 && err == nil; more -= n { // until the other side gives up
			n, err = c.Write(zeros[:min(more, len(zeros))])
		}
		if end {
			_ = c.Close()
		}
	}
	l.instead.Store(&lie)
}

// announced returns the length of a frame as it precedes the frame.
func announced(length uint32) []byte { return binary.BigEndian.AppendUint32(nil, length) }

// each answers all calls to the job's table with an outcome.
func (l *liar) each(j *job, method string, outcome embedded.Outcome) {
	l.Control(method, func(r *embedded.Request) *embedded.Outcome {
		if m, ok := r.Param.(*hbasepb.ScanRequest); ok && !bytes.HasPrefix(m.GetRegion().GetValue(), []byte(j.table+",")) {
			return nil
		}
		r.Keep()
		return &outcome
	})
}

// hostilities are the ways in which a server may turn hostile, and what brine says about each.
var hostilities = []struct {
	name string
	turn func(l *liar, j *job)
	says string

	pipeline bool // also for a pipeline, which cannot distinguish the others
}{
	{"garbage", func(l *liar, _ *job) { l.lie([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 0, false) }, "frame is longer than the limit: 1213486160 bytes", false},
	{"malformed frames", func(l *liar, _ *job) { l.lie([]byte{0, 0, 0, 3, 0xff, 0xff, 0xff}, 0, false) }, "malformed bytes on the wire", true},
	{"a giant length", func(l *liar, _ *job) { l.lie(announced(1<<31-1), 0, false) }, "frame is longer than the limit: 2147483647 bytes", false},
	{"an answer of 250 MB", func(l *liar, _ *job) { l.lie(announced(250<<20), 250<<20, false) }, "frame is longer than the limit: 262144000 bytes, limit 18874368", true},
	{"cut frames", func(l *liar, _ *job) { l.lie(announced(100), 0, true) }, "the connection was closed", false},
	{"answers of the longest length", func(l *liar, _ *job) { l.lie(announced(longestAnswer), 4+longestAnswer, false) }, "malformed bytes on the wire", true},
	{"a result of the longest length", func(l *liar, _ *job) { l.answer(longestResult, 4+longestAnswer, false) }, "invalid answer", true},
	{"a stack of 16 MB", func(l *liar, j *job) { l.each(j, "", exceptionOf(16<<20)) }, "answered IOException: xxx", true},
	{"a stack of the longest length", func(l *liar, j *job) { l.each(j, "", exceptionOf(longestAnswer-100)) }, "answered IOException: xxx", true},
	{"silence", func(l *liar, j *job) { l.each(j, "", embedded.Outcome{Silent: true}) }, "no answer", false},
	{"frozen", func(l *liar, _ *job) { l.Master().Freeze() }, "no answer", false},
	{"cells that are missing", func(l *liar, j *job) {
		l.each(j, "Scan", embedded.Outcome{Answer: &hbasepb.ScanResponse{CellsPerResult: []uint32{1}}})
		l.each(j, "Multi", embedded.Outcome{Answer: &hbasepb.MultiResponse{}})
	}, "invalid answer", false},
}

// longestAnswer is the length of the longest answer that a brine with so little memory reads.
const longestAnswer = 18 << 20

// longestResult returns the beginning of such an answer to a call that was answered honestly. The result follows.
func longestResult(honest []byte) []byte {
	header, n := protowire.ConsumeBytes(honest[4:])
	if n < 0 {
		return nil
	}
	b := protowire.AppendBytes(announced(longestAnswer), header[:1+protowire.SizeVarint(callOf(header))])
	return protowire.AppendVarint(b, uint64(longestAnswer-(len(b)-4)-4)) // which itself takes 4 bytes
}

// callOf returns the id of a call, the first field of its answer's header.
func callOf(header []byte) uint64 {
	id, _ := protowire.ConsumeVarint(header[1:])
	return id
}

func exceptionOf(size int) embedded.Outcome {
	return embedded.Outcome{Exception: &embedded.Exception{Class: "java.io.IOException", Message: strings.Repeat("x", size)}}
}

const (
	hostileMemory = 56 << 20
	mostResident  = hostileMemory + 64<<20

	// programResident is the part of that left to the program itself, whose pages the system can reclaim. brine has fewer than the tests,
	// which run as brine here.
	programResident = 40 << 20
)

// A query to an HBase that turns hostile ends in time, with the address and the cause, in bounded memory.
func TestAHostileHBaseEndsAQuestion(t *testing.T) {
	t.Parallel()
	for _, h := range hostilities {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			l, servers := newLiar(t)
			j := newJob(t, servers)
			turns := func(r *embedded.Request) *embedded.Outcome {
				if !bytes.HasPrefix(r.Param.(*hbasepb.ScanRequest).GetRegion().GetValue(), []byte(j.table+",")) {
					return nil
				}
				turned := make(chan struct{})
				go func() { // a control function must not register others
					defer close(turned)
					h.turn(l, j)
				}()
				return &embedded.Outcome{Until: turned, Drop: true}
			}
			// A busy machine may take longer than the timeout to send what the server answers: then the query gets more time.
			for timeout := 5 * time.Second; ; timeout *= 2 {
				honest := l.Control("Scan", turns)
				cmd := j.command("query", "-c", j.file, j.table, "waybill=UA-1545-20130101-EWR", "--timeout", timeout.String())
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
				if took := time.Since(began); err == nil || cmd.ProcessState.ExitCode() != exitUnreachable || took > timeout+afterTimeout {
					t.Errorf("%v after %v", err, took)
				}
				resident(t, peak)
				honest() // if it has not come to that
				l.instead.Store(nil)
				l.Master().Thaw()
				said := stderr.String()
				if strings.Contains(said, l.Addr()) && strings.Contains(said, h.says) && len(said) <= 64<<10 {
					return
				}
				if timeout > time.Minute {
					t.Fatalf("does not say %q: %.600s", h.says, said)
				}
			}
		})
	}
}

// untilEnded waits for a process and watches its memory: what the system reports for an ended process is at least what its parent had.
func untilEnded(t *testing.T, pid int, ended <-chan error) (peak int64, err error) {
	t.Helper()
	for {
		select {
		case err = <-ended:
			return peak, err
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, peakBesidesProgram(t, pid))
		}
	}
}

// peakBesidesProgram returns the largest resident set of a process so far, without the pages of its program.
func peakBesidesProgram(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var program int64
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "RssFile: %d kB", &program); n == 1 {
			break
		}
	}
	return peakMemory(t, pid) - program<<10
}

func resident(t *testing.T, peak int64) {
	t.Helper()
	t.Logf("the largest resident set is %d MiB besides the program", peak>>20)
	if peak > mostResident-programResident && !testenv.Race {
		t.Errorf("the largest resident set is %d MiB besides the program, more than %d", peak>>20, (mostResident-programResident)>>20)
	}
}

// A pipeline whose HBase turns hostile reports what is wrong and where, and is unhealthy, in bounded memory.
func TestAHostileHBaseHoldsAPipelineUp(t *testing.T) {
	t.Parallel()
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
			resident(t, peakBesidesProgram(t, p.cmd.Process.Pid))
			// On a busy machine the third try may only time out; the next warning with the cause comes a minute later.
			for start := time.Now(); !strings.Contains(p.log.String(), h.says); wait(t, 20*time.Millisecond) {
				if time.Since(start) > standstill {
					t.Fatalf("the log does not say %q: %.600s", h.says, p.log.String())
				}
			}
			p.stop()
		})
	}
}
