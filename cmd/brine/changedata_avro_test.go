package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

// The paths of Apicurio's two APIs: its own, of the version that its converter for Kafka Connect speaks, and Confluent's.
const (
	apicurioAPI = "/apis/registry/v2"
	ccompatAPI  = "/apis/ccompat/v7"
)

// globalIDs is the difference between the globalId of a schema and its contentId.
const globalIDs = 1000

// apicurioRegistry is a registry in which Apicurio's converter registers schemas.
type apicurioRegistry struct {
	*schemaRegistry
	t *testing.T

	mu    sync.Mutex
	ids   map[string]int // contentIds, by text; guarded by mu
	names []string       // of records, by contentId from 1 on; guarded by mu
}

func newApicurioRegistry(t *testing.T) *apicurioRegistry {
	t.Helper()
	r := &apicurioRegistry{schemaRegistry: newSchemaRegistry(t), t: t, ids: map[string]int{}}
	r.Intercept(func(w http.ResponseWriter, q *http.Request) bool {
		var answer any
		switch path := q.URL.Path; {
		case q.Method == http.MethodPost && strings.HasPrefix(path, apicurioAPI+"/groups/") && strings.HasSuffix(path, "/artifacts"):
			answer = r.register(q)
		case path == "/apis/registry/v3/search/versions":
			global, err := strconv.Atoi(q.URL.Query().Get("globalId"))
			if err != nil || global <= globalIDs {
				return false
			}
			answer = map[string]any{"count": 1, "versions": []any{map[string]any{"globalId": global, "contentId": global - globalIDs}}}
		default:
			q.URL.Path = strings.TrimPrefix(path, ccompatAPI)
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
		return true
	})
	return r
}

// register adds the schema that a request holds, unless it is there, and returns what describes it.
func (r *apicurioRegistry) register(q *http.Request) any {
	text, err := io.ReadAll(q.Body)
	var record struct{ Name string }
	if err == nil {
		err = json.Unmarshal(text, &record)
	}
	if err != nil {
		r.t.Errorf("a schema %q: %v", text, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	artifact := q.Header.Get("X-Registry-ArtifactId")
	id := r.ids[string(text)]
	if id == 0 {
		id = len(r.ids) + 1
		r.ids[string(text)], r.names = id, append(r.names, record.Name)
		r.SeedSchema(artifact, id, id, sr.Schema{Schema: string(text)})
	}
	return map[string]any{"id": artifact, "groupId": "default", "type": "AVRO", "version": fmt.Sprint(id), "globalId": globalIDs + id, "contentId": id}
}

// nameOf returns the name of the record with whose schema a value is written, in Confluent's framing or that of Apicurio's globalIds.
func (r *apicurioRegistry) nameOf(value []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := int(binary.BigEndian.Uint32(value[1:5]))
	if id == 0 { // the first half of a globalId
		id = int(binary.BigEndian.Uint64(value[1:9])) - globalIDs
	}
	if id < 1 || id > len(r.names) {
		r.t.Fatalf("the value %x has a schema that nobody registered", value[:min(len(value), 12)])
	}
	return r.names[id-1]
}

// inAvro makes the job read records in Avro by a registry. Its schemas say how decimals and times are written.
func (j *job) inAvro(url, framing string) {
	j.t.Helper()
	j.replace("    topic: "+j.topic+"\n", "    topic: "+j.topic+"\n    format: avro\n")
	j.replace("hbase:\n", fmt.Sprintf("registry: { url: %q, framing: %s }\nhbase:\n", url, framing))
}
