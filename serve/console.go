package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// consolePolicy restricts the console's pages to scripts and styles from their own files, and to requests to the API. No text becomes a
// script or markup: browsers that support trusted types refuse it.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const (
	consoleIndex  = "index.html"
	consolePages  = "pages.txt" // paths of pages, one per line; the browser decides what a page shows
	consoleAssets = "assets"
)

// fileTypes are the media types of the console's files, which have no other extensions.
var fileTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// file is a file of the console, ready to send.
type file struct {
	kind, tag   string
	plain, gzip []byte // gzip: empty unless it is smaller
	forever     bool   // its name changes with its content
}

// console registers Options.Console with the mux. The files are read in advance and looked up by their full names, so that no request leads
// to a file-system path. They are the same for everybody and contain nobody's data.
func (s *Server) console() error {
	if s.opts.Console == nil {
		return nil
	}
	fail := func(err error) error { return fmt.Errorf("serve: Options.Console: %w", err) }
	index, err := readFile(s.opts.Console, consoleIndex)
	if err != nil {
		return fail(err)
	}
	pages, err := fs.ReadFile(s.opts.Console, consolePages)
	if err != nil {
		return fail(err)
	}
	for page := range strings.FieldsSeq(string(pages)) {
		if path.Clean("/"+page) != page || strings.HasPrefix(page, root+"/") {
			return fail(fmt.Errorf("%s: %q is not the path of a page", consolePages, page))
		}
		if page == "/" {
			page += "{$}"
		}
		s.mux.HandleFunc("GET "+page, index.serve)
	}
	names, err := fs.Glob(s.opts.Console, consoleAssets+"/*")
	if err != nil {
		return fail(err)
	}
	assets := map[string]*file{}
	for _, name := range names {
		f, err := readFile(s.opts.Console, name)
		if err != nil {
			return fail(err)
		}
		f.forever = true
		assets[path.Base(name)] = f
	}
	s.mux.HandleFunc("GET /"+consoleAssets+"/{file}", func(w http.ResponseWriter, r *http.Request) {
		f, ok := assets[r.PathValue("file")]
		if !ok {
			s.fail(w, r, refuse(notThere, "there is no such file"))
			return
		}
		f.serve(w, r)
	})
	return nil
}

func readFile(files fs.FS, name string) (*file, error) {
	f := &file{kind: fileTypes[path.Ext(name)]}
	var err error
	if f.plain, err = fs.ReadFile(files, name); err != nil {
		return nil, err
	}
	if f.kind == "" {
		return nil, errors.New(name + " has no media type")
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(f.plain)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	if packed.Len() < len(f.plain) {
		f.gzip = packed.Bytes()
	}
	sum := sha256.Sum256(f.plain)
	f.tag = `"` + hex.EncodeToString(sum[:8]) + `"`
	return f, nil
}

// serve sends the file, unless the browser has it.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", consolePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if len(f.gzip) > 0 && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	h.Set("Content-Type", f.kind)
	_, _ = w.Write(body) // an error means that the client is gone
}

// acceptsGzip reports whether gzip is listed with a quality above zero.
func acceptsGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			quality := strings.TrimRight(strings.ReplaceAll(params, " ", ""), "0")
			return quality != "q=" && quality != "q=0." && quality != "q=."
		}
	}
	return false
}
