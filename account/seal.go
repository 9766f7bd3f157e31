package account

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
)

// sealer returns the cipher of this database, which all processes that have it open share.
func (s *Store) sealer(ctx context.Context) (cipher.AEAD, error) {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	insert := "INSERT INTO sealing (id, secret) VALUES (1, ?) ON CONFLICT (id) DO NOTHING"
	if s.dialect == MySQL {
		insert = "INSERT IGNORE INTO sealing (id, secret) VALUES (1, ?)"
	}
	if _, err := s.db.ExecContext(ctx, insert, key); err != nil {
		return nil, err
	}
	if err := s.db.QueryRowContext(ctx, "SELECT secret FROM sealing WHERE id = 1").Scan(&key); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts a text that only the same bearer can bring back and nobody can read, such as a position in an answer.
func (s *Store) Seal(bearer, text string) string {
	return base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, []byte(text), []byte(bearer)))
}

// Unseal returns what was sealed for a bearer; ok reports whether it was.
func (s *Store) Unseal(bearer, sealed string) (text string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	out, err := s.seal.Open(nil, nil, b, []byte(bearer))
	return string(out), err == nil
}
