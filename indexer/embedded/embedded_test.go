package embedded_test

import (
	"testing"

	"go.uber.org/goleak"

	"brine/indexer"
	"brine/indexer/embedded"
	"brine/indexer/indexertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	e := open(t, t.TempDir())
	indexertest.Run(t, func(*testing.T) indexer.Engine { return e })
}
