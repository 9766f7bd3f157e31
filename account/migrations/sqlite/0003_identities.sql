-- +goose Up
CREATE TABLE identities (
  id       BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of issuer and subject
  account  INTEGER NOT NULL REFERENCES accounts (id),
  issuer   TEXT    NOT NULL,
  subject  TEXT    NOT NULL
);
