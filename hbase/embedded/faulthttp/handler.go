// Package faulthttp offers the faults of an embedded HBase over HTTP, for tests in other languages and processes: calls that fail, wait,
// lose their connection or are never answered; regions that split, merge and move; servers that die; a full disk. It is a JSON layer over
// embedded.Server's own methods and adds nothing else. docs/test-hbase.md describes the routes.
//
// The invariant: without the token, the only answer is that the token is missing.
package faulthttp

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"brine/hbase/embedded"
)

// maxBody limits the size of a request's JSON in bytes.
const maxBody = 64 << 10

// errorStatus is an error with its HTTP status.
type errorStatus struct {
	status int
	err    error
}

func (e *errorStatus) Error() string { return e.err.Error() }

func badRequest(format string, args ...any) error {
	return &errorStatus{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &errorStatus{http.StatusNotFound, fmt.Errorf(format, args...)}
}

// Handler returns the routes of a server, for callers that send the token as a bearer token. The token must not be empty.
func Handler(server *embedded.Server, token string) (http.Handler, error) {
	if token == "" {
		return nil, errors.New("faulthttp: the token is empty")
	}
	p := &port{server: server}
	mux := http.NewServeMux()
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /v1/status": p.status, "POST /v1/reset": p.reset,
		"GET /v1/faults": p.listFaults, "POST /v1/faults": p.addFault,
		"DELETE /v1/faults": p.dropFaults, "DELETE /v1/faults/{id}": p.dropFault,
		"GET /v1/regions": p.listRegions, "POST /v1/regions/split": p.split,
		"POST /v1/regions/merge": p.merge, "POST /v1/regions/move": p.move, "POST /v1/regions/balance": p.balance,
		"POST /v1/nodes": p.addNode, "POST /v1/nodes/{node}/{do}": p.node,
		"POST /v1/disk": p.disk,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			answer, err := do(r)
			write(w, answer, err)
		})
	}
	return guarded(mux, token), nil
}

// port is the state behind the routes.
type port struct {
	server *embedded.Server
	faults faults
}

// guarded admits only requests that present the token.
func guarded(h http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(shown))
		if !bearer || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			write(w, nil, &errorStatus{http.StatusUnauthorized, errors.New("send the token of the faults port: Authorization: Bearer TOKEN")})
			return
		}
		h.ServeHTTP(w, r)
	})
}

func write(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusConflict // the state of the server prevents it
		if own, ok := errors.AsType[*errorStatus](err); ok {
			status = own.status
		}
		answer = map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the caller is gone
}

// read decodes a request's JSON, which must not have unknown fields or trailing data. If the body is empty, into is unchanged.
func read(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	switch err := d.Decode(into); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return badRequest("the JSON of the request: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return badRequest("the request has more than one JSON value")
	}
	return nil
}
