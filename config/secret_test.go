package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/mask"
)

// planted are realistic secrets; each contains the word that no problem may show.
var planted = []string{
	"hunter2-hunter2",
	"pa,hunter2,ss",
	"https://brine:hunter2@localhost:9200",
	"hunter2:x,y:hunter2",
	"rpc://hunter2/:hunter2:7",
	"-----BEGIN PRIVATE KEY-----\nhunter2" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0B", 9) + "hunter2\n-----END PRIVATE KEY-----\n",
	"\x1bhunter2",
}

// holdsSecret fails the test if the problems, as text or as JSON, contain a planted secret.
func holdsSecret(t *testing.T, what string, problems Problems) {
	t.Helper()
	document, err := json.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{problems.String(), string(document)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: shows a secret:\n%s", what, text)
		}
	}
}

// A secret in the wrong variable is in no problem, whichever variable that is.
func TestSecretsInWrongVariablesAreNotShown(t *testing.T) {
	const withTLS = minimal + "search: { connect: 'http://localhost:9200' }\n"
	faults := map[string]bool{}
	for _, e := range envSettings() {
		for _, secret := range planted {
			for _, more := range []string{"", "BRINE_KAFKA_TLS_ENABLED"} { // which makes Load read the files of kafka.tls
				_, problems := Parse("brine.yaml", []byte(withTLS), environ(e.variable, secret, more, "true"))
				holdsSecret(t, e.variable, problems)
				_, alone := Brokers(environ(e.variable, secret, more, "true"))
				holdsSecret(t, e.variable+" without a file", alone)
				if slices.ContainsFunc(problems, func(p Problem) bool { return p.Env == e.variable }) {
					faults[e.variable] = true
				}
			}
		}
	}
	if len(faults) < 30 {
		t.Errorf("only %d variables were complained of", len(faults))
	}
}

// The same if the file takes values from variables by name: their values are not shown.
func TestWhatVariablesHoldIsNotShown(t *testing.T) {
	for _, replaced := range []string{"localhost:9092", "embedded:./data", "entity", "md5(id, 4) + id", "topic: p", "id: text", "table: t", "v } }"} {
		name, _, ok := strings.Cut(replaced, ": ")
		with := `"${SECRET_KEY}"`
		if ok {
			with = name + ": " + with
		}
		if replaced == "v } }" {
			with += " } }"
		}
		for _, secret := range planted {
			_, problems := Parse("brine.yaml", []byte(strings.Replace(strings.ReplaceAll(minimal, `"`+replaced+`"`, replaced), replaced, with, 1)),
				environ("SECRET_KEY", secret))
			if problems.Err() == nil && replaced != "topic: p" {
				t.Errorf("%s: takes %q", replaced, secret)
			}
			holdsSecret(t, replaced, problems)
		}
	}
}

// A secret in the file that is not valid YAML is in no problem.
func TestSecretsInTheFileAreNotShown(t *testing.T) {
	settings := secretSettings()
	if want := []string{"kafka.tls.key", "kafka.sasl.password", "kafka.sasl.oauth.client_secret", "kafka.sasl.aws.secret_access_key", "kafka.sasl.aws.session_token", "hbase.zookeeper_auth", "hbase.tls.key", "search.password", "search.api_key", "registry.password", "registry.token", "registry.tls.key", "http.token", "http.tls.key", "serve.tls.key", "accounts.password", "accounts.oidc.client_secret"}; !reflect.DeepEqual(settings, want) {
		t.Errorf("secret settings: %q, want %q", settings, want)
	}
	for _, at := range settings {
		for _, value := range []string{"hunter2", "*hunter2", "!hunter2", "!!int hunter2", "!!binary hunter2", "%hunter2", "@hunter2", "`hunter2", `"hunter2`, `"\hunter2"`, "'hunter2", "[hunter2",
			"{hunter2", "{hunter2: 1}", "[hunter2]", "abc,hunter2", "abc, hunter2, hunter2", "abc: hunter2", "a #hunter2", "|hunter2", ">hunter2", "${hunter2", "${hunter2-hunter2}", "&hunter2 x, user: *hunter2",
			"hunter2}", "?hunter2", "- hunter2", "hunter2\n\t- x", ""} {
			path := strings.Split(at, ".")
			flow := strings.Join(path, ": { ") + ": " + value + strings.Repeat(" }", len(path)-1) + "\n"
			block := ""
			for i, name := range path {
				block += strings.Repeat("  ", i) + name + ":"
				if i < len(path)-1 {
					block += "\n"
				}
			}
			for _, section := range []string{flow, block + " " + value + "\n"} {
				source := section + strings.Replace(minimal, "kafka:", "more:", 1)
				if path[0] != "kafka" {
					source = minimal + section
				}
				_, problems := Parse("brine.yaml", []byte(source), environ())
				holdsSecret(t, section, problems)
			}
		}
	}
}

// A secret written with ${ is shown only if all of it comes from elsewhere, both in Written's result and in a difference.
func TestSecretsAroundVariablesAreNotShown(t *testing.T) {
	for written, want := range map[string]string{
		"hunter2":                     mask.Text,
		"$${hunter2}":                 mask.Text,
		"hunter2$${word":              mask.Text,
		"hunter2${SUFFIX}":            mask.Text,
		"${SUFFIX}hunter2":            mask.Text,
		"${SUFFIX}$${hunter2}":        mask.Text,
		"${SUFFIX}hunter2${SUFFIX}":   mask.Text,
		"${SUFFIX}":                   "${SUFFIX}",
		"${SUFFIX}${SUFFIX}":          "${SUFFIX}${SUFFIX}",
		"${SUFFIX}\n${SUFFIX}hunter2": mask.Text,
	} {
		load := func(password string) *Config {
			text := strings.Replace(minimal, "kafka: {", "kafka: { sasl: { mechanism: plain, user: u, password: "+strconv.Quote(password)+" },", 1)
			cfg, problems := Parse("brine.yaml", []byte(text), environ("SUFFIX", "suffix"))
			if err := problems.Err(); err != nil {
				t.Fatal(problems)
			}
			return cfg
		}
		cfg := load(written)
		text, err := cfg.Written()
		if err != nil || strings.Contains(text, "hunter2") || !strings.Contains(text, want) {
			t.Errorf("%q is written, want %q: %v\n%s", written, want, err, text)
		}
		for _, d := range [][]Difference{Differences(cfg, load("another")), Differences(load("another"), cfg)} {
			if len(d) != 1 || d[0].Was != want && d[0].Becomes != want || strings.Contains(d[0].Was+d[0].Becomes, "hunter2") {
				t.Errorf("%q differs as %+v, want %q", written, d, want)
			}
		}
	}
}
