package config

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// TestSchemaAgrees compares the schema with the loader: the schema accepts every good file, and rejects the bad ones whose fault is in one
// setting on its own.
func TestSchemaAgrees(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("brine.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("brine.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(file string) error {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(source, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		return schema.Validate(v)
	}
	for _, file := range slices.Concat(files(t, "testdata/*.good.yaml"), files(t, "../examples/*.yaml"), files(t, "../examples/formats/*.yaml")) {
		if err := validate(file); err != nil {
			t.Errorf("refuses %s: %v", filepath.Base(file), err)
		}
	}
	for _, name := range []string{"all_at_once", "booleans", "camel_case", "choices", "durations", "misspelt", "missing", "missing_sections",
		"not_a_mapping", "nothing_after_the_colon", "ranges", "sizes", "unknown_everywhere", "write_settings", "wrong_kinds", "wrong_section", "wrong_types"} {
		if validate("testdata/"+name+".bad.yaml") == nil {
			t.Errorf("takes %s.bad.yaml", name)
		}
	}
}
