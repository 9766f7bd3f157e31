package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// filled sets every field of a message: texts, numbers, and two elements in each array.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Uint8 {
				e.SetUint('b')
			} else {
				filled(e)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i))
			}
		}
	}
}

// eachAnswer calls do with a full answer, as kafka-go writes it, of each kind and version that it decodes.
func eachAnswer(t testing.TB, do func(c call, answer []byte)) {
	for key, is := range answerTypes {
		for version := key.MinVersion(); version <= key.MaxVersion(); version++ {
			message := reflect.New(is)
			filled(message.Elem())
			var out bytes.Buffer
			if err := protocol.WriteResponse(&out, version, 7, message.Interface().(protocol.Message)); err != nil {
				t.Fatalf("%v version %d: %v", key, version, err)
			}
			do(call{key, version, 7}, out.Bytes())
		}
	}
}

// TestAnswersThatAreWholePass checks that what kafka-go reads of an answer is what the walk passes over, to the last byte.
func TestAnswersThatAreWholePass(t *testing.T) {
	eachAnswer(t, func(c call, answer []byte) {
		if err := c.check(answer[4:]); err != nil {
			t.Errorf("%v version %d: %v", c.key, c.version, err)
		}
		for end := 4; end < len(answer); end++ {
			if c.check(answer[4:end]) == nil {
				t.Errorf("%v version %d: %d of its %d bytes pass", c.key, c.version, end, len(answer))
			}
		}
	})
	if err := (call{protocol.Metadata, 1, 8}).check(make([]byte, 100)); !errors.Is(err, ErrMalformed) {
		t.Errorf("another id: %v", err)
	}
}

// cost returns the bytes that f allocates.
func cost(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// decode lets kafka-go decode an answer that passes the check.
func decode(t *testing.T, c call, answer []byte) {
	if _, _, err := protocol.ReadResponse(bytes.NewReader(answer), c.key, c.version); err != nil {
		t.Errorf("%v version %d passes: %v", c.key, c.version, err)
	}
}

// TestGiantsInAnswersAreRefused puts a giant number at every place of every answer. What passes the check costs kafka-go no memory: without
// the check, an array of 2³¹ elements or a text of 2⁶³ bytes ended the process.
func TestGiantsInAnswersAreRefused(t *testing.T) {
	refused := 0
	eachAnswer(t, func(c call, whole []byte) {
		for _, giant := range [][]byte{
			binary.BigEndian.AppendUint32(nil, math.MaxInt32), binary.BigEndian.AppendUint32(nil, 20_000_000),
			binary.AppendUvarint(nil, 1<<28), binary.AppendUvarint(nil, 1<<63), binary.AppendUvarint(nil, math.MaxUint64),
		} {
			took := cost(func() {
				for at := 8; at+len(giant) <= len(whole); at++ {
					answer := bytes.Clone(whole)
					copy(answer[at:], giant)
					if c.check(answer[4:]) != nil {
						refused++
					} else {
						decode(t, c, answer)
					}
				}
			})
			if took > 4<<20 {
				t.Errorf("%v version %d with %x takes %d bytes", c.key, c.version, giant, took)
			}
		}
	})
	if refused < 1000 {
		t.Errorf("only %d are refused", refused)
	}
}

// FuzzAnswers checks that kafka-go decodes whatever passes the check, in memory of some multiple of its length.
func FuzzAnswers(f *testing.F) {
	eachAnswer(f, func(c call, answer []byte) { f.Add(int16(c.key), c.version, answer) })
	f.Fuzz(func(t *testing.T, key, version int16, answer []byte) {
		c := call{protocol.ApiKey(key), version, 7}
		is := answerTypes[c.key]
		if is == nil || version < c.key.MinVersion() || version > c.key.MaxVersion() || len(answer) < 4 {
			return
		}
		binary.BigEndian.PutUint32(answer, uint32(len(answer)-4))
		if c.check(answer[4:]) == nil {
			if took := cost(func() { decode(t, c, answer) }); took > 1<<20+uint64(200*len(answer)) {
				t.Errorf("%v version %d: %d bytes take %d", c.key, version, len(answer), took)
			}
		}
	})
}

// TestAHostileBrokerCostsNothing: a broker that speaks the protocol, and announces more than it sends, is named as what is wrong.
func TestAHostileBrokerCostsNothing(t *testing.T) {
	giant := binary.BigEndian.AppendUint32(make([]byte, 4), math.MaxInt32) // throttle time, then so many brokers
	for _, c := range []struct{ name, metadata, want string }{
		{"a giant array", string(giant) + strings.Repeat("\x00", 1000), "announce more than they hold"},
		{"a giant array in a long answer", string(giant) + strings.Repeat("\x00", 2*wholeFrame), "announce more than they hold"},
		{"a longer answer than any", "\x00long", "at most 33554432 are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := brokerAnswering(t, func(asked call) string {
				if asked.key == protocol.ApiVersions {
					return "\x00\x00" + "\x00\x00\x00\x02" + "\x00\x03\x00\x01\x00\x08" + "\x00\x12\x00\x00\x00\x00"
				}
				return c.metadata
			})
			cluster := New(Kafka{Brokers: []string{address}}, 30*time.Second)
			defer cluster.Close()
			var err error
			took := cost(func() { _, err = cluster.client.Metadata(t.Context(), &kafka.MetadataRequest{}) })
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), address) {
				t.Errorf("got %v\nwant %q, and %s", err, c.want, address)
			}
			if took > 16<<20 {
				t.Errorf("it took %d bytes", took)
			}
		})
	}
}

// brokerAnswering starts a server that answers each request with what answer returns; a "\x00long" announces a long one instead.
func brokerAnswering(t *testing.T, answer func(call) string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		for {
			request := make([]byte, 4)
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			request = append(request, make([]byte, binary.BigEndian.Uint32(request))...)
			if _, err := io.ReadFull(conn, request[4:]); err != nil {
				return
			}
			asked, _ := callOf(request)
			body := string(binary.BigEndian.AppendUint32(nil, uint32(asked.id))) + answer(asked)
			if strings.HasSuffix(body, "\x00long") {
				body = "\x02\x00\x00\x01" + body
			} else {
				body = frame(body)
			}
			if _, err := io.WriteString(conn, body); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

// TestAnAnswerThatWasGivenUpIsNotTakenForTheNext checks that the rest of an answer cannot answer another request.
func TestAnAnswerThatWasGivenUpIsNotTakenForTheNext(t *testing.T) {
	request := "\x00\x00\x00\x08" + "\x00\x01" + "\x00\x0b" + "\x00\x00\x00\x07"
	f := newFramedConn(duplex{strings.NewReader(frame(strings.Repeat("a", wholeFrame+1))), nil}, func(error) {})
	if _, err := io.WriteString(f, request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, request); !errors.Is(err, errUnread) {
		t.Error(err)
	}
}

// duplex is a connection that delivers a reader's bytes and takes whatever is written.
type duplex struct {
	io.Reader
	net.Conn
}

func (d duplex) Read(b []byte) (int, error) { return d.Reader.Read(b) }
func (duplex) Write(b []byte) (int, error)  { return len(b), nil }

// TestRequestsWithoutALayoutAreRefused: kafka-go would decode their answers without a check.
func TestRequestsWithoutALayoutAreRefused(t *testing.T) {
	f := newFramedConn(duplex{strings.NewReader(""), nil}, func(error) {})
	if _, err := io.WriteString(f, "\x00\x00\x00\x08"+"\x00\x1d"+"\x00\x01"+"\x00\x00\x00\x07"); err == nil ||
		!strings.Contains(err.Error(), "no layout for the answer to the DescribeAcls request") {
		t.Error(err)
	}
	// Except for the credentials that Kafka before 1.0 takes after the handshake.
	if _, err := io.WriteString(f, "\x00\x00\x00\x08"+"\x00\x11"+"\x00\x00"+"\x00\x00\x00\x07"); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(f, "\x00\x00\x00\x0a\x00user\x00word"); err != nil {
		t.Error(err)
	}
}
