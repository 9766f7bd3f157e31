-- +goose Up
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  account TEXT NOT NULL,
  idem_key TEXT,
  fingerprint TEXT NOT NULL,
  asked TEXT NOT NULL,
  owner TEXT NOT NULL,
  state TEXT NOT NULL,
  cancel INTEGER NOT NULL,
  created INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  progress TEXT NOT NULL,
  detail TEXT NOT NULL,
  fix TEXT NOT NULL,
  results TEXT NOT NULL,
  cut INTEGER NOT NULL,
  UNIQUE (account, idem_key)
);

-- +goose Down
DROP TABLE jobs;
