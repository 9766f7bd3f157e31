package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
)

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// mounted returns the path on this machine of a file in a container.
func mounted(s types.ServiceConfig, path string) (source string, ok bool) {
	for _, v := range s.Volumes {
		if rest, below := strings.CutPrefix(path, v.Target); below && v.Type == types.VolumeTypeBind && (rest == "" || rest[0] == '/') {
			return v.Source + rest, true
		}
	}
	return "", false
}

// Prometheus in the containers loads every rule file, and scrapes brine where it listens.
func TestComposeGivesPrometheusItsRules(t *testing.T) {
	prometheus := load(t).Services["prometheus"]
	var config struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "prometheus/compose.prometheus.yml", &config)
	files, err := filepath.Glob("prometheus/*.rules.yaml")
	if err != nil || len(files) != len(config.RuleFiles) {
		t.Errorf("the rule files are %v, Prometheus loads %v; %v", files, config.RuleFiles, err)
	}
	for _, name := range append(config.RuleFiles, "compose.prometheus.yml") {
		if source, ok := mounted(prometheus, "/etc/prometheus/"+name); !ok || filepath.Base(source) != name {
			t.Errorf("%s is not in the container of Prometheus", name)
		}
	}
	services := load(t).Services
	listen := []string{ // addresses on which the two serve their metrics
		fmt.Sprintf("brine:%d", services["brine"].Ports[0].Target),
		"verify:" + regexp.MustCompile(`--listen 0\.0\.0\.0:(\d+)`).FindStringSubmatch(strings.Join(services["verify"].Command, " "))[1],
	}
	if targets := config.ScrapeConfigs[0].StaticConfigs[0].Targets; !slices.Equal(targets, listen) {
		t.Errorf("Prometheus scrapes %v, metrics are on %v", targets, listen)
	}
}

// Grafana in the containers has every dashboard, and the Prometheus that they query.
func TestComposeGivesGrafanaItsDashboards(t *testing.T) {
	project := load(t)
	grafana := project.Services["grafana"]
	var dashboards struct {
		Providers []struct{ Options struct{ Path string } }
	}
	readYAML(t, "grafana/provisioning/dashboards/brine.yaml", &dashboards)
	folder, ok := mounted(grafana, dashboards.Providers[0].Options.Path)
	if here, err := filepath.Abs("grafana/dashboards"); !ok || err != nil || folder != here {
		t.Errorf("Grafana reads its dashboards from %s, they are in %s", folder, here)
	}
	home, ok := mounted(grafana, *grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
	if _, err := os.Stat(home); !ok || err != nil {
		t.Errorf("the first dashboard is not there: %v", err)
	}
	var sources struct {
		Datasources []struct{ Type, URL string }
	}
	readYAML(t, "grafana/provisioning/datasources/brine.yaml", &sources)
	if s := sources.Datasources[0]; s.Type != "prometheus" || s.URL != "http://prometheus:9090" || project.Services["prometheus"].Ports[0].Target != 9090 {
		t.Errorf("Grafana asks %v", s)
	}
}

// The image is built with the Go version in go.mod, contains one static binary, and does not run as root.
func TestDockerfileBuildsAStaticBinaryThatIsNotRoot(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`(?m)^FROM (\S+) AS (\S+)$`).FindAllStringSubmatch(string(text), -1)
	names := map[string]string{}
	for _, s := range stages {
		names[s[2]] = s[1]
	}
	for _, from := range regexp.MustCompile(`COPY --from=(\S+)`).FindAllStringSubmatch(string(text), -1) {
		if names[from[1]] == "" {
			t.Errorf("files are copied from %s, which is no stage", from[1])
		}
	}
	_, image, _ := strings.Cut(names["build"], ":")
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if wanted == nil || image != string(wanted[1]) {
		t.Errorf("the image builds with Go %s, go.mod wants %s", image, wanted)
	}
	last := stages[len(stages)-1]
	if last[2] != "brine" || !strings.HasSuffix(last[1], ":nonroot") {
		t.Errorf("the last stage is %v: brine in an image that is not root", last)
	}
	run := strings.Fields(regexp.MustCompile(`(?m)^RUN CGO_ENABLED=0 go build (.*)$`).FindString(string(text)))
	if !slices.Contains(run, "./cmd/brine") {
		t.Errorf("brine is not built without C: %v", run)
	}
}

// The autoscaler queries metrics that brine has, by name of the pipeline, and never gets an infinite number.
func TestAutoscalerAsksForWhatBrineHas(t *testing.T) {
	var scaled struct {
		Kind string
		Spec struct {
			ScaleTargetRef  struct{ Name string } `yaml:"scaleTargetRef"`
			MaxReplicaCount int                   `yaml:"maxReplicaCount"`
			Triggers        []struct {
				Type     string
				Metadata map[string]string
			}
		}
	}
	readYAML(t, "keda/scaledobject.yaml", &scaled)
	reference, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if scaled.Kind != "ScaledObject" || scaled.Spec.ScaleTargetRef.Name == "" || scaled.Spec.MaxReplicaCount < 2 || len(scaled.Spec.Triggers) == 0 {
		t.Fatalf("%+v", scaled)
	}
	for _, trigger := range scaled.Spec.Triggers {
		query := trigger.Metadata["query"]
		names := regexp.MustCompile(`brine_\w+`).FindAllString(query, -1)
		if trigger.Type != "prometheus" || trigger.Metadata["threshold"] == "" || len(names) == 0 || !strings.Contains(query, "clamp_max(") ||
			!strings.Contains(query, `pipeline="`) {
			t.Errorf("%+v", trigger)
		}
		for _, name := range names {
			if !strings.Contains(string(reference), "`"+name+"`") {
				t.Errorf("%s is no metric of brine", name)
			}
		}
	}
}
