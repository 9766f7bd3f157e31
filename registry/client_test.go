package registry

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"brine/internal/testenv"
)

const userSchema = `{"type":"record","name":"User","fields":[{"name":"id","type":"string"}]}`

// fake is a registry in this process that counts its requests.
type fake struct {
	*srfake.Registry
	requests atomic.Int64
}

func newFake(t *testing.T, options ...srfake.Option) *fake {
	f := &fake{Registry: srfake.New(options...)}
	t.Cleanup(f.Close)
	f.ClearInterceptors()
	f.Intercept(f.count)
	return f
}

func (f *fake) count(http.ResponseWriter, *http.Request) bool { f.requests.Add(1); return false }

// instead makes a handler answer until the returned function is called.
func (f *fake) instead(h func(w http.ResponseWriter, r *http.Request) bool) (end func()) {
	f.Intercept(h)
	return func() { f.ClearInterceptors(); f.Intercept(f.count) }
}

func answering(status int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// open returns a client whose clock stands still until it is moved.
func open(t *testing.T, o Options) (*Client, *testenv.Clock) {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	at := testenv.NewClock(time.Unix(1_700_000_000, 0))
	c.now = at.Now
	return c, at
}

func id(n int64) ID { return ID{Kind: Number, Number: n} }

func outcome(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no Error", err)
	}
	return e
}

func TestResolve(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 3, 7, sr.Schema{Schema: userSchema})
	f.SeedSchema("order-value", 1, 8, sr.Schema{Schema: `{"type":"object"}`, Type: sr.TypeJSON})
	c, _ := open(t, Options{URLs: []string{f.URL()}})
	if _, ok := c.Lookup(id(7)); ok {
		t.Fatal("a schema was there before it was asked for")
	}
	if err := c.Resolve(t.Context(), id(7), id(8), id(7)); err != nil {
		t.Fatal(err)
	}
	s, ok := c.Lookup(id(7))
	if !ok || s.Text != userSchema || s.Type != Avro || s.String() != "id 7 (user-value v3)" {
		t.Errorf("%+v", s)
	}
	if s, _ := c.Lookup(id(8)); s.Type != JSONSchema || s.Text != `{"type":"object"}` {
		t.Errorf("%+v", s)
	}
	before := f.requests.Load()
	if err := c.Resolve(t.Context(), id(7), id(8)); err != nil || f.requests.Load() != before {
		t.Errorf("%v, and %d more requests", err, f.requests.Load()-before)
	}
	if n := testing.AllocsPerRun(100, func() { c.Lookup(id(7)) }); n != 0 {
		t.Errorf("a look-up allocates %v times", n)
	}
}

func TestConcurrentFetchesAreOne(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	entered, release := make(chan struct{}, 100), make(chan struct{})
	f.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/schemas/ids/7" {
			entered <- struct{}{}
			<-release
		}
		return false
	})
	c, _ := open(t, Options{URLs: []string{f.URL()}})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() { first <- c.Resolve(ctx, id(7)) }()
	<-entered
	cancel() // the first caller leaves; the others are served all the same
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := c.Resolve(t.Context(), id(7)); err != nil {
				t.Error(err)
			}
		})
	}
	close(release)
	wg.Wait()
	if n := len(entered); n != 0 {
		t.Errorf("%d more requests for the schema", n)
	}
}

func TestGUID(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 2, 7, sr.Schema{Schema: userSchema})
	api, err := sr.NewClient(sr.URLs(f.URL()))
	if err != nil {
		t.Fatal(err)
	}
	found, err := api.SchemaByVersion(t.Context(), "user-value", 2)
	if err != nil {
		t.Fatal(err)
	}
	guid := ID{Kind: GUID, GUID: [16]byte(unhex(strings.ReplaceAll(found.GUID, "-", "")))}
	c, _ := open(t, Options{URLs: []string{f.URL()}, Cache: t.TempDir()})
	if err := c.Resolve(t.Context(), guid); err != nil {
		t.Fatal(err)
	}
	if s, _ := c.Lookup(guid); s.Text != userSchema || s.ID != guid {
		t.Errorf("%+v", s)
	}
}

// A registry may claim that a schema needs itself, or more than anybody can want.
func TestHostileReferences(t *testing.T) {
	for name, c := range map[string]struct{ format, want string }{
		"itself":  {`{"schema":"{}","references":[{"name":"a","subject":"s","version":1}]}`, ""},
		"endless": {`{"schema":"{}","references":[{"name":"%d","subject":"s","version":1}]}`, "more than 256 references, or they go deeper than 32"},
		"long":    {`{"schema":"` + strings.Repeat("x", 3000) + `","references":[{"name":"%d","subject":"s","version":1}]}`, "the answer is longer than 8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			n := 0
			f.instead(func(w http.ResponseWriter, r *http.Request) bool {
				n++
				return answering(http.StatusOK, strings.ReplaceAll(c.format, "%d", fmt.Sprint(n)))(w, r)
			})
			client, _ := open(t, Options{URLs: []string{f.URL()}, MaxAnswerBytes: 8 << 10})
			err := client.Resolve(t.Context(), id(7))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("city", 1, 1, sr.Schema{Schema: `{"city":1}`})
	f.SeedSchema("address", 2, 2, sr.Schema{Schema: `{"address":1}`, References: []sr.SchemaReference{{Name: "City", Subject: "city", Version: 1}}})
	f.SeedSchema("user", 1, 3, sr.Schema{Schema: `{"user":1}`, References: []sr.SchemaReference{
		{Name: "Address", Subject: "address", Version: 2}, {Name: "City", Subject: "city", Version: 1}}})
	c, _ := open(t, Options{URLs: []string{f.URL()}})
	if err := c.Resolve(t.Context(), id(3)); err != nil {
		t.Fatal(err)
	}
	s, _ := c.Lookup(id(3))
	got, _ := json.Marshal(s.References)
	want := `[{"name":"City","subject":"city","version":1,"text":"{\"city\":1}"},{"name":"Address","subject":"address","version":2,"text":"{\"address\":1}"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if files := s.Files(); files["City"] != `{"city":1}` || len(files) != 2 {
		t.Errorf("files: %v", files)
	}
}

// One registry compiles Protobuf and answers with descriptors, another answers with the text for either form.
func TestProtobuf(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("a.proto", 1, 1, sr.Schema{Schema: `syntax = "proto3"; message A {}`, Type: sr.TypeProtobuf})
	f.SeedSchema("b", 1, 2, sr.Schema{Schema: `syntax = "proto3"; import "a.proto"; message B { A a = 1; }`, Type: sr.TypeProtobuf,
		References: []sr.SchemaReference{{Name: "a.proto", Subject: "a.proto", Version: 1}}})
	for _, compiles := range []bool{false, true} {
		end := f.instead(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("format") != "serialized" || !compiles {
				return false
			}
			return answering(http.StatusOK, `{"schemaType":"PROTOBUF","schema":"CgVh"}`)(w, r)
		})
		c, _ := open(t, Options{URLs: []string{f.URL()}})
		if err := c.Resolve(t.Context(), id(2)); err != nil {
			t.Fatal(err)
		}
		s, _ := c.Lookup(id(2))
		if s.Type != Protobuf || !strings.Contains(s.Text, "message B") || !strings.Contains(s.References[0].Text, "message A") {
			t.Errorf("%+v", s)
		}
		if (string(s.Descriptor) == "\n\x05a") != compiles || (s.References[0].Descriptor != nil) != compiles {
			t.Errorf("compiles %v: descriptor %q", compiles, s.Descriptor)
		}
		end()
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		want   Outcome
		text   string
	}{
		{"500", answering(500, `{"error_code":50001,"message":"store"}`), Retry, `status 500: it answered "store"; check the registry`},
		{"503 of a proxy", answering(503, "<html>down</html>"), Retry, `status 503: it answered "<html>down</html>"`},
		{"408", answering(408, ""), Retry, "status 408: it answered \"no response\""},
		{"429", answering(429, "slow down"), Retry, "status 429"},
		{"401", answering(401, `{"error_code":401,"message":"Unauthorized"}`), Denied, "may not be read: GET http://"},
		{"403", answering(403, ``), Denied, "allow brine's user to read"},
		{"404", answering(404, `{"error_code":40403,"message":"Schema 7 not found"}`), Retry, `is not known yet: GET http://`},
		{"redirection", answering(302, ""), Retry, "set registry.url to the address"},
		{"garbage", answering(200, "<html>login</html>"), Retry, "its answer is not the JSON of a registry; check what answers"},
		{"an object of something else", answering(200, `{"a":1}`), Retry, "the answer holds no schema"},
		{"a list", answering(200, `[]`), Retry, "its answer is not the JSON"},
		{"huge", func(w http.ResponseWriter, _ *http.Request) bool {
			for range 100 {
				_, _ = w.Write(make([]byte, 1<<10))
			}
			return true
		}, Retry, "the answer is longer than 65536 bytes"},
		{"ends early", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"schema":`)
			return true
		}, Retry, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.instead(c.answer)
			client, _ := open(t, Options{URLs: []string{f.URL()}, MaxAnswerBytes: 64 << 10})
			e := outcome(t, client.Resolve(t.Context(), id(7)))
			if e.Outcome != c.want || !strings.Contains(e.Error(), c.text) || !strings.Contains(e.Error(), "/schemas/ids/7: ") || e.ID != id(7) {
				t.Errorf("%s: %v\nwant %s with %q", e.Outcome, e, c.want, c.text)
			}
			if e.Advice() == "" || e.Wait <= 0 {
				t.Errorf("advice %q, wait %v", e.Advice(), e.Wait)
			}
			if _, ok := client.Lookup(id(7)); ok {
				t.Error("there is a schema")
			}
		})
	}
}

// The length of an answer counts without compression.
func TestCompressedAnswer(t *testing.T) {
	f := newFake(t)
	f.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 10<<20))
		_ = z.Close()
		return true
	})
	c, _ := open(t, Options{URLs: []string{f.URL()}, MaxAnswerBytes: 64 << 10})
	if e := outcome(t, c.Resolve(t.Context(), id(7))); !strings.Contains(e.Error(), "the answer is longer than 65536 bytes") {
		t.Errorf("%v", e)
	}
}

// Redirects are not followed: the password would go with them.
func TestRedirectionIsNotFollowed(t *testing.T) {
	f, other := newFake(t), newFake(t)
	f.instead(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL(), http.StatusTemporaryRedirect)
		return true
	})
	c, _ := open(t, Options{URLs: []string{f.URL()}, Token: "hunter2"})
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || e.Status != 307 || other.requests.Load() != 0 {
		t.Errorf("%v, and %d requests elsewhere", e, other.requests.Load())
	}
}

// The next server is used if one is not there.
func TestSeveralServers(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	c, _ := open(t, Options{URLs: []string{"http://127.0.0.1:1", f.URL()}})
	if err := c.Resolve(t.Context(), id(7)); err != nil {
		t.Error(err)
	}
	if e := outcome(t, c.Resolve(t.Context(), id(8))); !strings.HasPrefix(e.URL, f.URL()) {
		t.Errorf("%v", e)
	}
	gone := f.URL()
	f.Close()
	if e := outcome(t, c.Resolve(t.Context(), id(9))); !strings.HasPrefix(e.URL, gone) {
		t.Errorf("%v", e)
	}
}

// A registry requires a client certificate, and has a certificate that no system knows.
func TestTLS(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	s := httptest.NewUnstartedServer(f.Handler())
	// With TLS 1.3 a client learns that its certificate is missing after the handshake, and may find the connection closed before it does.
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	both := &tls.Config{RootCAs: known, Certificates: s.TLS.Certificates}
	for _, c := range []struct {
		tls  func() *tls.Config
		want string
	}{
		{func() *tls.Config { return both }, ""},
		{nil, "name the authorities that signed the registry's certificate: registry.tls.ca"},
		{func() *tls.Config { return &tls.Config{RootCAs: known} }, "tls: handshake failure"},
	} {
		client, _ := open(t, Options{URLs: []string{s.URL}, TLS: c.tls})
		if err := client.Resolve(t.Context(), id(7)); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	client, _ := open(t, Options{URLs: []string{strings.Replace(f.URL(), "http:", "https:", 1)}})
	if e := outcome(t, client.Resolve(t.Context(), id(7))); !strings.Contains(e.Error(), "write http:// in registry.url") {
		t.Errorf("%v", e)
	}
}

func TestNobodyThere(t *testing.T) {
	c, _ := open(t, Options{URLs: []string{"http://127.0.0.1:1"}}) // a port that was free might be somebody's by now
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || !strings.Contains(e.Error(), "connection refused; check that the registry is running") {
		t.Errorf("%v", e)
	}
}

// hanging is a registry that sends nothing, or begins an answer and continues with a byte now and then.
type hanging struct{ begins bool }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.begins {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(slow{r.Context()})}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

type slow struct{ ctx context.Context }

func (s slow) Read(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		return copy(p[:1], " "), nil
	}
}

// A hanging registry is abandoned after the timeout of a request, however long it continues to answer.
func TestHangs(t *testing.T) {
	for name, h := range map[string]hanging{"nothing": {}, "byte by byte": {begins: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := open(t, Options{URLs: []string{"http://registry:8081"}, Transport: h})
				began := time.Now()
				e := outcome(t, c.Resolve(t.Context(), id(7)))
				if e.Outcome != Retry || !strings.Contains(e.Error(), "no complete answer within 10s") || time.Since(began) != 10*time.Second {
					t.Errorf("after %v: %v", time.Since(began), e)
				}
			})
		})
	}
}

// A registry whose answers are each in time is abandoned too.
func TestManyLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		late := roundTrip(func(r *http.Request) (*http.Response, error) {
			select {
			case <-r.Context().Done():
				return nil, r.Context().Err()
			case <-time.After(9 * time.Second):
			}
			n++
			body := fmt.Sprintf(`{"schema":"{}","references":[{"name":"%d","subject":"s","version":1}]}`, n)
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
		})
		c, _ := open(t, Options{URLs: []string{"http://registry:8081"}, Transport: late})
		began := time.Now()
		if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || time.Since(began) != 40*time.Second {
			t.Errorf("after %v: %v", time.Since(began), e)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Close ends what hangs.
func TestCloseWhileFetching(t *testing.T) {
	f := newFake(t)
	entered := make(chan struct{})
	f.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		close(entered)
		<-r.Context().Done()
		return true
	})
	c, _ := open(t, Options{URLs: []string{f.URL()}, Timeout: time.Hour})
	done := make(chan error)
	go func() { done <- c.Resolve(t.Context(), id(7)) }()
	<-entered
	c.Close()
	if e := outcome(t, <-done); e.Outcome != Retry {
		t.Errorf("%v", e)
	}
	if e := outcome(t, c.Resolve(t.Context(), id(8))); !strings.Contains(e.Error(), "the client was closed") {
		t.Errorf("%v", e)
	}
}

func TestNotFoundForAMoment(t *testing.T) {
	f := newFake(t)
	c, at := open(t, Options{URLs: []string{f.URL()}})
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || e.Status != 404 || e.Code != 40403 {
		t.Fatalf("%v", e)
	}
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	asked := f.requests.Load()
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || f.requests.Load() != asked {
		t.Errorf("%v, and %d requests", e, f.requests.Load()-asked)
	}
	at.Pass(time.Second)
	if err := c.Resolve(t.Context(), id(7)); err != nil {
		t.Error(err)
	}
}

func TestUnknown(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 8, sr.Schema{Schema: userSchema})
	c, at := open(t, Options{URLs: []string{f.URL()}, UnknownAfter: 30 * time.Second})
	for range 29 {
		if e := outcome(t, c.Resolve(t.Context(), id(7), id(8))); e.Outcome != Retry {
			t.Fatalf("%v", e)
		}
		at.Pass(time.Second)
	}
	at.Pass(time.Second)
	e := outcome(t, c.Resolve(t.Context(), id(7), id(8)))
	if e.Outcome != Unknown || !strings.Contains(e.Error(), "schema of id 7 is unknown: GET http://") {
		t.Errorf("%v", e)
	}
	if _, ok := c.Lookup(id(8)); !ok {
		t.Error("the other id is not in memory")
	}
	asked := f.requests.Load()
	if _, err := c.Schema(t.Context(), id(7)); outcome(t, err).Outcome != Unknown || f.requests.Load() != asked {
		t.Errorf("%v, and %d requests", err, f.requests.Load()-asked)
	}
	f.SeedSchema("user-value", 2, 7, sr.Schema{Schema: userSchema}) // it appears after all
	at.Pass(10 * time.Second)
	if err := c.Resolve(t.Context(), id(7)); err != nil {
		t.Error(err)
	}
}

// The time of each id begins with its first request, even if others of the same call are not there either.
func TestManyUnknownWaitTogether(t *testing.T) {
	f := newFake(t)
	c, at := open(t, Options{URLs: []string{f.URL()}, Calls: 1})
	var ids []ID
	for n := range 50 {
		ids = append(ids, id(int64(100+n)))
	}
	if e := outcome(t, c.Resolve(t.Context(), ids...)); e.Outcome != Retry {
		t.Errorf("%v", e)
	}
	at.Pass(time.Minute)
	if e := outcome(t, c.Resolve(t.Context(), ids...)); e.Outcome != Unknown {
		t.Errorf("%v", e)
	}
}

// Failures are remembered for a bounded number of ids.
func TestFailuresAreBounded(t *testing.T) {
	c, at := open(t, Options{URLs: []string{"http://127.0.0.1:1"}})
	for n := range maxFailures + 10 {
		at.Pass(10 * time.Second)
		c.fail(t.Context(), id(int64(n)), errNoSchema)
	}
	if n := len(c.failed); n != maxFailures || c.failed[id(0)] != nil || c.failed[id(maxFailures)] == nil {
		t.Errorf("%d failures", n)
	}
}

// What was seen of an id before an outage does not count after it: a registry that comes up may not have read all of its schemas yet.
func TestAnOutageBeginsTheWaitAgain(t *testing.T) {
	f := newFake(t)
	c, at := open(t, Options{URLs: []string{f.URL()}})
	_ = c.Resolve(t.Context(), id(7))
	at.Pass(50 * time.Second)
	end := f.instead(answering(503, ""))
	_ = c.Resolve(t.Context(), id(7))
	end()
	for _, after := range []time.Duration{10 * time.Second, 50 * time.Second} {
		at.Pass(after)
		if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry {
			t.Errorf("%v", e)
		}
	}
	at.Pass(10 * time.Second)
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Unknown {
		t.Errorf("%v", e)
	}
}

// A server that is not a registry has no id at all: that must not turn a topic into dead letters.
func TestAnotherServerMakesNoIDUnknown(t *testing.T) {
	f := newFake(t)
	f.instead(answering(404, "<html>no such page</html>"))
	c, at := open(t, Options{URLs: []string{f.URL()}})
	_ = c.Resolve(t.Context(), id(7))
	at.Pass(time.Hour)
	if e := outcome(t, c.Resolve(t.Context(), id(7))); e.Outcome != Retry || !strings.Contains(e.Advice(), "registry.url up to where /schemas begins") {
		t.Errorf("%v", e)
	}
}

func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		o      Options
	}{
		"basic":  {"Basic dTpodW50ZXIy", Options{Username: "u", Password: "hunter2"}},
		"bearer": {"Bearer hunter2", Options{Token: "hunter2"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, srfake.WithAuth(c.header))
			f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
			c.o.URLs = []string{f.URL()}
			client, _ := open(t, c.o)
			if err := client.Resolve(t.Context(), id(7)); err != nil {
				t.Error(err)
			}
			without, _ := open(t, Options{URLs: []string{f.URL()}})
			if e := outcome(t, without.Resolve(t.Context(), id(7))); e.Outcome != Denied {
				t.Errorf("%v", e)
			}
			// A registry that repeats what it was sent reveals nothing.
			f.instead(func(w http.ResponseWriter, r *http.Request) bool {
				return answering(500, fmt.Sprint(r.Header, "hunter2"))(w, r)
			})
			e := outcome(t, client.Resolve(t.Context(), id(8)))
			if text := e.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVyMg") || strings.Contains(text, "dTpodW50ZXIy") {
				t.Error(text)
			}
		})
	}
}

func TestRestartDuringAnOutage(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("city", 1, 1, sr.Schema{Schema: `{"city":1}`})
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema, References: []sr.SchemaReference{{Name: "City", Subject: "city", Version: 1}}})
	o := Options{URLs: []string{f.URL()}, Cache: t.TempDir()}
	c, _ := open(t, o)
	if err := c.Resolve(t.Context(), id(7)); err != nil {
		t.Fatal(err)
	}
	want, _ := c.Lookup(id(7))
	c.Close()
	f.instead(answering(503, ""))

	again, _ := open(t, o)
	if err := again.Resolve(t.Context(), id(7)); err != nil {
		t.Fatal(err)
	}
	got, _ := again.Lookup(id(7))
	if g, w := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
	if e := outcome(t, again.Resolve(t.Context(), id(8))); e.Outcome != Retry {
		t.Errorf("one that was never seen: %v", e)
	}
	other, _ := open(t, Options{URLs: []string{f.URL() + "/other"}, Cache: o.Cache})
	if e := outcome(t, other.Resolve(t.Context(), id(7))); e.Outcome != Retry {
		t.Errorf("of another registry: %v", e)
	}
}

// What is kept belongs to the registry, whose URLs may be written in any order.
func TestTheOrderOfURLsKeepsTheCache(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("city", 1, 1, sr.Schema{Schema: `{"city":1}`})
	replica, folder := f.URL()+"/replica", t.TempDir()
	c, _ := open(t, Options{URLs: []string{f.URL(), replica}, Cache: folder})
	if err := c.Resolve(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	f.instead(answering(503, ""))
	for _, urls := range [][]string{{replica, f.URL()}, {f.URL(), replica, f.URL()}} {
		again, _ := open(t, Options{URLs: urls, Cache: folder})
		if err := again.Resolve(t.Context(), id(1)); err != nil {
			t.Errorf("%v: %v", urls, err)
		}
	}
	for _, urls := range [][]string{{f.URL()}, {replica}, {f.URL(), f.URL() + "/other"}} {
		other, _ := open(t, Options{URLs: urls, Cache: folder})
		if e := outcome(t, other.Resolve(t.Context(), id(1))); e.Outcome != Retry {
			t.Errorf("%v, which may be another registry: %v", urls, e)
		}
	}
}

func TestCorruptedFileIsFetchedAgain(t *testing.T) {
	f := newFake(t)
	f.SeedSchema("user-value", 1, 7, sr.Schema{Schema: userSchema})
	o := Options{URLs: []string{f.URL()}, Cache: t.TempDir()}
	c, _ := open(t, o)
	if err := c.Resolve(t.Context(), id(7)); err != nil {
		t.Fatal(err)
	}
	path := c.dir.path(id(7))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 1
	for name, text := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)-3], "a bit flipped": flipped, "something else": []byte("hello\n")} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var kept []KeptInfo
		o.Hooks.Kept = func(i KeptInfo) { kept = append(kept, i) }
		again, _ := open(t, o)
		if s, err := again.Schema(t.Context(), id(7)); err != nil || s.Text != userSchema {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		if len(kept) != 2 || kept[0].Err == nil || kept[0].Written || kept[1].Err != nil || !kept[1].Written || kept[0].Path != path {
			t.Errorf("%s: %+v", name, kept)
		}
		if now, _ := os.ReadFile(path); string(now) != string(whole) {
			t.Errorf("%s: the file is not as before", name)
		}
	}
	// The file of one id has the name of another.
	if err := os.WriteFile(c.dir.path(id(8)), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	again, _ := open(t, o)
	if err := again.Resolve(t.Context(), id(8)); outcome(t, err).Status != 404 {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Cache, "*", "*.tmp")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	f := newFake(t)
	long := strings.Repeat(" ", 1<<10)
	const ids, most = 1000, 100 << 10
	for n := range ids {
		f.SeedSchema(fmt.Sprint("s", n), 1, n+1, sr.Schema{Schema: userSchema + long})
	}
	var last CachedInfo
	c, _ := open(t, Options{URLs: []string{f.URL()}, MaxBytes: most, Calls: 1, Hooks: Hooks{Cached: func(i CachedInfo) {
		if i.Bytes > most || i.Schemas > 100 {
			t.Errorf("%+v", i)
		}
		last = i
	}}})
	for n := range ids {
		if _, err := c.Schema(t.Context(), id(int64(n+1))); err != nil {
			t.Fatal(err)
		}
		c.Lookup(id(1)) // a used one stays
	}
	if _, ok := c.Lookup(id(1)); !ok || last.Schemas < 20 {
		t.Errorf("the one in use is there: %v; %+v", ok, last)
	}
	if _, ok := c.Lookup(id(2)); ok {
		t.Error("the one not used for longest is there")
	}
	few, _ := open(t, Options{URLs: []string{f.URL()}, MaxSchemas: 10})
	for n := range 30 {
		if err := few.Resolve(t.Context(), id(int64(n+1))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(few.memory.entries); n != 10 {
		t.Errorf("%d schemas", n)
	}
}

// apicurio answers as Apicurio's two APIs do: the contentId of globalId 70 is 7.
func apicurio(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/ccompat/v7/schemas/ids/7", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"schema": userSchema, "schemaType": "AVRO"})
	})
	mux.HandleFunc("GET /apis/registry/v3/search/versions", func(w http.ResponseWriter, r *http.Request) {
		versions := []any{}
		if r.URL.Query().Get("globalId") == "70" && r.Header.Get("Accept") == "application/json" {
			versions = append(versions, map[string]any{"globalId": 70, "contentId": 7})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"count": len(versions), "versions": versions})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestApicurio(t *testing.T) {
	s := apicurio(t)
	c, at := open(t, Options{URLs: []string{s.URL + "/apis/ccompat/v7"}, Framing: ApicurioGlobal})
	content, global := ID{Kind: ContentID, Number: 7}, ID{Kind: GlobalID, Number: 70}
	if err := c.Resolve(t.Context(), content, global); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{content, global} {
		if s, _ := c.Lookup(id); s.Text != userSchema || s.ID != id {
			t.Errorf("%s: %+v", id, s)
		}
	}
	missing := ID{Kind: GlobalID, Number: 7} // a contentId, and not a globalId
	_ = c.Resolve(t.Context(), missing)
	at.Pass(time.Hour)
	if e := outcome(t, c.Resolve(t.Context(), missing)); e.Outcome != Unknown || !strings.Contains(e.Error(), "/apis/registry/v3/search/versions") {
		t.Errorf("%v", e)
	}
	confluent, _ := open(t, Options{URLs: []string{s.URL}})
	if e := outcome(t, confluent.Resolve(t.Context(), global)); e.Outcome != Denied {
		t.Errorf("%v", e)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "Options.URLs is empty"},
		{Options{URLs: []string{"localhost:8081"}}, "URLs[0] is not a URL"},
		{Options{URLs: []string{"http://u:hunter2@h:8081"}}, "URLs[0] holds a user name"},
		{Options{URLs: []string{"http://h"}, Framing: "x"}, "Framing is not one of [confluent apicurio"},
		{Options{URLs: []string{"http://h"}, Token: "a", Username: "b"}, "both Token and"},
		{Options{URLs: []string{"http://h"}, Calls: -1}, "Calls is negative"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
}
