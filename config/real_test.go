package config

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Variables with which real servers are named to the tests must not look like misspelled settings: every command would warn of them.
func TestVariablesOfRealServersAreNotTakenForSettings(t *testing.T) {
	scripts, err := filepath.Glob("../deploy/devcluster/*/server.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	variable := regexp.MustCompile(`BRINE_REAL\w*`)
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variable.FindAllString(string(text), -1) {
			if problems := UnknownEnv([]string{v + "=1"}); len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
		}
	}
}
