-- +goose Up
CREATE TABLE commands (
  id TEXT NOT NULL PRIMARY KEY,
  account TEXT NOT NULL,
  idem_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  table_name TEXT NOT NULL,
  command TEXT NOT NULL,
  order_row BLOB NOT NULL,
  order_key TEXT NOT NULL,
  expected_version INTEGER,
  version INTEGER NOT NULL,
  to_state TEXT NOT NULL,
  record_key BLOB NOT NULL,
  event BLOB NOT NULL,
  state TEXT NOT NULL,
  detail TEXT NOT NULL,
  topic TEXT NOT NULL,
  part INTEGER NOT NULL,
  off INTEGER NOT NULL,
  swept INTEGER NOT NULL,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  UNIQUE (account, idem_key),
  UNIQUE (order_key, expected_version)
);
CREATE INDEX commands_state ON commands (state, created);

-- +goose Down
DROP TABLE commands;
