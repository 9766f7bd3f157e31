package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Classpath is HBase's Java client with its dependencies and the classes compiled on top.
type Classpath struct{ path string }

// hbaseFlags let HBase and Hadoop access internals of Java 17.
var hbaseFlags = []string{
	"-Djava.net.preferIPv4Stack=true",
	"--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
	"--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
}

// Java returns the classpath of HBase's client as fetched by deploy/devcluster: that of 2.6, or of the release in BRINE_HBASE_CLIENT.
func Java(t testing.TB) Classpath {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, "no JDK: %v", err)
		}
	}
	jars := filepath.Join(devcluster(t), "lib", "hbase")
	if release := os.Getenv("BRINE_HBASE_CLIENT"); release != "" {
		jars += "-" + release
	}
	if found, _ := filepath.Glob(filepath.Join(jars, "hbase-client-*.jar")); len(found) == 0 {
		missing(t, "HBase's jars are not here (fetch them with `deploy/devcluster/devcluster fetch hbase`)")
	}
	return Classpath{filepath.Join(jars, "*")}
}

// Asynchbase returns the classpath of asynchbase, as fetched by deploy/devcluster, and the program Async, which runs the suite's scripts
// with it. HBase's client is there only while that is compiled, for the types that the suite's other code names.
func Asynchbase(t testing.TB) Classpath {
	t.Helper()
	client := Java(t)
	dir := filepath.Join(devcluster(t), "lib", "asynchbase")
	if found, _ := filepath.Glob(filepath.Join(dir, "asynchbase-*.jar")); len(found) == 0 {
		missing(t, "asynchbase is not here (fetch it with `deploy/devcluster/devcluster fetch asynchbase`)")
	}
	jars, sources := filepath.Join(dir, "*"), filepath.Join(root(t), "hbase", "hbasetest", "java")
	both := Classpath{jars + string(os.PathListSeparator) + client.path}.Compile(t,
		filepath.Join(sources, "asynchbase", "Async.java"), filepath.Join(sources, "Text.java"), filepath.Join(sources, "RowDigest.java"))
	return Classpath{strings.TrimSuffix(both.path, string(os.PathListSeparator)+client.path)}
}

// Compile compiles Java sources against the classpath, into a folder of the test, and returns the classpath with the result.
func (c Classpath) Compile(t testing.TB, sources ...string) Classpath {
	t.Helper()
	classes := t.TempDir()
	args := append([]string{"-nowarn", "-proc:none", "-cp", c.path, "-d", classes}, sources...)
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return Classpath{classes + string(os.PathListSeparator) + c.path}
}

// With returns the classpath with settings ("name value") in the client's hbase-site.xml and core-site.xml.
func (c Classpath) With(t testing.TB, settings ...string) Classpath {
	t.Helper()
	dir, xml := t.TempDir(), "<configuration>"
	for _, s := range settings {
		name, value, _ := strings.Cut(s, " ")
		xml += "<property><name>" + name + "</name><value>" + value + "</value></property>"
	}
	for _, file := range []string{"hbase-site.xml", "core-site.xml"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(xml+"</configuration>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Classpath{dir + string(os.PathListSeparator) + c.path}
}

// And returns the classpath followed by the jars of a folder.
func (c Classpath) And(dir string) Classpath {
	return Classpath{c.path + string(os.PathListSeparator) + filepath.Join(dir, "*")}
}

// Conform returns the classpath with the programs of hbase/hbasetest/java; its class Conform runs the suite's scripts.
func (c Classpath) Conform(t testing.TB) Classpath {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(root(t), "hbase", "hbasetest", "java", "*.java"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Compile(t, sources...)
}

// Command returns a command that runs a class with the JVM flags that HBase needs. It ends with the test at the latest. Its log (warnings
// and errors) goes to standard error.
func (c Classpath) Command(t testing.TB, class string, args ...string) *exec.Cmd {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log4j.properties")
	settings := []string{
		"log4j.rootLogger=WARN,err", "log4j.appender.err=org.apache.log4j.ConsoleAppender", "log4j.appender.err.target=System.err",
		"log4j.appender.err.layout=org.apache.log4j.PatternLayout", "log4j.appender.err.layout.ConversionPattern=%p %c{2}: %m%n",
		"log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR",
	}
	if err := os.WriteFile(log, []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := append([]string{}, hbaseFlags...)
	all = append(all, "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j.configuration=file:"+log, "-cp", c.path, class)
	return exec.CommandContext(t.Context(), "java", append(all, args...)...)
}
