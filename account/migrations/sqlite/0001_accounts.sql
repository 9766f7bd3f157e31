-- +goose Up
CREATE TABLE accounts (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT    NOT NULL UNIQUE,      -- normalised
  owner    TEXT    NOT NULL DEFAULT '',  -- whose rows a customer sees
  role     TEXT    NOT NULL,
  enabled  INTEGER NOT NULL DEFAULT 1,
  hash     TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  changed  INTEGER NOT NULL
);

CREATE TABLE sessions (
  token    BLOB    NOT NULL PRIMARY KEY, -- SHA-256
  account  INTEGER NOT NULL REFERENCES accounts (id),
  created  INTEGER NOT NULL,
  used     INTEGER NOT NULL
);
CREATE INDEX sessions_account ON sessions (account);

CREATE TABLE tokens (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  token    BLOB    NOT NULL UNIQUE,      -- SHA-256
  account  INTEGER NOT NULL REFERENCES accounts (id),
  name     TEXT    NOT NULL,
  role     TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  expires  INTEGER NOT NULL,
  used     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX tokens_account ON tokens (account);

CREATE TABLE delays (
  who      TEXT    NOT NULL PRIMARY KEY, -- account NAME, or address ADDRESS
  failures INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  changed  INTEGER NOT NULL
);
CREATE INDEX delays_changed ON delays (changed);

CREATE TABLE audit (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  at       INTEGER NOT NULL,
  account  TEXT    NOT NULL,
  role     TEXT    NOT NULL,
  action   TEXT    NOT NULL,
  object   TEXT    NOT NULL,
  reason   TEXT    NOT NULL,
  address  TEXT    NOT NULL,
  request  TEXT    NOT NULL
);
CREATE INDEX audit_account ON audit (account, id);

-- +goose StatementBegin
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd
