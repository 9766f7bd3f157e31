package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brine/hbase"
	"brine/internal/backoff"
	"brine/internal/datadir/datadirtest"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// devProcess is a brine dev process and its output so far.
type devProcess struct {
	cmd                *exec.Cmd
	kafka, hbase, http string
	out, errs          *testenv.Text
}

var devAddrs = regexp.MustCompile(`Kafka on (\S+), HBase on rpc://(\S+), http://(\S+)/metrics`)

// startDev starts a brine dev and waits until it prints its addresses.
func startDev(t *testing.T, args ...string) *devProcess {
	t.Helper()
	p := &devProcess{cmd: exec.CommandContext(t.Context(), "brine", append([]string{"dev"}, args...)...), out: &testenv.Text{}, errs: &testenv.Text{}}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.errs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("brine dev printed\n%s\n%s", p.out, p.errs)
		}
	})
	p.until(t, "it says where it is", func() bool {
		at := devAddrs.FindStringSubmatch(p.out.String())
		if at != nil {
			p.kafka, p.hbase, p.http = at[1], at[2], at[3]
		}
		return at != nil
	})
	return p
}

// until waits for a condition, at most as long as the test may take.
func (p *devProcess) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), standstill)
	defer cancel()
	for !so() {
		if err := backoff.Wait(ctx, 100*time.Millisecond); err != nil {
			t.Fatalf("waiting until %s: %v\n%s\n%s", what, err, p.out, p.errs)
		}
	}
}

func (p *devProcess) shows(text string) func() bool {
	return func() bool { return strings.Contains(p.out.String(), text) }
}

func (p *devProcess) warns(text string) func() bool {
	return func() bool { return strings.Contains(p.errs.String(), text) }
}

// health returns the answer of /healthz.
func (p *devProcess) health(t *testing.T) string {
	t.Helper()
	r, err := http.Get("http://" + p.http + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rows returns the number of rows of a table.
func (p *devProcess) rows(t *testing.T, table string) (n int) {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + p.hbase})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, err := range client.Scan(t.Context(), table, hbase.Scan{Filter: hbase.FirstKeyOnlyFilter{}}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// stop ends the process as an operator does.
func (p *devProcess) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("brine dev: %v\n%s", err, p.errs)
	}
}

const allWritten = "events are in Kafka, and as rows and documents in HBase and the index"

// TestDevOnAFullDisk: on a disk of 20 MB that fills up, brine dev gives the reason in its log and its health, writes everything once there
// is space, stops soon when asked to even if the disk is full, and loses no row and no document.
func TestDevOnAFullDisk(t *testing.T) {
	t.Parallel()
	mount := datadirtest.SmallDisk(t)
	ballast, dir := filepath.Join(mount, "ballast"), filepath.Join(mount, "data")
	if err := os.WriteFile(ballast, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startDev(t, "--data", dir)
	p.until(t, "it says that the disk is full", p.warns("no space left on device"))
	p.until(t, "its health says so", func() bool {
		h := p.health(t)
		return strings.Contains(h, `"ok": false`) && strings.Contains(h, "no space left on device") && strings.Contains(h, dir)
	})
	if err := unix.Mount("tmpfs", mount, "tmpfs", unix.MS_REMOUNT, "size=80m"); err != nil {
		t.Fatal(err)
	}
	p.until(t, "everything is written", p.shows(allWritten))
	p.until(t, "it is healthy", func() bool { return strings.Contains(p.health(t), `"ok": true`) })
	want := undisturbedOrders(t, slices.Collect(sample.Orders(2000))).docs
	scans, orders := p.rows(t, "logistics:scans"), p.rows(t, "shop:orders")

	datadirtest.Fill(t, ballast)
	began := time.Now()
	p.stop(t)
	// Each of the things closed has 15 s at most, in parallel; a busy machine may take several times as long.
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("ended %v after it was asked to", took.Round(time.Millisecond))
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	p = startDev(t, "--data", dir)
	if s, o := p.rows(t, "logistics:scans"), p.rows(t, "shop:orders"); s != scans || o != orders || s == 0 || o == 0 {
		t.Errorf("%d scans and %d orders, there were %d and %d", s, o, scans, orders)
	}
	p.until(t, "everything is written again", p.shows(allWritten))
	p.stop(t)
	dev := job{stack: stack{search: "embedded:" + filepath.Join(dir, "search")}, t: t, name: "orders"}
	if got := dev.documents(); got.String() != want.String() {
		t.Errorf("%v, undisturbed %v", got, want)
	}
}

// TestDevWithoutDescriptors: while the process cannot open more files, the ports of both servers say so, and they work again afterwards.
func TestDevWithoutDescriptors(t *testing.T) {
	t.Parallel()
	p := startDev(t)
	p.until(t, "everything is written", p.shows(allWritten))
	var before unix.Rlimit
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 8, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{p.hbase, p.kafka} {
		c, err := net.Dial("tcp", addr) // the system accepts it
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p.until(t, "it says that it cannot accept", p.warns("accepting connections on "+addr+": too many open files: raise the limit"))
	}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
		t.Fatal(err)
	}
	if n := p.rows(t, "shop:orders"); n == 0 {
		t.Error("HBase has no orders")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// ApiVersions, version 0, without a client id; the answer begins with its length.
	if _, err := conn.Write([]byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF}); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(conn).Peek(4); err != nil {
		t.Errorf("Kafka does not answer: %v", err)
	}
	p.stop(t)
}
