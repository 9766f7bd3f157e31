package kafkaauth

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// claims returns the validity of a token as stated in the token if it is a JWT; the signature is not checked here. Missing times are zero.
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

// at returns a time in a token, in seconds since 1970.
func at(seconds float64) (t time.Time) {
	const most = 1 << 40
	if seconds <= 0 || seconds > most {
		return t
	}
	return time.Unix(int64(seconds), 0)
}
