package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Profiles are on the admin port, and nowhere else: importing net/http/pprof puts them on http.DefaultServeMux too, which nobody may serve.
func TestProfilesAreOnTheAdminPortOnly(t *testing.T) {
	fine := func() (any, error) { return nil, nil }
	a, err := newAdmin("127.0.0.1:0", prometheus.NewRegistry(), fine, fine, func(*http.ServeMux) {})
	if err != nil {
		t.Fatal(err)
	}
	defer a.listener.Close()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/heap", "/metrics"} {
		w := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
	serves := regexp.MustCompile(`http\.DefaultServeMux|http\.(ListenAndServe|Serve|ListenAndServeTLS)\(|http\.Server\{\}`)
	profiles := 0
	for _, pattern := range []string{"../../*/*.go", "../../*/*/*.go", "../../*/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if m, _ := filepath.Match("*_test.go", filepath.Base(file)); m {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := serves.Find(text); found != nil {
				t.Errorf("%s: %s may serve the profiles", file, found)
			}
			if regexp.MustCompile(`"net/http/pprof"`).Match(text) {
				profiles++
			}
		}
	}
	if profiles != 1 {
		t.Errorf("%d files import net/http/pprof, want the admin port's only", profiles)
	}
}
