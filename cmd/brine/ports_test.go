//go:build linux && !race

package main

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"brine/hbase"
	"brine/hbase/hbasepb"
)

// maxResident is the limit of brine dev's own memory, whatever is done to its ports.
const maxResident = 256 << 20

// TestDevPorts attacks every port of brine dev, each attack on top of the earlier ones. Meanwhile others publish and read what they
// published, and memory stays bounded. In the end brine dev stops when asked to.
func TestDevPorts(t *testing.T) {
	dev := beginDev(t)
	get := func(path string) []byte { return []byte("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n") }
	attacks := []struct {
		name  string
		conns int // per port
		kafka func(*rand.Rand) []byte
		hbase func(*rand.Rand) []byte
		http  func(path string) func(*rand.Rand) []byte
	}{
		{"garbage", 200, garbage(nil), garbage(hbaseHello), func(string) func(*rand.Rand) []byte { return garbage(nil) }},
		{"garbage that begins well", 200, garbage(kafkaFetch()[:12]), garbage(hbaseCall("Multi", nil)[:12]), func(path string) func(*rand.Rand) []byte {
			return garbage(append(get(path), "X: "...))
		}},
		{"giant lengths", 60, giant(kafkaProduce()), giant(append(hbaseHello, 0x01, 0xff, 0xff, 0xff)), func(path string) func(*rand.Rand) []byte {
			return giant([]byte("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 4294967295\r\n\r\n"))
		}},
		{"half open", 1000, always(kafkaFetch()[:7]), always(hbaseHello[:9]), func(path string) func(*rand.Rand) []byte { return always(get(path)[:8]) }},
		{"never reading", 60, always(times(kafkaFetch(), 10)), always(append(hbaseHello, times(dev.scanAll(), 10)...)), func(path string) func(*rand.Rand) []byte {
			return always(times(append(get(path), "\r\n"...), 200))
		}},
	}
	ports := dev.ports()
	for i, a := range attacks {
		began, rounds := time.Now(), dev.rounds.Load()
		var wg sync.WaitGroup
		for addr, protocol := range ports {
			payload := map[string]func(*rand.Rand) []byte{"kafka": a.kafka, "hbase": a.hbase}[protocol]
			if payload == nil {
				payload = a.http(protocol)
			}
			for n := range a.conns {
				wg.Go(func() { dev.attack(addr, payload(rand.New(rand.NewPCG(uint64(i), uint64(n))))) })
			}
		}
		wg.Wait()
		dev.goesOn()
		t.Logf("%s: %v, %d rounds of a client that behaves, %d MiB resident at most", a.name, time.Since(began).Round(time.Millisecond), dev.rounds.Load()-rounds, dev.resident.Load()>>20)
	}
	dev.stop()
	if got := dev.resident.Load(); got > maxResident {
		t.Errorf("%d MiB resident at most, more than %d", got>>20, maxResident>>20)
	}
}

// garbage returns a beginning followed by random bytes.
func garbage(beginning []byte) func(*rand.Rand) []byte {
	return func(rng *rand.Rand) []byte {
		b := append([]byte(nil), beginning...)
		for range rng.IntN(4096) {
			b = binary.BigEndian.AppendUint64(b, rng.Uint64())
		}
		return b
	}
}

// giant returns a beginning that announces much, and a megabyte or two of it.
func giant(beginning []byte) func(*rand.Rand) []byte {
	return func(rng *rand.Rand) []byte {
		return append(beginning[:len(beginning):len(beginning)], make([]byte, 1<<20+rng.IntN(1<<20))...)
	}
}

func always(b []byte) func(*rand.Rand) []byte { return func(*rand.Rand) []byte { return b } }

func times(b []byte, n int) []byte { return []byte(strings.Repeat(string(b), n)) }

// kafkaFetch asks for all scans.
func kafkaFetch() []byte {
	q := kmsg.NewPtrFetchRequest()
	q.Version, q.MinBytes, q.MaxBytes = 4, 1, 1<<31-1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = "courier.scans"
	for i := range int32(devPartitions) {
		partition := kmsg.NewFetchRequestTopicPartition()
		partition.Partition, partition.PartitionMaxBytes = i, 1<<31-1
		topic.Partitions = append(topic.Partitions, partition)
	}
	q.Topics = append(q.Topics, topic)
	return sized(q.AppendTo([]byte{0, 1, 0, 4, 0, 0, 0, 7, 0xff, 0xff}))
}

// kafkaProduce begins a request of 15 MiB.
func kafkaProduce() []byte { return []byte{0, 0xf0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 7, 0xff, 0xff} }

// sized puts the length of b before it.
func sized(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }

// hbaseHello begins a connection of the ClientService.
var hbaseHello = append([]byte("HBas\x00\x50"), sized(marshal(&hbasepb.ConnectionHeader{
	ServiceName: proto.String("ClientService"), CellBlockCodecClass: proto.String("org.apache.hadoop.hbase.codec.KeyValueCodec"),
}))...)

func hbaseCall(method string, param proto.Message) []byte {
	header := &hbasepb.RequestHeader{CallId: proto.Uint32(1), MethodName: &method, RequestParam: proto.Bool(param != nil)}
	b := protowire.AppendBytes(nil, marshal(header))
	if param != nil {
		b = protowire.AppendBytes(b, marshal(param))
	}
	return sized(b)
}

func marshal(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// attackedDev is a brine dev under attack, and a well-behaved client of it.
type attackedDev struct {
	t                  *testing.T
	cmd                *exec.Cmd
	kafka, hbase, http string
	users, ops         string // addresses of the HTTP API
	session            string // of an administrator
	producer           *kgo.Client
	reader             *hbase.Client

	mu       sync.Mutex // guards held
	held     []net.Conn // those of the attackers, until the end
	resident atomic.Int64
	rounds   atomic.Int64
	ended    chan error
	behaving sync.WaitGroup
	enough   context.CancelFunc
}

// beginDev starts brine dev, waits until the samples are written, and starts a well-behaved client.
func beginDev(t *testing.T) *attackedDev {
	t.Helper()
	d := &attackedDev{t: t, ended: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), standstill)
	t.Cleanup(cancel)
	d.cmd = exec.CommandContext(ctx, "brine", "dev")
	d.cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "GOMEMLIMIT=") // brine sets its own
	d.cmd.Stderr = os.Stderr
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var password string
	for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C stops") {
		if m := devAddrs.FindStringSubmatch(lines.Text()); m != nil {
			d.kafka, d.hbase, d.http = m[1], m[2], m[3]
		}
		if m := devAPIs.FindStringSubmatch(lines.Text()); m != nil {
			*map[string]*string{"console": &d.users, "operators' console": &d.ops}[m[1]] = m[2]
		}
		if fields := strings.Fields(lines.Text()); len(fields) == 2 && fields[0] == "admin" {
			password = fields[1]
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		d.ended <- d.cmd.Wait()
	}()
	d.signIn(password)
	d.behave(ctx)
	return d
}

// devAPIs returns the addresses of the HTTP API that brine dev prints.
var devAPIs = regexp.MustCompile(`((?:operators' )?console) on http://([^\s,]+)`)

// ports returns the addresses on which brine dev listens, each with its protocol or, for HTTP, with the path to request. A port unknown to
// this test fails it.
func (d *attackedDev) ports() map[string]string {
	d.t.Helper()
	known := map[string]string{d.kafka: "kafka", d.http: "/metrics", d.users: "/api/v1/docs", d.ops: "/api/v1/docs"}
	regions, err := d.reader.Regions(d.t.Context(), "logistics:scans")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, addr := range []string{d.hbase, regions[0].Server} {
		known[addr] = "hbase"
	}
	listening := listens(d.t, d.cmd.Process.Pid)
	for _, addr := range listening {
		if known[addr] == "" {
			d.t.Errorf("brine dev listens at %s, which nobody attacks", addr)
		}
	}
	if len(known) != len(listening) {
		d.t.Errorf("brine dev listens at %v, known are %v", listening, known)
	}
	return known
}

// listens returns the IPv4 addresses on which a process listens.
func listens(t *testing.T, pid int) (addrs []string) {
	t.Helper()
	sockets := map[string]bool{}
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		to, _ := os.Readlink(name) // those closed in the meantime do not listen
		sockets[to] = true
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			const listening = "0A"
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listening || !sockets["socket:["+f[9]+"]"] {
				continue
			}
			var ip, port uint32
			if _, err := fmt.Sscanf(f[1], "%08X:%04X", &ip, &port); err != nil || table == "tcp6" {
				t.Fatalf("an address of %s: %s, %v", table, f[1], err)
			}
			at := net.IPv4(byte(ip), byte(ip>>8), byte(ip>>16), byte(ip>>24))
			addrs = append(addrs, net.JoinHostPort(at.String(), strconv.Itoa(int(port))))
		}
	}
	return addrs
}

// signIn signs the well-behaved client in as the administrator.
func (d *attackedDev) signIn(password string) {
	d.t.Helper()
	body := fmt.Sprintf(`{"name":"admin","password":%q}`, password)
	resp, err := http.Post("http://"+d.users+"/api/v1/session", "application/json", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		d.t.Fatalf("signing in: %s, %v", resp.Status, resp.Cookies())
	}
	d.session = resp.Cookies()[0].String()
	d.session, _, _ = strings.Cut(d.session, ";")
}

// scanAll asks for all rows of the first region of the scans.
func (d *attackedDev) scanAll() []byte {
	d.t.Helper()
	regions, err := d.reader.Regions(d.t.Context(), "logistics:scans")
	if err != nil {
		d.t.Fatal(err)
	}
	return hbaseCall("Scan", &hbasepb.ScanRequest{
		Region:       &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: regions[0].Name},
		NumberOfRows: proto.Uint32(1 << 30), Scan: &hbasepb.Scan{},
	})
}

// attack opens a connection, sends what the port takes, and holds the connection until the end.
func (d *attackedDev) attack(addr string, b []byte) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		d.t.Error(err)
		return
	}
	d.mu.Lock()
	d.held = append(d.held, c)
	d.mu.Unlock()
	_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second)) // do not wait for a port that no longer reads
	_, _ = c.Write(b)                                       // a port may refuse it
}

// behave publishes a scan, waits until it can be read, and asks for health, for the scan over HTTP and for the pipelines. It repeats that
// until the attacks are over, and also watches the memory.
func (d *attackedDev) behave(ctx context.Context) {
	d.t.Helper()
	var err error
	if d.producer, err = kgo.NewClient(kgo.SeedBrokers(d.kafka), kgo.DefaultProduceTopic("courier.scans")); err != nil {
		d.t.Fatal(err)
	}
	if d.reader, err = hbase.Open(ctx, hbase.Options{Connect: "rpc://" + d.hbase}); err != nil {
		d.t.Fatal(err)
	}
	ctx, d.enough = context.WithCancel(ctx)
	d.behaving.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := d.round(ctx, fmt.Sprintf("BEHAVES%d", i)); err != nil && ctx.Err() == nil {
				d.t.Errorf("round %d of a client that behaves: %v", i, err)
				return
			}
			d.rounds.Add(1)
		}
	})
	d.behaving.Go(func() {
		for tick := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			d.resident.Store(max(d.resident.Load(), anonymous(d.cmd.Process.Pid)))
		}
	})
}

// round takes one scan through all of brine.
func (d *attackedDev) round(ctx context.Context, waybill string) error {
	ctx, cancel := context.WithTimeout(ctx, standstill)
	defer cancel()
	event := fmt.Sprintf(`{"waybill":%q,"action":"DEPART","station":"EWR","at":%d,"courier":"C1"}`, waybill, time.Now().UnixMilli())
	if err := d.producer.ProduceSync(ctx, kgo.KeyStringRecord(waybill, event)).FirstErr(); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	salt := md5.Sum([]byte(waybill))
	start, stop := fmt.Appendf(nil, "%x%s|", salt[:2], waybill), fmt.Appendf(nil, "%x%s}", salt[:2], waybill)
	for found := false; !found; {
		for _, err := range d.reader.Scan(ctx, "logistics:scans", hbase.Scan{Start: start, Stop: stop}) {
			if err != nil {
				return fmt.Errorf("reading: %w", err)
			}
			found = true
		}
	}
	for _, url := range []string{
		d.http + "/healthz", d.users + "/api/v1/views/waybill?waybill=" + waybill, d.ops + "/api/v1/ops/pipelines",
	} {
		if err := d.answered(ctx, "http://"+url); err != nil {
			return err
		}
	}
	return nil
}

// answered repeats a request until it is answered: a port may close a connection to make room, and shed a request while others hold all
// places.
func (d *attackedDev) answered(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Cookie", d.session)
	req.Header.Set("Brine-Reason", "to see that it goes on") // rows that are not its own
	for last := error(nil); ; {
		resp, err := http.DefaultClient.Do(req)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w, last %w", url, ctx.Err(), last)
		}
		if last = err; err != nil {
			continue
		}
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // only for the error
		resp.Body.Close()
		switch last = fmt.Errorf("%s: %s", resp.Status, said); resp.StatusCode {
		case http.StatusOK:
			return nil
		case http.StatusServiceUnavailable:
			time.Sleep(10 * time.Millisecond) // as a well-behaved client does
		default:
			return fmt.Errorf("%s: %w", url, last)
		}
	}
}

// anonymous returns the resident memory of a process without the files it maps.
func anonymous(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "RssAnon: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}

// goesOn waits until the well-behaved client has made two more rounds.
func (d *attackedDev) goesOn() {
	d.t.Helper()
	for want := d.rounds.Load() + 2; d.rounds.Load() < want; {
		if d.t.Failed() {
			d.t.FailNow()
		}
		select {
		case err := <-d.ended:
			d.t.Fatalf("brine dev has ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// stop asks brine dev to stop, with all attackers still there, and checks that it ends well.
func (d *attackedDev) stop() {
	d.t.Helper()
	d.enough()
	d.behaving.Wait()
	d.producer.Close()
	if err := d.reader.Close(); err != nil {
		d.t.Error(err)
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if err := <-d.ended; err != nil {
		d.t.Errorf("brine dev: %v", err)
	}
	for _, c := range d.held {
		c.Close()
	}
}
