package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func TestMain(m *testing.M) {
	plugins.RegisterDefaultPlugins() // so that decoding knows the kinds of panels and queries
	os.Exit(m.Run())
}

func TestWrittenDashboardsAreThoseOfTheCode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(boards()) {
		t.Errorf("%d files for %d dashboards: %v", len(files), len(boards()), files)
	}
	for _, b := range boards() {
		name, want, err := b.render()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the code gives: run go generate ./deploy/grafana", name)
		}
	}
}

// Tests cannot run Grafana itself, but have its schema, as the types that its makers generate from it.
func TestDashboardsFitTheSchema(t *testing.T) {
	eachFile(t, func(t *testing.T, text []byte) {
		var d dashboard.Dashboard
		if err := d.UnmarshalJSONStrict(text); err != nil {
			t.Error(err)
		}
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
	})
}

func TestPanelsStandByThemselves(t *testing.T) {
	eachFile(t, func(t *testing.T, text []byte) {
		var d dashboard.Dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		ids := map[uint32]bool{}
		taken := map[[2]uint32]string{} // by column and line of the grid
		for _, p := range d.Panels {
			id, title, pos := place(p)
			if title == "" || ids[id] || id == 0 || pos == nil {
				t.Errorf("panel %d %q: title, id (once) and position are needed", id, title)
				continue
			}
			ids[id] = true
			if pos.X+pos.W > 24 {
				t.Errorf("%s ends at column %d of 24", title, pos.X+pos.W)
			}
			for x := pos.X; x < pos.X+pos.W; x++ {
				for y := pos.Y; y < pos.Y+pos.H; y++ {
					if other := taken[[2]uint32{x, y}]; other != "" {
						t.Fatalf("%s lies over %s", title, other)
					}
					taken[[2]uint32{x, y}] = title
				}
			}
			if p.Panel != nil {
				explained(t, p.Panel)
			}
		}
	})
}

func explained(t *testing.T, p *dashboard.Panel) {
	t.Helper()
	if p.Description == nil || *p.Description == "" {
		t.Errorf("%s has no description", *p.Title)
	}
	if p.FieldConfig.Defaults.Unit == nil {
		t.Errorf("%s has no unit", *p.Title)
	}
	if p.Datasource == nil || *p.Datasource.Uid != "${datasource}" {
		t.Errorf("%s does not ask the Prometheus that the reader chose", *p.Title)
	}
	if len(p.Targets) == 0 {
		t.Errorf("%s asks nothing", *p.Title)
	}
}

func place(p dashboard.PanelOrRowPanel) (id uint32, title string, pos *dashboard.GridPos) {
	if p.RowPanel != nil {
		return p.RowPanel.Id, *p.RowPanel.Title, p.RowPanel.GridPos
	}
	return *p.Panel.Id, *p.Panel.Title, p.Panel.GridPos
}

func eachFile(t *testing.T, check func(t *testing.T, text []byte)) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			check(t, text)
		})
	}
}
