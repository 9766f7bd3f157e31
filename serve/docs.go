package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"html/template"
	"net/http"

	"brine/account"
)

//go:embed docs.html
var docsText string

//go:embed docs.css
var docsStyle string

var docsPage = template.Must(template.New("docs").Parse(docsText))

// pages returns the routes that describe the other routes. Their answers are made once, from the table of routes.
func (s *Server) pages() ([]*endpoint, error) {
	openAPI, page := []byte(nil), bytes.Buffer{}
	sum := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	pages := []*endpoint{
		{method: http.MethodGet, path: openAPIPath, id: "openapi", about: "Get this document.", answer: map[string]any{}, free: true,
			role:   account.Customer,
			handle: func(c *call) error { return c.made(jsonType, openAPI) }},
	}
	s.routes = append(s.routes, pages...)
	openAPI, err := s.OpenAPI()
	if err != nil {
		return nil, err
	}
	type shown struct {
		Method, Path, About string
		Params              []docsParam
	}
	data := struct {
		Style  template.CSS
		Routes []shown
		Kinds  []docsKind
	}{Style: template.CSS(docsStyle)} //nolint:gosec // the style is our own
	for _, e := range s.routes {
		route := shown{Method: e.method, Path: e.path, About: e.about}
		for _, p := range e.params {
			route.Params = append(route.Params, docsParam{p.name, p.kind.String(), p.about, p.required})
		}
		data.Routes = append(data.Routes, route)
	}
	for _, k := range kinds {
		data.Kinds = append(data.Kinds, docsKind{k.name, k.status, k.title, k.about})
	}
	if err := docsPage.Execute(&page, data); err != nil {
		return nil, err
	}
	s.mux.Handle("GET "+docsPath, s.handler(&endpoint{method: http.MethodGet, path: docsPath, id: "docs", role: account.Customer, free: true,
		handle: func(c *call) error {
			c.w.Header().Set("Content-Security-Policy", policy)
			return c.made("text/html; charset=utf-8", page.Bytes())
		}}))
	s.routes = s.routes[:len(s.routes)-len(pages)]
	return pages, nil
}

type docsParam struct {
	Name, Type, About string
	Required          bool
}

type docsKind struct {
	Name         string
	Status       int
	Title, About string
}

// made sends a prepared answer.
func (c *call) made(form string, text []byte) error {
	c.w.Header().Set("Content-Type", form)
	_, _ = c.w.Write(text) // an error means that the client is gone
	return nil
}
