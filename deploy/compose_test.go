package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"brine/config"
)

// load reads compose.yaml as docker compose does: by the specification's schema, with every reference resolved.
func load(t *testing.T) *types.Project {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: here, ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}}, Environment: types.Mapping{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeIsValid(t *testing.T) {
	project := load(t)
	dockerfile, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range project.Services {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is open to everybody", name, p.Target)
			}
		}
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s.Build != nil && !strings.Contains(string(dockerfile), " AS "+s.Build.Target+"\n") {
			t.Errorf("%s: the Dockerfile has no target %s", name, s.Build.Target)
		}
		if s.Build == nil && !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(s.Image) {
			t.Errorf("%s: %s names no version", name, s.Image)
		}
	}
}

// The servers have the versions against which the tests run.
func TestComposeRunsWhatIsTested(t *testing.T) {
	project := load(t)
	version := regexp.MustCompile(`<version>([\d.]+)[^<]*</version>`)
	for service, pom := range map[string]string{"kafka": "kafka", "topics": "kafka", "elasticsearch": "elasticsearch"} {
		text, err := os.ReadFile(filepath.Join("devcluster", pom, "pom.xml"))
		if err != nil {
			t.Fatal(err)
		}
		_, dependencies, _ := strings.Cut(string(text), "<dependencies>")
		tested := version.FindStringSubmatch(dependencies)[1]
		if image := project.Services[service].Image; !strings.HasSuffix(image, ":"+tested) {
			t.Errorf("%s runs %s, tests run %s", service, image, tested)
		}
	}
}

// brine's configuration in the containers is valid, with the addresses from the environment, and its topics are created.
func TestComposeConfiguresBrine(t *testing.T) {
	project := load(t)
	brine := project.Services["brine"]
	file := brine.Volumes[0].Source
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Parse(file, text, func(name string) (string, bool) {
		v, ok := brine.Environment[name]
		if !ok {
			return "", false
		}
		return *v, true
	})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	script := strings.Join(project.Services["topics"].Command, " ")
	for _, p := range cfg.Pipelines {
		if !strings.Contains(script, p.Topic) {
			t.Errorf("nobody makes topic %s", p.Topic)
		}
	}
	server := regexp.MustCompile(`^(?:\w+://)?([\w-]+):\d+$`)
	for _, name := range []string{"BRINE_KAFKA_BROKERS", "BRINE_HBASE_CONNECT", "BRINE_SEARCH_CONNECT"} {
		m := server.FindStringSubmatch(*brine.Environment[name])
		if m == nil {
			t.Fatalf("%s is not an address", name)
		}
		if _, ok := project.Services[m[1]]; !ok {
			t.Errorf("%s: there is no service %s", name, m[1])
		}
	}
	prometheus, err := os.ReadFile("prometheus/compose.prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	targets := regexp.MustCompile(`"(\w+):\d+"`).FindAllStringSubmatch(string(prometheus), -1)
	for _, target := range targets {
		if !slices.Contains(cfg.HTTP.Hosts, target[1]) {
			t.Errorf("Prometheus calls %s by a name that it does not know: %q", target[1], cfg.HTTP.Hosts)
		}
	}
	if len(targets) != 2 {
		t.Errorf("Prometheus has %d targets", len(targets))
	}
}
