package kafkaauth

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// claims returns from when until when a token is valid, as it says itself if it is a JWT; nobody checks here who signed it. Zero times
// are what it does not say.
func claims(text string) (since, ends time.Time) {
	_, rest, _ := strings.Cut(text, ".")
	body, _, ok := strings.Cut(rest, ".")
	if !ok {
		return since, ends
	}
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(body, "="))
	if err != nil {
		return since, ends
	}
	var said struct {
		Exp float64 `json:"exp"`
		Nbf float64 `json:"nbf"`
		Iat float64 `json:"iat"`
	}
	if json.Unmarshal(plain, &said) != nil {
		return since, ends
	}
	return at(math.Max(said.Nbf, said.Iat)), at(said.Exp)
}

// at is a time of a token: seconds since 1970.
func at(seconds float64) (t time.Time) {
	const most = 1 << 40
	if seconds <= 0 || seconds > most {
		return t
	}
	return time.Unix(int64(seconds), 0)
}
