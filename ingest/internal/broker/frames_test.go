package broker

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/segmentio/kafka-go"
)

// frame returns an answer as a broker sends it.
func frame(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

func TestFramesAreFollowed(t *testing.T) {
	long := frame(strings.Repeat("HTTP", wholeFrame))
	for _, c := range []struct {
		name, sent, read string
		err              error
	}{
		{"nothing", "", "", io.EOF},
		{"a length that has not come whole", "HTT", "", io.ErrUnexpectedEOF},
		{"answers", frame("") + frame("HTTP/1.1 in an answer") + frame("x"), frame("") + frame("HTTP/1.1 in an answer") + frame("x"), io.EOF},
		{"a short answer that has not come whole", frame("whole") + frame("torn")[:7], frame("whole"), io.ErrUnexpectedEOF},
		{"a short answer without its beginning", frame("torn")[:4], "", io.ErrUnexpectedEOF},
		{"long answers", long + long, long + long, io.EOF},
		{"a long answer that has not come whole", "\x20\x00\x00\x00rest", "\x20\x00\x00\x00rest", io.EOF},
		{"the longest and one byte", "\x20\x00\x00\x01", "", ErrNotKafka},
		{"a negative length", "\xff\xff\xff\xff", "", ErrNotKafka},
		{"HTTP", "HTTP/1.1 400 Bad Request\r\n", "", ErrNotKafka},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", "", ErrNotKafka},
		{"Redis", "-ERR unknown command\r\n", "", ErrNotKafka},
		{"SMTP", "220 mail ready\r\n", "", ErrNotKafka},
		{"MySQL", "\x4a\x00\x00\x00\x0a8.0.36", "", ErrNotKafka},
		{"HTTP after an answer", frame("answer") + "HTTP/1.1", frame("answer"), ErrNotKafka},
		{"an alert of TLS, which kafka-go knows", "\x15\x03\x03\x00\x02\x02\x46", "\x15\x03\x03\x00\x02\x02\x46", io.EOF},
		{"what follows one, which is not read", "\x15\x03\x03\x00\x02\x02\x46HTTP", "\x15\x03\x03\x00\x02\x02\x46", io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, pieces := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader,
			} {
				if read, err := readFrames(pieces(strings.NewReader(c.sent))); read != c.read || !errors.Is(err, c.err) {
					t.Errorf("%s: read %d bytes %.40q and %v, want %d bytes %.40q and %v", name, len(read), read, err, len(c.read), c.read, c.err)
				}
			}
		})
	}
}

// from is a connection that delivers a reader's bytes.
type from struct {
	net.Conn
	io.Reader
}

func (f from) Read(b []byte) (int, error) { return f.Reader.Read(b) }
func (from) Close() error                 { return nil }

// readFrames reads to the end, and returns the final error.
func readFrames(r io.Reader) (string, error) {
	f, read, b := newFramedConn(from{Reader: r}, func(error) {}), []byte(nil), make([]byte, 100)
	for {
		n, err := f.Read(b)
		if read = append(read, b[:n]...); err != nil {
			return string(read), err
		}
	}
}

// FuzzFrames checks that what is handed on is a prefix of what arrived, however it was split, and in whole answers if they are short. Only
// an alert of TLS ends it before everything has been read.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(frame("answer") + "HTTP/1.1"))
	f.Add([]byte("\x15\x03\x03\x00\x02\x02\x46"))
	f.Add([]byte("\x15\x03\x03\x00\x02\x02\x46HTTP"))
	f.Add([]byte(frame("whole") + frame("torn")[:7]))
	f.Fuzz(func(t *testing.T, sent []byte) {
		whole, err := readFrames(bytes.NewReader(sent))
		pieces, errPieces := readFrames(iotest.OneByteReader(bytes.NewReader(sent)))
		if whole != pieces || err.Error() != errPieces.Error() {
			t.Errorf("whole %q and %v, in pieces %q and %v", whole, err, pieces, errPieces)
		}
		alert := len(whole) >= tlsAlert && strings.HasPrefix(whole[len(whole)-tlsAlert:], "\x15\x03")
		if !strings.HasPrefix(string(sent), whole) || errors.Is(err, io.EOF) && whole != string(sent) && !alert {
			t.Errorf("read %q and %v of %q", whole, err, sent)
		}
	})
}

// TestOtherServersCostNothing: a server that is not Kafka is recognized at once, and its answer is not taken for the length of an array.
// kafka-go alone took 4.8 GB and minutes for an HTTP server's answer.
func TestOtherServersCostNothing(t *testing.T) {
	https := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer https.Close()
	start := func(t *testing.T, answer string, secure bool) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if secure {
			l = tls.NewListener(l, https.TLS)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				length := make([]byte, 4)
				_, _ = io.ReadFull(conn, length)
				_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(length))) // unread bytes would reset the connection
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		return l.Addr().String()
	}
	roots := x509.NewCertPool()
	roots.AddCert(https.Certificate())
	for _, c := range []struct {
		name, answer, want string
		config             *tls.Config
	}{
		{"HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", `not a Kafka broker: its answer begins with "HTTP"`, nil},
		{"HTTPS", "HTTP/1.1 400 Bad Request\r\n\r\n", `not a Kafka broker: its answer begins with "HTTP"`, &tls.Config{RootCAs: roots}},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", `not a Kafka broker: its answer begins with "SSH-"`, nil},
		{"TLS that we do not speak", "\x15\x03\x03\x00\x02\x02\x46", "broker appears to be expecting TLS", nil},
		{"a giant array in an answer that ends", "\x00\x00\x10\x00\x00\x00\x00\x01\x00\x00\x7f\xff\xff\xff", "EOF", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := start(t, c.answer, c.config != nil)
			kafkas := Kafka{Brokers: []string{address}}
			if c.config != nil {
				kafkas.TLS = func() *tls.Config { return c.config }
			}
			cluster := New(kafkas, 30*time.Second)
			defer cluster.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := cluster.client.Metadata(t.Context(), &kafka.MetadataRequest{})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), address) {
				t.Errorf("got %v\nwant %q, and %s", err, c.want, address)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
				t.Errorf("it took %d bytes", took)
			}
		})
	}
}
