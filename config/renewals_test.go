package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenewals: of the files that a configuration names, those with certificates and secrets are compared by what they hold.
func TestRenewals(t *testing.T) {
	cert, key := certificate(t)
	secret := filepath.Join(t.TempDir(), "password")
	source := strings.Replace(minimal, "kafka: {", "kafka: { sasl: { mechanism: plain, user: brine, password: '${file:"+secret+"}' }, tls: { enabled: true, cert: '"+
		cert+"', key: '"+key+"' },", 1)
	load := func(password string) *Config {
		t.Helper()
		if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, problems := Parse("brine.yaml", []byte(source), environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	settings := func(renewals []Renewal) string {
		var all []string
		for _, r := range renewals {
			if r.Before == r.After || len(r.Before) != 12 || len(r.After) != 12 {
				t.Errorf("%+v", r)
			}
			all = append(all, r.Setting)
		}
		return strings.Join(all, " ")
	}
	first, same, other := load("one"), load("one"), load("two")
	if got := settings(Renewals(first, same)); got != "" {
		t.Errorf("nothing has changed, and %s was renewed", got)
	}
	if got := settings(Renewals(first, other)); got != "kafka.sasl.password" {
		t.Errorf("another password: %s was renewed", got)
	}
	newCert, newKey := certificate(t)
	for from, to := range map[string]string{newCert: cert, newKey: key} {
		held, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, held, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := settings(Renewals(other, load("two"))); got != "kafka.tls.cert kafka.tls.key" {
		t.Errorf("another certificate: %s was renewed", got)
	}
}
