package console_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"brine/console"
	"brine/event"
	"brine/verify"
)

// The limits on what a browser loads, in gzipped bytes: a first page needs only the shell, with the texts of one language.
const (
	mostShell = 60 << 10
	mostAll   = 250 << 10
)

func TestSizes(t *testing.T) {
	all := 0
	for name, files := range map[string]fs.FS{"users": console.Users(), "operators": console.Operators()} {
		index, err := fs.ReadFile(files, "index.html")
		if err != nil {
			t.Fatalf("%s: %v; `make console` builds it", name, err)
		}
		shell, texts := packed(t, index), map[string]int{}
		err = fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(files, file)
			n := packed(t, b)
			all += n
			if strings.Contains(string(index), path.Base(file)) {
				shell += n
			} else if language := regexp.MustCompile(`^assets/(en|zh)-`).FindStringSubmatch(file); language != nil {
				texts[language[1]] += n
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(texts) != 2 || texts["en"] < 1_000 || texts["zh"] < 1_000 {
			t.Errorf("the languages of %s have texts of %v bytes, in files of their own", name, texts)
		}
		shell += max(texts["en"], texts["zh"])
		if shell > mostShell || shell < 5_000 {
			t.Errorf("the shell of %s has %d bytes, not at most %d", name, shell, mostShell)
		}
	}
	if all > mostAll {
		t.Errorf("all files have %d bytes, more than %d", all, mostAll)
	}
}

func packed(t *testing.T, b []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// Pages contain no script and no style, and refer to no other place: the policy with which they are served would refuse both.
func TestPagesAreFilesAlone(t *testing.T) {
	inline := regexp.MustCompile(`(?is)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\son\w+=|\sstyle=|javascript:`)
	elsewhere := regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)
	for name, files := range map[string]fs.FS{"users": console.Users(), "operators": console.Operators()} {
		b, err := fs.ReadFile(files, "index.html")
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.Find(b); found != nil {
			t.Errorf("%s: index.html has %q", name, found)
		}
		if found := elsewhere.Find(b); found != nil {
			t.Errorf("%s: index.html has %q", name, found)
		}
	}
}

// The requests of scripts begin with the API's path, and no text from data becomes markup.
func TestScriptsAskTheAPIAlone(t *testing.T) {
	address := regexp.MustCompile(`https?://[a-zA-Z0-9./_-]+`)
	forbidden := regexp.MustCompile(`\b(WebSocket|XMLHttpRequest|importScripts|EventSource|sendBeacon|eval|document\.write|new Function)\b`)
	for name, files := range map[string]fs.FS{"users": console.Users(), "operators": console.Operators()} {
		scripts, err := fs.Glob(files, "assets/*.js")
		if err != nil || len(scripts) == 0 {
			t.Fatalf("%s: %d scripts, %v", name, len(scripts), err)
		}
		for _, script := range scripts {
			b, err := fs.ReadFile(files, script)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range address.FindAllString(string(b), -1) {
				if !strings.HasPrefix(found, "http://www.w3.org/") { // XML namespaces, which nobody fetches
					t.Errorf("%s: %s names %s", name, script, found)
				}
			}
			if found := forbidden.Find(b); found != nil {
				t.Errorf("%s: %s has %s", name, script, found)
			}
		}
	}
	users, err := fs.ReadFile(console.Users(), "pages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"/accounts", "/audit", "/overview", "/regions"} {
		if strings.Contains(string(users), page) {
			t.Errorf("users have the operators' page %s", page)
		}
	}
}

// TestKindsInChinese holds that each kind of finding of verify, and each reason of a dead letter, has its Chinese.
func TestKindsInChinese(t *testing.T) {
	b, err := os.ReadFile("src/i18n/zh.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range verify.Kinds {
		if want := `"finding.` + string(kind) + `": `; !strings.Contains(string(b), want) {
			t.Errorf("src/i18n/zh.ts has no %s", want)
		}
	}
	for _, reason := range append([]event.Reason{event.Unavailable, event.Awaited, event.NoTable, event.Denied, event.Unknown}, event.Rejects...) {
		if want := `"reason.` + string(reason) + `": `; !strings.Contains(string(b), want) {
			t.Errorf("src/i18n/zh.ts has no %s", want)
		}
	}
}
