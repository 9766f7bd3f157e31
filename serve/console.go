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

// consolePolicy is what pages of the console may do: run and look as their own files say, and ask the API. No text becomes a script or
// markup: browsers that know trusted types refuse it wherever it is tried.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const (
	consoleIndex  = "index.html"
	consolePages  = "pages.txt" // the paths that are pages, a line each: what of them is shown is decided in the browser
	consoleAssets = "assets"
)

// fileTypes are the media types of files of the console; it has no others.
var fileTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// file is one of the console's, made to be sent.
type file struct {
	kind, tag   string
	plain, gzip []byte // gzip: empty where it is not smaller
	forever     bool   // its name changes with what it holds
}

// console has the mux serve Options.Console. What it serves is known beforehand, and looked up by its whole name: no request leads to a
// path. Its files are the same for everybody, and hold nothing of anybody's.
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
	_, _ = w.Write(body) // the asker is gone: nobody is left to answer
}

// acceptsGzip reports whether gzip is named without refusing it.
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
