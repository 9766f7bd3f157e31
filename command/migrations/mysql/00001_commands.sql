-- MySQL has no transactions of this: who died behind it, before its version was noted, runs it again.
-- +goose Up
CREATE TABLE IF NOT EXISTS commands (
  id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  account VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  idem_key VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fingerprint CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  table_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  command VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  order_row VARBINARY(32767) NOT NULL,
  order_key CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expected_version BIGINT,
  version BIGINT NOT NULL,
  to_state TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  record_key BLOB NOT NULL,
  event MEDIUMBLOB NOT NULL,
  state VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  detail TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  part INT NOT NULL,
  off BIGINT NOT NULL,
  swept INT NOT NULL,
  created BIGINT NOT NULL,
  changed BIGINT NOT NULL,
  UNIQUE KEY commands_idem (account, idem_key),
  UNIQUE KEY commands_place (order_key, expected_version),
  KEY commands_state (state, created)
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE commands;
