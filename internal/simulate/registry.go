package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/registry"
)

// ofRegistry is the name prefix of the faults that only plans have whose records name schemas.
const ofRegistry = "registry"

// unknownAfter is how long processes ask for an id that the registry does not know.
const unknownAfter = 20 * time.Second

// answer is how the registry treats requests.
type answer uint8

const (
	answerWell answer = iota
	answerAway
	answerNever
	answerGarbage
	answerRefusal
	answerUnknown
)

// registryFake answers requests for schemas as a registry would, or wrongly. The processes call it directly, without a network.
type registryFake struct {
	schemas map[int]any // answers by id

	mu    sync.Mutex
	wrong []trait
}

// trait is a fault in progress.
type trait struct {
	answer answer
	over   chan struct{}
}

// newRegistryFake returns the registry of a plan, or nil if its records name no schemas.
func newRegistryFake(p *Plan) *registryFake {
	if !p.registered() {
		return nil
	}
	g := &registryFake{schemas: map[int]any{textTimes: registered(avroSchema(0, `"string"`), "AVRO")}}
	for edition := range 60 {
		if p.Format == "avro" {
			at := []string{`{"type":"long","logicalType":"timestamp-millis"}`, `{"type":"long","logicalType":"timestamp-micros"}`}[edition%2]
			g.schemas[firstEdition+edition] = registered(avroSchema(edition, at), "AVRO")
		} else {
			g.schemas[firstEdition+edition] = registered(protobufSchema(edition), "PROTOBUF")
		}
	}
	return g
}

func registered(schema, kind string) any {
	return map[string]string{"schema": schema, "schemaType": kind}
}

func avroSchema(edition int, at string) string {
	var fields []string
	for _, i := range rotated(edition) {
		kind := `"string"`
		if columns[i] == "at" {
			kind = at
		}
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":["null",%s],"default":null}`, columns[i], kind))
	}
	return fmt.Sprintf(`{"type":"record","name":"Scan","doc":"edition %d","fields":[%s]}`, edition, strings.Join(fields, ","))
}

func protobufSchema(edition int) string {
	var fields strings.Builder
	for number, i := range rotated(edition) {
		kind := "string"
		if columns[i] == "at" {
			kind = "int64"
		}
		fmt.Fprintf(&fields, "  optional %s %s = %d;\n", kind, columns[i], number+1)
	}
	return fmt.Sprintf("syntax = \"proto3\";\nmessage Other {}\nmessage Scan {\n%s}\n", &fields)
}

// client returns a process's client of the registry.
func (g *registryFake) client() (*registry.Client, error) {
	return registry.New(registry.Options{URLs: []string{"http://registry"}, UnknownAfter: unknownAfter, Transport: g})
}

// RoundTrip answers one request.
func (g *registryFake) RoundTrip(q *http.Request) (*http.Response, error) {
	g.mu.Lock()
	var wrong trait
	if len(g.wrong) > 0 {
		wrong = g.wrong[len(g.wrong)-1]
	}
	g.mu.Unlock()
	switch wrong.answer {
	case answerAway:
		return nil, fmt.Errorf("nobody listens")
	case answerNever:
		select {
		case <-q.Context().Done():
			return nil, q.Context().Err()
		case <-wrong.over:
			return nil, io.ErrUnexpectedEOF
		}
	case answerGarbage:
		return response(q, http.StatusOK, "<html>it works!</html>"), nil
	case answerRefusal:
		return response(q, http.StatusUnauthorized, `{"error_code":40101,"message":"Unauthorized"}`), nil
	case answerUnknown:
		return response(q, http.StatusNotFound, `{"error_code":40403,"message":"Schema not found"}`), nil
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(q.URL.Path, "/schemas/ids/")) // 0, which nobody has, for another path
	schema := g.schemas[id]
	if schema == nil {
		return response(q, http.StatusNotFound, `{"error_code":40403,"message":"Schema not found"}`), nil
	}
	text, err := json.Marshal(schema)
	return response(q, http.StatusOK, string(text)), err
}

func response(q *http.Request, status int, body string) *http.Response {
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/vnd.schemaregistry.v1+json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewBufferString(body)), Request: q}
}

// schemas makes the registry answer wrongly while the fault lasts.
func (t *trouble) schemas(a answer) {
	g := t.registry
	if g == nil { // a plan of another format was given this fault
		return
	}
	mine := trait{a, make(chan struct{})}
	g.mu.Lock()
	g.wrong = append(g.wrong, mine)
	g.mu.Unlock()
	t.last()
	g.mu.Lock()
	for i := range g.wrong {
		if g.wrong[i] == mine {
			g.wrong = append(g.wrong[:i:i], g.wrong[i+1:]...)
			break
		}
	}
	g.mu.Unlock()
	close(mine.over)
}
