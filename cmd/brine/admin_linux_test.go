package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"brine/hbase/embedded"
	"brine/internal/sample"
)

// A process with few descriptors goes on writing while 300 clients keep idle connections to its admin port and 200 more ask for the metrics
// and read nothing. These take no more descriptors than the port allows.
func TestClientsOfTheAdminPortDoNotStopThePipelines(t *testing.T) {
	t.Parallel()
	servers, _ := ownStack(t, embedded.Options{})
	j := newJob(t, servers)
	p := j.begin("BRINE_HTTP_STALL=1s")
	limit := unix.Rlimit{Cur: 128, Max: 128}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		c, err := net.Dial("tcp", p.http)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if i >= 300 {
			fmt.Fprint(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
			continue
		}
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 ") {
			t.Fatalf("client %d: %q, %v", i, line, err)
		}
	}
	n := j.publish(first(sample.Scans(), 1000)) // the first call to a region server needs a descriptor for its connection
	p.until("scans.rows", n)
	p.stop()
	if log := p.log.String(); strings.Contains(log, "too many open files") {
		t.Errorf("the log:\n%s", log)
	}
}
