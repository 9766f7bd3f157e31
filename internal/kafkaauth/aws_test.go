package kafkaauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

// signingKey derives the key that signs a day's requests to a service, as published by AWS (Signature Version 4).
func signingKey(secret, day, region, service string) []byte {
	key := []byte("AWS4" + secret)
	for _, part := range []string{day, region, service, "aws4_request"} {
		key = mac(key, part)
	}
	return key
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// msk is a broker of Amazon MSK that knows users' secrets by key id.
type msk struct {
	host, region string
	secrets      map[string]string
}

// accepts checks a request by the published rules, without code shared with the signer.
func (b *msk) accepts(request []byte, now time.Time) error {
	var said map[string]string
	if err := json.Unmarshal(request, &said); err != nil {
		return err
	}
	if said["version"] != "2020_10_22" || said["host"] != b.host || said["action"] != "kafka-cluster:Connect" ||
		said["x-amz-algorithm"] != "AWS4-HMAC-SHA256" || said["x-amz-signedheaders"] != "host" || said["user-agent"] == "" {
		return fmt.Errorf("not such a request: %q", said)
	}
	at, err := time.Parse("20060102T150405Z", said["x-amz-date"])
	if err != nil || now.Sub(at).Abs() > 5*time.Minute || said["x-amz-expires"] == "" {
		return fmt.Errorf("not of now: %q", said["x-amz-date"])
	}
	id, scope, _ := strings.Cut(said["x-amz-credential"], "/")
	day := at.Format("20060102")
	if want := day + "/" + b.region + "/kafka-cluster/aws4_request"; scope != want {
		return fmt.Errorf("scope %s, want %s", scope, want)
	}
	var query []string // ordered by name, as written in a URL
	for _, name := range []string{"Action", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
		"X-Amz-SignedHeaders"} {
		if value, ok := said[strings.ToLower(name)]; ok {
			query = append(query, name+"="+strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
		}
	}
	slices.Sort(query)
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	canonical := "GET\n/\n" + strings.Join(query, "&") + "\nhost:" + b.host + "\n\nhost\n" + hash("")
	text := "AWS4-HMAC-SHA256\n" + said["x-amz-date"] + "\n" + scope + "\n" + hash(canonical)
	want := mac(signingKey(b.secrets[id], day, b.region, "kafka-cluster"), text)
	if got, err := hex.DecodeString(said["x-amz-signature"]); err != nil || b.secrets[id] == "" || !hmac.Equal(got, want) {
		return errors.New("access denied")
	}
	return nil
}

// The key of AWS's published example shows that the signature check here is right.
func TestSigningKey(t *testing.T) {
	got := hex.EncodeToString(signingKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1", "iam"))
	if want := "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A broker that checks signatures accepts ours, made with and without a session, and none made with another secret. The secret itself is
// not sent.
func TestRequestsAreSignedForAmazonMSK(t *testing.T) {
	const host = "b-1.orders.abc123.c2.kafka.eu-central-1.amazonaws.com"
	broker := &msk{host, "eu-central-1", map[string]string{"AKIAORDERS": "s3cret/with+signs="}}
	for _, c := range []struct {
		name string
		keys AWSKeys
		says string // empty: accepted
	}{
		{"keys of a user", AWSKeys{ID: "AKIAORDERS", Secret: "s3cret/with+signs="}, ""},
		{"keys of a role", AWSKeys{ID: "AKIAORDERS", Secret: "s3cret/with+signs=", Session: "a token/of+a role=="}, ""},
		{"another secret", AWSKeys{ID: "AKIAORDERS", Secret: "other"}, "access denied"},
		{"an unknown id", AWSKeys{ID: "AKIAOTHER", Secret: "s3cret/with+signs="}, "access denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := AWS(func() AWSKeys { return c.keys })
			if m.Name() != "AWS_MSK_IAM" {
				t.Errorf("it is called %s", m.Name())
			}
			state, request, err := m.Start(sasl.WithMetadata(t.Context(), &sasl.Metadata{Host: host, Port: 9098}))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(request), c.keys.Secret) {
				t.Errorf("the secret is sent: %s", request)
			}
			if err := broker.accepts(request, time.Now()); c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			done, response, err := state.Next(t.Context(), []byte(`{"version":"2020_10_22","request-id":"1"}`))
			if !done || response != nil || err != nil {
				t.Errorf("after the broker's answer: %v, %q, %v", done, response, err)
			}
		})
	}
}

// The next connection's request is signed with changed keys.
func TestChangedKeysSignTheNextRequest(t *testing.T) {
	keys := AWSKeys{ID: "AKIAONE", Secret: "one"}
	m := AWS(func() AWSKeys { return keys })
	const host = "b-1.c2.kafka.us-east-1.amazonaws.com"
	broker := &msk{host, "us-east-1", map[string]string{"AKIATWO": "two"}}
	for _, want := range []bool{false, true} {
		_, request, err := m.Start(sasl.WithMetadata(t.Context(), &sasl.Metadata{Host: host, Port: 9098}))
		if err != nil {
			t.Fatal(err)
		}
		if err := broker.accepts(request, time.Now()); (err == nil) != want {
			t.Errorf("keys %s: %v", keys.ID, err)
		}
		keys = AWSKeys{ID: "AKIATWO", Secret: "two"}
	}
}

// For a name without a region AWS_REGION is used; if that is not set, the error says what to do.
func TestRegionOfABroker(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	m := AWS(func() AWSKeys { return AWSKeys{ID: "AKIAORDERS", Secret: "secret"} })
	_, _, err := start(t, m)
	if !errors.Is(err, kafka.SASLAuthenticationFailed) || !strings.Contains(Advice(err), "AWS_REGION") {
		t.Errorf("%v (%s)", err, Advice(err))
	}
	t.Setenv("AWS_REGION", "eu-west-1")
	_, request, err := start(t, m)
	if err != nil {
		t.Fatal(err)
	}
	broker := &msk{"localhost", "eu-west-1", map[string]string{"AKIAORDERS": "secret"}}
	if err := broker.accepts([]byte(request), time.Now()); err != nil {
		t.Error(err)
	}
}
