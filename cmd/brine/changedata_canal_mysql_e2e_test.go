package main

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/testenv"
)

// canalDatabase is a kind of database whose log Canal reads.
type canalDatabase struct {
	start  func(testing.TB) *testenv.MySQL
	placed bool // Canal names the right places in its log, which are the versions in Protobuf
	// object returns the SQL for a JSON object of names and expressions.
	object func(members ...string) string
}

var canalDatabases = map[string]canalDatabase{
	"MariaDB": {testenv.StartMariaDBWithLog, false, func(members ...string) string {
		var pairs []string
		for i := 0; i < len(members); i += 2 {
			pairs = append(pairs, fmt.Sprintf("'%s', %s", members[i], members[i+1]))
		}
		return "json_object(" + strings.Join(pairs, ", ") + ")"
	}},
	"MySQL": {testenv.StartMySQLWithLog, true, func(members ...string) string { // 5.6 has no json_object, and null makes concat null
		var texts []string
		for i := 0; i < len(members); i += 2 {
			texts = append(texts, fmt.Sprintf(`concat('"%s":"', %s, '"')`, members[i], members[i+1]))
		}
		return "concat('{', concat_ws(',', " + strings.Join(texts, ", ") + "), '}')"
	}},
}

// onCanalDatabases runs a test with each kind of database.
func onCanalDatabases(t *testing.T, test func(t *testing.T, d canalDatabase)) {
	notShort(t)
	t.Parallel()
	for name, d := range canalDatabases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// placed makes the place in the log the version.
func (j *job) placed() {
	j.t.Helper()
	j.replace("form: canal_protobuf, ties: accept", "form: canal_protobuf, database: mysql")
	j.replace("es: { type: time_ms, path: $es }", "file: { type: text, path: $file }\n      pos: { type: int, path: $pos }")
	j.replace("version: es", "version: binlog(file, pos)")
}

// succeededBy adds the topic with the log of another server, whose places are all newer.
func (j *job) succeededBy(topic string) {
	j.t.Helper()
	j.replace("    topic: "+j.topic+"\n", "    topics: ["+j.topic+", "+topic+"]\n")
	j.replace("      gone: bool\n", "      gone: bool\n      log: { type: text, path: $topic }\n")
	j.replace("version: binlog(file, pos)", "version: binlog(file, pos)\n    epochs: { from: log, of: { "+j.topic+": 0, "+topic+": 1 } }")
}
