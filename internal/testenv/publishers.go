package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// Debezium returns the classpath of Debezium's engine with its Postgres connector, as fetched by deploy/devcluster, and the program
// brine.devcluster.ChangeData.
func Debezium(t testing.TB) Classpath {
	t.Helper()
	return publisher(t, "Debezium", "debezium")
}

// DebeziumMySQL is Debezium with the connector of MySQL and MariaDB.
func DebeziumMySQL(t testing.TB) Classpath {
	t.Helper()
	return publisher(t, "Debezium", "debezium", "mysql")
}

// Canal returns the classpath of Canal's server and its publisher for Kafka, as fetched by deploy/devcluster, and the program
// brine.devcluster.ChangeData.
func Canal(t testing.TB) Classpath {
	t.Helper()
	return publisher(t, "Canal", "canal")
}

// publisher returns the classpath of a publisher of change data, whose jars are in a folder of devcluster's lib.
func publisher(t testing.TB, name string, folder ...string) Classpath {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	jars := filepath.Join(append([]string{devcluster(t), "lib"}, folder...)...)
	if _, err := os.Stat(filepath.Join(jars, "classes")); err != nil {
		missing(t, "%s is not here (fetch it with `deploy/devcluster/devcluster fetch %s`)", name, folder[0])
	}
	return Classpath{filepath.Join(jars, "classes") + string(os.PathListSeparator) + filepath.Join(jars, "*")}
}
