package main

import (
	"archive/tar"
	"bufio"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/twmb/franz-go/pkg/kfake"

	"brine/hbase"
	"brine/hbase/hbasetest"
	broker "brine/ingest/embedded"
)

// mostBytes is the largest size of the binary, stripped as it is released; docs/adr/0103 breaks it down. mostCompressed is that of the
// image's layer.
const (
	mostBytes      = 75_000_000
	mostCompressed = 30_000_000
)

// TestImage builds the image as it is released, and runs what it holds as an engine would: from a root that has only its files, as its user,
// who may write only to /data.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("links brine")
	}
	dir := t.TempDir()
	c := command{File: filepath.Join(dir, "image.tar"), Arch: runtime.GOARCH, Version: "v1.2.3", Tag: "brine-hbase:latest"}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(c.Tag)
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(c.File, &tag)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	unpack(t, image, root)
	weigh(t, image, filepath.Join(root, "brine"))
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, is := config.Config.ExposedPorts["16000/tcp"]; !is || config.OS != "linux" || config.Config.User != "65532:65532" {
		t.Errorf("%+v", config.Config)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
	scripts := hbasetest.Load(t, "../../hbase/hbasetest/testdata/scripts/first.txt")
	for _, flags := range [][]string{nil, {"--data", "/data/hbase"}} {
		connect, end := contain(t, root, slices.Concat(config.Config.Entrypoint, flags))
		hbasetest.Conform(t, hbasetest.Go, connect, "image_", scripts, false)
		end()
	}
	t.Run("brine run", func(t *testing.T) { pipeline(t, root) })
}

// pipeline runs the commands of a pipeline from the root, as its user, who may write nowhere else than to /data, which no command asks for.
func pipeline(t *testing.T, root string) {
	kafka, err := broker.Start(kfake.NumBrokers(1), kfake.SeedTopics(2, "courier.scans"), kfake.SeedTopics(1, "courier.scans.dead"))
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	server := hbasetest.Run(t)
	text, err := os.ReadFile("../../examples/scans.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const events = 100
	var lines strings.Builder
	for i := range events {
		fmt.Fprintf(&lines, `{"waybill":"W%d","action":"ARRIVE","station":"JFK","at":1700000000000,"courier":"N1"}`+"\n", i)
	}
	for file, content := range map[string]string{"brine.yaml": string(text), "scans.jsonl": lines.String()} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"BRINE_KAFKA_BROKERS=" + kafka.ListenAddrs()[0], "BRINE_HBASE_CONNECT=" + server.Connect(), "BRINE_HTTP_LISTEN=127.0.0.1:0"}
	for _, command := range []string{
		"/brine tables apply -c /brine.yaml",
		"/brine publish -c /brine.yaml --topic courier.scans --key waybill /scans.jsonl",
		"/brine check --connect /brine.yaml",
		"/brine run -c /brine.yaml --until-end",
	} {
		cmd := contained(t, root, strings.Fields(command))
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	rows := 0
	for _, err := range server.Client(t).Scan(t.Context(), "logistics:scans", hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != events {
		t.Errorf("%d of %d rows are there", rows, events)
	}
}

// unpack writes the files of an image to a folder.
func unpack(t *testing.T, image v1.Image, root string) {
	t.Helper()
	files := mutate.Extract(image)
	defer func() { _ = files.Close() }()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		to := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(to, h.FileInfo().Mode())
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, content, h.FileInfo().Mode())
			}
		}
		if os.Getuid() == 0 {
			err = errors.Join(err, os.Chown(to, h.Uid, h.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(names, []string{"brine", "data"}) && !slices.Equal(names, []string{"brine", "data/"}) {
		t.Errorf("it holds %q", names)
	}
}

// weigh checks that the binary needs no libraries, and that it and the image stay within their bounds: a dependency that is heavier than its
// use is noticed when it is added, not when somebody wonders about the download.
func weigh(t *testing.T, image v1.Image, binary string) {
	t.Helper()
	file, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the binary is not static")
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	compressed, err := layers[0].Size()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("brine has %d bytes, the layer %d", file.Size(), compressed)
	if file.Size() > mostBytes || compressed > mostCompressed {
		t.Errorf("brine has %d bytes of at most %d, and its image %d of %d: see what came, and whether it is worth that",
			file.Size(), mostBytes, compressed, mostCompressed)
	}
}

// contained returns a command that runs from a root, as the image's user, without an environment.
func contained(t *testing.T, root string, command []string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

// contain runs brine hbase on a free port, contained. It returns the server's address, and a function that ends it.
func contain(t *testing.T, root string, command []string) (connect string, end func()) {
	t.Helper()
	cmd := contained(t, root, slices.Concat(command, []string{"--port", "0", "--json"}))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var at struct{ Connect string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&at); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(at.Connect, "rpc://localhost:") {
		t.Errorf("it is to be reached at %s", at.Connect)
	}
	return at.Connect, func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("SIGTERM ends it with %v", err)
		}
	}
}
