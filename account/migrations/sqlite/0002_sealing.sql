-- +goose Up
CREATE TABLE sealing (
  id       INTEGER PRIMARY KEY,
  secret   BLOB    NOT NULL
);
