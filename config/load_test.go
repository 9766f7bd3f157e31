package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// environ is the environment of the test files.
func environ(more ...string) func(string) (string, bool) {
	vars := map[string]string{"GROUP": "courier", "SECRET": "hunter2", "SECRET_URL": "ftp://hunter2"}
	for i := 0; i < len(more); i += 2 {
		vars[more[i]] = more[i+1]
	}
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./config -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), go test ./config -update writes it:\n%s", file, diff)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return found
}

// load loads a test file and returns its problems as text without its folder.
func load(file string) (*Config, string, Problems) {
	cfg, problems := Load(file, environ())
	return cfg, strings.ReplaceAll(problems.String(), filepath.Dir(file)+string(filepath.Separator), ""), problems
}

// listed returns the code as listed in codeMeanings.
func listed(c Code) Code {
	if strings.HasPrefix(string(c), "key-") && c != KeySyntax {
		return keyLint
	}
	return c
}

func TestBadFiles(t *testing.T) {
	shown := map[Code]bool{UnknownVariable: true} // the codes that the files cause; TestUnknownEnv causes this one
	for _, file := range append(files(t, "testdata/*.bad.yaml"), "testdata/absent.bad.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cfg, text, problems := load(file)
			if cfg != nil || problems.Err() == nil {
				t.Errorf("loaded without an error:\n%s", text)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("shows a secret:\n%s", text)
			}
			for _, p := range problems {
				shown[listed(p.Code)] = true
				if p.Message == "" || p.Fix == "" {
					t.Errorf("says too little: %v", p)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", text)
		})
	}
	_, _, warnings := load("testdata/warnings.good.yaml")
	for _, p := range warnings {
		shown[listed(p.Code)] = true
	}
	for _, c := range codeMeanings {
		if !shown[c.code] {
			t.Errorf("no test file brings about %s", c.code)
		}
		delete(shown, c.code)
	}
	for code := range shown {
		t.Errorf("codeMeanings does not say what %s means", code)
	}
}

func TestGoodFiles(t *testing.T) {
	for _, file := range files(t, "testdata/*.good.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cfg, text, problems := load(file)
			if err := problems.Err(); err != nil || cfg == nil {
				t.Fatalf("refused: %v", err)
			}
			if filepath.Base(file) == "warnings.good.yaml" {
				golden(t, "testdata/warnings.good.golden", text)
			} else if len(problems) > 0 {
				t.Errorf("warns:\n%s", text)
			}
		})
	}
}

func TestExamplesAreClean(t *testing.T) {
	for _, file := range append(files(t, "../examples/*.yaml"), files(t, "../examples/formats/*.yaml")...) {
		cfg, text, problems := load(file)
		if len(problems) > 0 {
			t.Errorf("%s:\n%s", file, text)
			continue
		}
		for _, p := range cfg.Pipelines {
			if err := p.Schema().Validate(); err != nil {
				t.Errorf("%s: pipeline %s: %v", file, p.Name, err)
			}
		}
		for _, table := range cfg.Tables {
			if points, err := table.SplitPoints(); err != nil || len(points) != table.Regions-1 {
				t.Errorf("%s: table %s: %d split points for %d regions, %v", file, table.Name, len(points), table.Regions, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "../examples/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range found {
			source, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		cfg, problems := Parse("brine.yaml", source, environ())
		if (cfg == nil) != (problems.Err() != nil) {
			t.Errorf("configuration %v with problems %v", cfg, problems)
		}
		if cfg == nil {
			return
		}
		for _, table := range cfg.Tables {
			table.HBase()
		}
		for _, p := range cfg.Pipelines {
			p.Sink()
		}
		valid(t, cfg)
	})
}
