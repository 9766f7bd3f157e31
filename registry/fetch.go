package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"

	"brine/internal/certs"
)

const (
	maxReferences = 256 // of one schema, including those of its references
	maxDepth      = 32  // depth of references of references
	maxSubjects   = 16  // number of a schema's subjects kept for messages
)

// The paths of Apicurio's two APIs.
const (
	ccompatPath  = "/apis/ccompat/v"
	apicurioPath = "/apis/registry/v3"
)

// connect creates the clients of the APIs.
func (c *Client) connect() error {
	if c.o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		if c.o.TLS != nil {
			certs.Follow(t, c.o.TLS)
		}
		t.MaxResponseHeaderBytes = 64 << 10
		c.o.Transport = t
	}
	plain := &http.Client{
		Transport: &bounded{base: c.o.Transport, most: c.o.MaxAnswerBytes},
		Timeout:   c.o.Timeout,
		// A redirect would carry the password to a place that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	options := []sr.ClientOpt{sr.HTTPClient(plain), sr.UserAgent("brine"), sr.PreReq(c.authorize)}
	var own []string
	for _, u := range c.o.URLs {
		if before, _, ok := strings.Cut(u, ccompatPath); ok {
			own = append(own, before+apicurioPath)
		}
	}
	var err error
	if c.api, err = sr.NewClient(append(options, sr.URLs(c.o.URLs...))...); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if len(own) == len(c.o.URLs) {
		json := sr.PreReq(func(r *http.Request) error { r.Header.Set("Accept", "application/json"); return c.authorize(r) })
		c.own, err = sr.NewClient(append(options, sr.URLs(own...), json)...)
	}
	return err
}

// authorize adds the credentials to a request.
func (c *Client) authorize(r *http.Request) error {
	password, token := c.o.now()
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	} else if c.o.Username != "" || password != "" {
		r.SetBasicAuth(c.o.Username, password)
	}
	return nil
}

// requestError is the error of one request, and its URL.
type requestError struct {
	url string
	err error
}

func (e *requestError) Error() string { return e.err.Error() }
func (e *requestError) Unwrap() error { return e.err }

func (c *Client) get(ctx context.Context, api *sr.Client, path string, into any) error {
	err := api.Do(ctx, http.MethodGet, path, nil, into)
	if err == nil {
		return nil
	}
	base := c.o.URLs[0]
	if api == c.own {
		before, _, _ := strings.Cut(base, ccompatPath)
		base = before + apicurioPath
	}
	at := strings.TrimSuffix(base, "/") + path
	var answered *sr.ResponseError
	if errors.As(err, &answered) {
		at = answered.URL // of several, the one that answered
	}
	return &requestError{url: at, err: err}
}

// answer is a schema as the API returns it. The type is a string, so that the decoder can refuse one that sr does not know.
type answer struct {
	ID         int64   `json:"id"` // of a version of a subject
	Schema     *string `json:"schema"`
	SchemaType string  `json:"schemaType"`
	Subject    string  `json:"subject"`
	Version    int     `json:"version"`
	References []struct {
		Name    string `json:"name"`
		Subject string `json:"subject"`
		Version int    `json:"version"`
	} `json:"references"`
}

var errNoSchema = errors.New("the answer holds no schema")

// schema requests a schema at a path.
func (c *Client) schema(ctx context.Context, path string) (*answer, error) {
	a := new(answer)
	if err := c.get(ctx, c.api, path, a); err != nil {
		return nil, err
	}
	if a.Schema == nil {
		return nil, &requestError{url: c.o.URLs[0] + path, err: errNoSchema}
	}
	return a, nil
}

// ask requests the schema of an id from the registry.
func (c *Client) ask(ctx context.Context, id ID) (*Schema, error) {
	path, err := c.pathOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.at(ctx, id, path)
}

// at requests the schema at a path, with everything that it needs. If no id is given, the answer has it.
func (c *Client) at(ctx context.Context, id ID, path string) (*Schema, error) {
	a, err := c.schema(ctx, path)
	if err != nil {
		return nil, err
	}
	if id.Kind == 0 {
		id = ID{Kind: Number, Number: a.ID}
	}
	s := &Schema{ID: id, Type: Type(strings.ToUpper(a.SchemaType)), Text: *a.Schema}
	if s.Type == "" {
		s.Type = Avro
	}
	left := c.o.MaxAnswerBytes - int64(len(s.Text))
	if s.Type == Protobuf {
		s.Descriptor = c.descriptor(ctx, path, &left)
	}
	walk := &references{client: c, schema: s, seen: map[string]bool{}, left: left}
	if err := walk.add(ctx, a, 0); err != nil {
		return nil, err
	}
	s.Subjects = c.subjects(ctx, path, a)
	return s, nil
}

// pathOf returns the API's path of an id's schema.
func (c *Client) pathOf(ctx context.Context, id ID) (string, error) {
	number := id.Number
	switch id.Kind {
	case GUID:
		return "/schemas/guids/" + id.guid(), nil
	case GlobalID:
		var err error
		if number, err = c.contentID(ctx, id.Number); err != nil {
			return "", err
		}
	}
	return "/schemas/ids/" + strconv.FormatInt(number, 10), nil
}

// descriptor requests the compiled form of a Protobuf schema; nil if the registry has none.
func (c *Client) descriptor(ctx context.Context, path string, left *int64) []byte {
	a, err := c.schema(sr.WithParams(ctx, sr.Format("serialized"), sr.ShowDeleted), path)
	if err != nil {
		return nil
	}
	// A registry that does not know the format answers with the text, whose spaces and semicolons are not base64.
	b, err := base64.StdEncoding.DecodeString(*a.Schema)
	if err != nil || len(b) == 0 || int64(len(b)) > *left {
		return nil
	}
	*left -= int64(len(b))
	return b
}

// subjects requests the subjects under which a schema is registered. They are only for messages, so a failed request returns none.
func (c *Client) subjects(ctx context.Context, path string, a *answer) []Subject {
	if a.Subject != "" {
		return []Subject{{Name: a.Subject, Version: a.Version}}
	}
	if !strings.HasPrefix(path, "/schemas/ids/") {
		return nil
	}
	var subjects []Subject
	if err := c.get(ctx, c.api, path+"/versions", &subjects); err != nil {
		return nil
	}
	return subjects[:min(len(subjects), maxSubjects)]
}

// references collects the schemas that a schema needs.
type references struct {
	client *Client
	schema *Schema
	seen   map[string]bool // by name: the first of a name counts, as in Confluent's own clients
	left   int64           // bytes still allowed
}

// add adds the references of a schema, each after its own references.
func (r *references) add(ctx context.Context, a *answer, depth int) error {
	for _, needed := range a.References {
		if r.seen[needed.Name] {
			continue
		}
		r.seen[needed.Name] = true
		path := "/subjects/" + url.PathEscape(needed.Subject) + "/versions/latest"
		if needed.Version > 0 {
			path = "/subjects/" + url.PathEscape(needed.Subject) + "/versions/" + strconv.Itoa(needed.Version)
		}
		if depth >= maxDepth || len(r.seen) > maxReferences {
			return &requestError{url: r.client.o.URLs[0] + path, err: fmt.Errorf("the schema has more than %d references, or they go deeper than %d",
				maxReferences, maxDepth)}
		}
		// Other schemas may still need a deleted version of a subject.
		b, err := r.client.schema(sr.WithParams(ctx, sr.ShowDeleted), path)
		if err != nil {
			return err
		}
		if r.left -= int64(len(*b.Schema)); r.left < 0 {
			return &requestError{url: r.client.o.URLs[0] + path, err: errTooLong(r.client.o.MaxAnswerBytes)}
		}
		found := Reference{Name: needed.Name, Subject: needed.Subject, Version: needed.Version, Text: *b.Schema}
		if r.schema.Descriptor != nil {
			found.Descriptor = r.client.descriptor(ctx, path, &r.left)
		}
		if err := r.add(ctx, b, depth+1); err != nil {
			return err
		}
		r.schema.References = append(r.schema.References, found)
	}
	return nil
}

var errNoGlobal = errors.New("registry.url is not the URL of an Apicurio's ccompat API")

// contentID requests the contentId of a globalId from Apicurio's own API, because its ccompat API does not know globalIds.
func (c *Client) contentID(ctx context.Context, global int64) (int64, error) {
	const path = "/search/versions"
	if c.own == nil {
		return 0, &requestError{url: c.o.URLs[0], err: errNoGlobal}
	}
	var found struct {
		Versions []struct {
			GlobalID  int64 `json:"globalId"`
			ContentID int64 `json:"contentId"`
		} `json:"versions"`
	}
	query := sr.RawParams(url.Values{"globalId": {strconv.FormatInt(global, 10)}})
	if err := c.get(sr.WithParams(ctx, query), c.own, path, &found); err != nil {
		return 0, err
	}
	for _, v := range found.Versions {
		if v.GlobalID == global && v.ContentID > 0 {
			return v.ContentID, nil
		}
	}
	before, _, _ := strings.Cut(c.o.URLs[0], ccompatPath)
	return 0, &requestError{url: before + apicurioPath + path, err: &sr.ResponseError{StatusCode: http.StatusNotFound,
		ErrorCode: sr.ErrSchemaNotFound.Code, Message: "no version has the globalId"}}
}
