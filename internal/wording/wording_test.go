package wording

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/valyala/fastjson"
)

func failed[T any](_ T, err error) error { return err }

// TestPlain takes the texts from the libraries themselves, so that it notices changes in a later release.
func TestPlain(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	var number struct{ N int }
	for _, c := range []struct {
		err  error
		want string
	}{
		{failed(strconv.ParseInt("x", 10, 64)), `"x" is not a number`},
		{failed(strconv.ParseInt("99999999999999999999", 10, 64)), `"99999999999999999999" is out of range`},
		{failed(strconv.Atoi(`a"b`)), `"a\"b" is not a number`},
		{failed(strconv.ParseFloat("", 64)), `"" is not a number`},
		{failed(strconv.ParseBool("maybe")), `"maybe" is not true or false`},
		{failed(time.Parse(time.RFC3339, "soon")), `"soon" is not a time such as 2013-01-31T08:00:00Z`},
		{failed(time.Parse(time.RFC3339, "2013-13-31T08:00:00Z")), `"2013-13-31T08:00:00Z" is not a time such as 2013-01-31T08:00:00Z`},
		{failed(time.Parse(time.DateOnly, "2013-01-31T08:00:00Z")), `"2013-01-31T08:00:00Z" is not a time such as 2013-01-31T08:00:00Z`},
		{failed(time.ParseDuration("soon")), `"soon" is not a duration such as 10s, 5m or 2h`},
		{failed(time.ParseDuration("5")), `"5" is not a duration such as 10s, 5m or 2h`},
		{failed(time.ParseDuration("5x")), `"5x" is not a duration such as 10s, 5m or 2h`},
		{json.Unmarshal([]byte(`{"N":"x"}`), &number), `this JSON is a string, which is not expected`},
		{json.Unmarshal([]byte(`{]`), &number), `not JSON at ']'`},
		{json.Unmarshal([]byte(`{"N":`), &number), `the JSON ends too early`},
		{failed(fastjson.Parse("")), `not JSON`},
		{failed(fastjson.Parse(`{"a":}`)), `not JSON`},
		{failed(os.Open("no/such/file")), `no/such/file: no such file or directory`},
		{failed(url.Parse("http://a b/")), `"http://a b/" is not a URL`}, //nolint:staticcheck // invalid on purpose
		{failed(url.Parse("1a:b")), `"1a:b" is not a URL`},               //nolint:staticcheck // invalid on purpose
		{failed(new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:1")), `127.0.0.1:1: connection refused`},
		{failed(new(net.Dialer).DialContext(late, "tcp", "127.0.0.1:1")), `127.0.0.1:1: no answer in time`},
		{late.Err(), `no answer in time`},
		{fmt.Errorf("no answer in time: %w", late.Err()), `no answer in time`},
		{stopped.Err(), `stopped`},
		{failed(gzip.NewReader(bytes.NewReader([]byte{0x1f, 0x8b}))), `the file or the connection ended too early`},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nohost", Server: "1.1.1.1:53"}}, `no address is known for the host nohost`},
		{errors.New("kafka.(*Client).Produce: read tcp 127.0.0.1:4->127.0.0.1:5: read: connection reset by peer"), `127.0.0.1:5: connection reset by peer`},
		{&url.Error{Op: "Get", URL: "http://127.0.0.1:1/", Err: errors.New("dial tcp 127.0.0.1:1: connect: connection refused")}, `http://127.0.0.1:1/: 127.0.0.1:1: connection refused`},
		{kafka.GroupLoadInProgress, `the group's coordinator is still loading what it knows of the group`},
		{fmt.Errorf("commit: %w", kafka.GroupCoordinatorNotAvailable), `commit: the group's coordinator is not available`},
		{kafka.NotCoordinatorForGroup, `the broker does not coordinate the group`},
		{kafka.UnknownTopicOrPartition, `the request is for a topic or partition that does not exist on this broker`},
		{fmt.Errorf("partitions [0] of t: %w", kafka.NotEnoughReplicas), "partitions [0] of t: the number of in-sync replicas is lower than the configured minimum and requiredAcks is -1"},
		{errors.New("kafka brokers [a:1]: no answer: EOF"), `kafka brokers [a:1]: no answer: the connection was closed`},
		{errors.New(`row "a", 3 of 5: no such table`), `row "a", 3 of 5: no such table`},
	} {
		if got := Plain(fmt.Sprint(c.err)); got != c.want {
			t.Errorf("%v\n got %s\nwant %s", c.err, got, c.want)
		}
	}
}

// TestWriter: a log line quotes the text of an error again.
func TestWriter(t *testing.T) {
	var b strings.Builder
	slog.New(slog.NewTextHandler(Writer(&b), nil)).Warn("no", "error", failed(time.Parse(time.RFC3339, "soon")), "then", failed(strconv.Atoi("x y")))
	if got := regexp.MustCompile(`^time=\S+ `).ReplaceAllString(b.String(), ""); got != `level=WARN msg=no error="\"soon\" is not a time such as 2013-01-31T08:00:00Z" then="\"x y\" is not a number"`+"\n" {
		t.Errorf("%s", got)
	}
}
