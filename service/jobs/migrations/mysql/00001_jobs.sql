-- MySQL has no transactions of this: who died behind it, before its version was noted, runs it again.
-- +goose Up
CREATE TABLE IF NOT EXISTS jobs (
  id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  kind VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  account VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  idem_key VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin,
  fingerprint CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  asked MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  owner VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  cancel INT NOT NULL,
  created BIGINT NOT NULL,
  started BIGINT NOT NULL,
  ended BIGINT NOT NULL,
  seen BIGINT NOT NULL,
  progress MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  detail TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fix TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  results MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  cut INT NOT NULL,
  UNIQUE KEY jobs_idem (account, idem_key)
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE jobs;
