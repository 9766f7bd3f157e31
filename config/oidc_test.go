package config

import (
	"fmt"
	"strings"
	"testing"

	"brine/account"
)

// TestOIDC checks that settings that would let in nobody, or the wrong person, are reported before anything runs.
func TestOIDC(t *testing.T) {
	const good = "issuer: https://login.example.com, client_id: brine, client_secret: hush, url: https://orders.example.com/, roles: { desk: support }"
	load := func(oidc string) (*Config, Problems) {
		source := minimal + "\naccounts: { connect: \"embedded:./data/accounts\", oidc: { " + oidc + " } }\n"
		return Parse("brine.yaml", []byte(source), environ())
	}
	cfg, problems := load(good)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	o, ok := cfg.Company()
	if !ok || o.Redirect != "https://orders.example.com/api/v1/session/oidc/return" || o.Roles["desk"] != account.Support || o.RoleClaim != "groups" || o.ClientSecret() != "hush" {
		t.Errorf("%+v, %v", o, ok)
	}
	for change, want := range map[[2]string]string{
		{"https://login", "http://login"}:                     "accounts.oidc.issuer",
		{"https://login", "ldap://login"}:                     "accounts.oidc.issuer",
		{"https://login", "https://u:hunter2@login"}:          "contains a user name or password",
		{"https://orders.example.com/", "orders.example.com"}: "accounts.oidc.url",
		{"client_id: brine, ", ""}:                            "accounts.oidc.client_id",
		{"{ desk: support }", "{}"}:                           "nobody would have a role",
		{"desk: support", "desk: boss"}:                       "boss",
		{"desk: support", "desk: customer"}:                   "accounts.oidc.owner_claim",
	} {
		_, problems := load(strings.Replace(good, change[0], change[1], 1))
		if err := problems.Err(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", change[1], err, want)
		}
	}
	if _, problems := load(strings.Replace(good, "desk: support", "desk: customer", 1) + ", owner_claim: number"); problems.Err() != nil {
		t.Error(problems.Err())
	}
	local, problems := load(strings.NewReplacer("https://login.example.com", "http://127.0.0.1:8180", "https://orders.example.com/", "http://localhost:8090").Replace(good))
	if err := problems.Err(); err != nil {
		t.Error(err)
	}
	if cfg, _ := Parse("brine.yaml", []byte(minimal), environ()); cfg != nil {
		if _, ok := cfg.Company(); ok || local == nil {
			t.Error("without the section there is a provider")
		}
	}
}

// TestHistoryOfTables checks what AS OF needs to know about a table.
func TestHistoryOfTables(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"families: { e: {} }", "families: { e: { versions: 3 } }"}:           "3 0s ",
		{"families: { e: {} }", "families: { e: { versions: 3, ttl: 30d } }"}: "3 720h0m0s ",
		{`"e:v": v } }`, `"e:v": v }, ttl: 30d }`}:                            "1 0s rows of pipeline p have a ttl",
		{"v: text }", "v: text, at: time_ms }\n    version: at"}:              "1 0s ",
		{`"e:v": v } }`, `"e:v": v }, nulls: replace }`}:                      "1 0s pipeline p has nulls: replace, whose delete markers hide it",
	} {
		cfg, problems := Parse("brine.yaml", []byte(strings.Replace(minimal, change[0], change[1], 1)), environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		catalog, err := cfg.Catalog()
		if err != nil {
			t.Fatal(err)
		}
		table := &catalog.Tables[0]
		if got := fmt.Sprintf("%d %v %s", table.Kept["e"].Versions, table.Kept["e"].TTL, table.Erases); got != want {
			t.Errorf("%s: %s, want %s", change[1], got, want)
		}
	}
}
