package config

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	kafkaNames    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
	pipelineNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	fieldNames    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	indexNames    = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,199}$`)
	hostNames     = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	tokens        = regexp.MustCompile(`^[!-~]{16,}$`)
)

// kafkaName holds for legal names of topics and groups.
func kafkaName(s string) bool { return kafkaNames.MatchString(s) && s != "." && s != ".." }

// indexName holds for what indexer takes as an index, indexFieldName for what it takes as a field.
func indexName(s string) bool { return indexNames.MatchString(s) }

func indexFieldName(s string) bool {
	return s != "" && s[0] != '_' && !strings.ContainsAny(s, ". \t\n*,\"\\")
}

// deletedField is the field of a document that searches look at: where it is true, they pass the document over.
const deletedField = "deleted"

// tableName holds for what HBase takes: "name" or "namespace:name", of letters and digits of any language and "_"; name may
// hold "." and "-" too, though not first.
func tableName(s string) bool {
	namespace, name, ok := strings.Cut(s, ":")
	if !ok {
		namespace, name = "default", s
	}
	return word(namespace, "_") && word(name, "_-.") && !strings.ContainsAny(name[:1], "-.") && name != "zookeeper"
}

func word(s, more string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(more, r)
	}) < 0
}

// familyName holds for what HBase takes as a column family.
func familyName(s string) bool {
	return s != "" && s[0] != '.' && s != "recovered.edits" && !strings.ContainsAny(s, `:\/`) && strings.IndexFunc(s, unicode.IsControl) < 0
}
