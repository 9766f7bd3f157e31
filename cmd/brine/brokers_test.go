package main

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestBrokersWithoutConfiguration checks that commands that need only brokers take them from a flag or the environment, and need no file.
func TestBrokersWithoutConfiguration(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		brokers := strings.Join(j.brokers, ",")
		alone := func(settings []string, args ...string) (string, int) {
			t.Helper()
			cmd := j.command(args...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), settings...)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code >= 0 {
				return string(out), code
			}
			t.Fatal(err)
			return "", 0
		}
		file := filepath.Join(t.TempDir(), "scans.jsonl")
		if err := os.WriteFile(file, []byte(`{"waybill":"W1","action":"A","at":1357034220000}`+"\n"+`{"waybill":"W2","action":"A"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := alone(nil, "publish", "--brokers", brokers, "--topic", j.topic, "--key", "waybill", file); code != exitOK || !strings.Contains(out, "2 records published to "+j.topic) {
			t.Errorf("publish: exit %d: %s", code, out)
		}
		group := "BRINE_KAFKA_GROUP=" + j.name
		if out, code := alone([]string{group}, "offsets", "show", "--brokers", brokers); code != exitMissing || !strings.Contains(out, "know no group "+j.name+".PIPELINE.rows") {
			t.Errorf("offsets before there are any: exit %d: %s", code, out)
		}
		j.must("run", "-q", "-c", j.file, "--until-end")
		for name, given := range map[string]struct{ settings, flags []string }{
			"flag": {[]string{group}, []string{"--brokers", brokers}}, "environment": {[]string{group, "BRINE_KAFKA_BROKERS=" + brokers}, nil},
		} {
			if out, code := alone(given.settings, append([]string{"offsets", "show"}, given.flags...)...); code != exitOK ||
				!strings.Contains(out, "scans.rows: topic "+j.topic+", group "+j.name+".scans.rows") || !strings.HasSuffix(strings.TrimSpace(strings.Split(out, "no members")[0]), " 0") {
				t.Errorf("%s: offsets show: exit %d:\n%s", name, code, out)
			}
			if out, code := alone(given.settings, append([]string{"deadletters", "ls", "--text", "W2", "--pipeline", "scans"}, given.flags...)...); code != exitOK ||
				!strings.Contains(out, "scans.rows") || !strings.Contains(out, "missing_field") {
				t.Errorf("%s: deadletters ls: exit %d:\n%s", name, code, out)
			}
		}
		if out, code := alone([]string{group}, "offsets", "set", "--brokers", brokers, "--pipeline", "scans", "--to", "2h", "--yes"); code != exitOK || !strings.Contains(out, "offsets of 1 partition set") {
			t.Errorf("offsets set: exit %d:\n%s", code, out)
		}
		for partition, offset := range j.committed(j.group("rows")) {
			if offset != 0 {
				t.Errorf("partition %d goes on at %d", partition, offset)
			}
		}
		if out, code := alone(nil, "offsets", "show"); code != exitUsage || !strings.Contains(out, "hint: --brokers HOST:PORT needs no configuration") {
			t.Errorf("neither file nor brokers: exit %d: %s", code, out)
		}
		if out, code := alone(nil, "offsets", "show", "--brokers", "localhost"); code != exitUsage || !strings.Contains(out, "is not a valid broker address; write host:port") {
			t.Errorf("no address: exit %d: %s", code, out)
		}
	})
}

// TestBrokersThatDoNotAnswer checks that the silence of brokers is not taken for an empty answer.
func TestBrokersThatDoNotAnswer(t *testing.T) {
	socket, nobody, err := bound()
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(socket)
	for _, args := range [][]string{{"offsets", "show"}, {"offsets", "set", "--to", "latest"}, {"deadletters", "ls"}, {"deadletters", "show", "0:1"}} {
		code, stdout, stderr := brine(t, append(args, "--brokers", nobody)...)
		if code != exitUnreachable || stdout != "" || !strings.Contains(stderr, nobody+": connection refused") {
			t.Errorf("%q: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

// TestBrokersThatCloseTheConnection checks that the error names the broker and what the close may mean.
func TestBrokersThatCloseTheConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		says, hint   string
	}{
		{"without a word", "", "the connection was closed", "is Kafka running at kafka.brokers? A broker that requires kafka.sasl"},
		{"with an alert of TLS", "\x15\x03\x03\x00\x02\x02\x46", "expecting TLS", "the port speaks TLS: set kafka.tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					var length uint32 // length of a request: closing with unread data resets the connection
					if binary.Read(conn, binary.BigEndian, &length) == nil {
						_, _ = io.CopyN(io.Discard, conn, int64(length))
					}
					_, _ = io.WriteString(conn, c.answer)
					conn.Close()
				}
			}()
			code, stdout, stderr := brine(t, "offsets", "show", "--brokers", l.Addr().String())
			like := regexp.MustCompile(regexp.QuoteMeta(l.Addr().String()) + ": .*" + c.says + "(?s:.*)hint: " + regexp.QuoteMeta(c.hint))
			if code != exitUnreachable || stdout != "" || !like.MatchString(stderr) {
				t.Errorf("exit %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}
