package serve_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"brine/console"
	"brine/serve"
)

// pagesFS returns a small console.
func pagesFS() fstest.MapFS {
	return fstest.MapFS{
		"index.html":           {Data: []byte("<!doctype html><title>t</title>" + strings.Repeat("<p>text</p>", 50))},
		"pages.txt":            {Data: []byte("/\n/orders\n")},
		"assets/index-abc.js":  {Data: []byte(strings.Repeat("run();\n", 100))},
		"assets/index-abc.css": {Data: []byte("p { color: red }")},
		"secret.txt":           {Data: []byte("not below assets")},
	}
}

func TestConsoleIsServed(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Console = pagesFS() })
	for _, c := range []struct{ path, kind, cache string }{
		{"/", "text/html; charset=utf-8", "no-cache"},
		{"/orders", "text/html; charset=utf-8", "no-cache"},
		{"/orders?status=paid", "text/html; charset=utf-8", "no-cache"},
		{"/assets/index-abc.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"/assets/index-abc.css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
	} {
		w := s.ask("GET", c.path, "", "Accept", "text/html")
		h := w.Header()
		if w.Code != 200 || h.Get("Content-Type") != c.kind || h.Get("Cache-Control") != c.cache || w.Body.Len() == 0 {
			t.Errorf("GET %s: %d, %v", c.path, w.Code, h)
		}
		policy := h.Get("Content-Security-Policy")
		if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: the policy is %q, of %v", c.path, policy, h)
		}
		tag := h.Get("ETag")
		if again := s.ask("GET", c.path, "", "If-None-Match", tag); again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("GET %s with its tag %s: %d", c.path, tag, again.Code)
		}
		if head := s.ask("HEAD", c.path, ""); head.Code != 200 {
			t.Errorf("HEAD %s: %d", c.path, head.Code)
		}
		if post := s.ask("POST", c.path, "{}"); post.Code != 405 {
			t.Errorf("POST %s: %d", c.path, post.Code)
		}
	}
}

func TestConsoleIsPackedOnce(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Console = pagesFS() })
	const script = "/assets/index-abc.js"
	plain := s.ask("GET", script, "").Body.Bytes()
	for accepted, packed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "br": false, "": false} {
		w := s.ask("GET", script, "", "Accept-Encoding", accepted)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed || w.Header().Get("Vary") == "" {
			t.Errorf("accepting %q: %v", accepted, w.Header())
		}
		if packed && !bytes.Equal(unpacked(t, w), plain) {
			t.Errorf("accepting %q: another text", accepted)
		}
	}
	if w := s.ask("GET", "/assets/index-abc.css", "", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("what is not smaller is not packed")
	}
}

func unpacked(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	r, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestConsoleServesItsFilesAlone checks that no path leads to a file other than the console's.
func TestConsoleServesItsFilesAlone(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Console = pagesFS() })
	for _, path := range []string{
		"/assets/../secret.txt", "/assets/%2e%2e/secret.txt", "/assets/..%2fsecret.txt", "/assets/%2e%2e%2fsecret.txt", "/assets/..%5csecret.txt",
		"/assets/%5c..%5csecret.txt", "/assets//index-abc.js", "//assets/index-abc.js", "/assets/./index-abc.js", "/assets/index-abc.js/", "/assets/",
		"/assets", "/assets/index-abc.js%00", "/assets/INDEX-ABC.js", "/assets/assets%2findex-abc.js", "/secret.txt", "/index.html", "/pages.txt",
		"/orders/", "/orders/..", "/accounts", "/favicon.ico", "/assets/none.js",
	} {
		if w := s.ask("GET", path, ""); w.Code != 404 || strings.Contains(w.Body.String(), "secret.txt") || strings.Contains(w.Body.String(), "run()") {
			t.Errorf("GET %s: %d %s", path, w.Code, w.Body)
		}
	}
	without := newShop(t, nil)
	for _, path := range []string{"/", "/orders", "/assets/index-abc.js"} {
		if w := without.ask("GET", path, ""); w.Code != 404 {
			t.Errorf("GET %s without a console: %d", path, w.Code)
		}
	}
}

func TestConsoleIsWhole(t *testing.T) {
	for name, spoil := range map[string]func(fstest.MapFS){
		"no index":      func(f fstest.MapFS) { delete(f, "index.html") },
		"no pages":      func(f fstest.MapFS) { delete(f, "pages.txt") },
		"a strange one": func(f fstest.MapFS) { f["pages.txt"] = &fstest.MapFile{Data: []byte("/api/v1/views\n")} },
		"no path":       func(f fstest.MapFS) { f["pages.txt"] = &fstest.MapFile{Data: []byte("/a/../b\n")} },
		"no type":       func(f fstest.MapFS) { f["assets/x.wasm"] = &fstest.MapFile{Data: []byte("x")} },
	} {
		files := pagesFS()
		spoil(files)
		l := listener(t)
		if s, err := serve.New(l, serve.Options{Rows: &store{}, Console: files}); err == nil {
			s.Close()
			t.Errorf("%s: it is served", name)
		}
	}
}

// TestConsolesOfBothListeners checks that each listener has only its own console, whether the caller is signed in or not.
func TestConsolesOfBothListeners(t *testing.T) {
	g := newGuarded(t, func(o *serve.Options) { o.Console = console.Users() })
	for path, want := range map[string]int{"/": 200, "/orders": 200, "/track": 200, "/accounts": 404, "/audit": 404, "/overview": 404} {
		if w := g.as("", "GET", path, ""); w.Code != want {
			t.Errorf("GET %s of users: %d, want %d", path, w.Code, want)
		}
		if w := g.ask("GET", path, "", "Cookie", "__Host-brine=over"); w.Code != want {
			t.Errorf("GET %s with a session that is over: %d, want %d", path, w.Code, want)
		}
	}
}
