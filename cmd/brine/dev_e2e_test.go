package main

import (
	"context"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/sample"
)

// TestDevGoesOnWhereItWas kills a whole `brine dev`, servers and all, and starts it again on the same folder. The rows of both pipelines
// and the documents are those of undisturbed runs.
func TestDevGoesOnWhereItWas(t *testing.T) {
	notShort(t)
	t.Parallel()
	want := undisturbed(t, bundledScans())
	wantOrders := undisturbedOrders(t, slices.Collect(sample.Orders(2000)))
	dir := filepath.Join(t.TempDir(), "data")
	for range 4 {
		cmd := exec.CommandContext(t.Context(), "brine", "dev", "--json", "--data", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, time.Duration(300+rand.IntN(2000))*time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	out := runDev(t, dir)
	for _, part := range []string{"65,649 events are in Kafka, and as rows and documents in HBase and the index", "UA-1545-20130101-EWR", "DEPART", "ARRIVE"} {
		if !strings.Contains(out, part) {
			t.Errorf("the output lacks %q:\n%s", part, out)
		}
	}
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "hbase")})
	if err != nil {
		t.Fatal(err)
	}
	servers := stack{hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(dir, "search")}
	if got := scanTable(t, servers.hbase, "logistics:scans"); got != want {
		t.Errorf("after the kills %v, undisturbed %v", got, want)
	}
	dev := job{stack: servers, example: ordersExample, t: t, file: "../../examples/dev.yaml", table: "shop:orders", name: "orders"}
	dev.expect(wantOrders)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if again := runDev(t, dir); !strings.Contains(again, " 0 of them new") {
		t.Errorf("a second start must publish nothing:\n%s", again)
	}
}

// runDev runs brine dev until it has shown the timeline, and then stops it.
func runDev(t *testing.T, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), standstill)
	defer cancel()
	cmd := exec.CommandContext(ctx, "brine", "dev", "--data", dir)
	var out strings.Builder
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for asked := false; ; {
		n, err := pipe.Read(buf)
		out.Write(buf[:n])
		if !asked && strings.Contains(out.String(), "Ctrl-C stops") {
			asked = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("brine dev: %v\n%s", err, out.String())
	}
	return out.String()
}

// bundledScans are those of brine dev: the real ones first, then the generated ones.
func bundledScans() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, seq := range []iter.Seq[[]byte]{sample.Scans(), sample.Trail(500)} {
			for event := range seq {
				if !yield(event) {
					return
				}
			}
		}
	}
}
