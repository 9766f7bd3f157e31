// Command image writes the image of the test HBase (docs/test-hbase.md) as a file for docker load and podman load. It needs no container
// engine, so the tests can build the image and run what is in it.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/alecthomas/kong"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// user is the image's user and group, which has no name: there is no /etc/passwd. /data belongs to it.
const user = 65532

type command struct {
	File    string `arg:"" type:"path" help:"File to write."`
	Arch    string `default:"amd64" enum:"amd64,arm64" help:"Architecture: amd64 or arm64."`
	Version string `default:"dev" help:"Version that the binary reports."`
	Tag     string `default:"brine-hbase:latest" help:"Name of the image."`
}

func (c *command) Run(ctx context.Context) error {
	tag, err := name.NewTag(c.Tag)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary, err := build(ctx, dir, c.Arch, c.Version)
	if err != nil {
		return err
	}
	image, err := testHBase(binary, c.Arch)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(c.File, tag, image)
}

// build links brine statically and stripped, as it is released.
func build(ctx context.Context, dir, arch, version string) (binary string, err error) {
	binary = filepath.Join(dir, "brine")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", binary, "brine/cmd/brine")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// testHBase returns an image of one layer: the binary, and /data for tables that survive a restart. Flags of brine hbase may follow the
// entry point; the last --advertise counts.
func testHBase(binary, arch string) (v1.Image, error) {
	files, err := layer(binary)
	if err != nil {
		return nil, err
	}
	compressed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: arch, Config: v1.Config{
		User:         fmt.Sprintf("%d:%d", user, user),
		ExposedPorts: map[string]struct{}{"16000/tcp": {}},
		Entrypoint:   []string{"/brine", "hbase", "--listen", "0.0.0.0", "--advertise", "localhost"},
	}})
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(image, compressed)
}

// layer returns the image's files as a tar, without times, so that the same binary gives the same image.
func layer(binary string) ([]byte, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Typeflag: tar.TypeReg, Name: "brine", Mode: 0o755, Size: int64(len(content))}, content},
		{tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o700, Uid: user, Gid: user}, nil},
	} {
		if err := w.WriteHeader(&f.header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cli := kong.Parse(&command{}, kong.Description("Writes the image of the test HBase as a file."), kong.BindTo(ctx, (*context.Context)(nil)))
	cli.FatalIfErrorf(cli.Run())
}
