-- MySQL has no transactions of these: who died between two of them left the first, and they are run again.
-- +goose Up
CREATE TABLE IF NOT EXISTS accounts (
  id       BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name     VARCHAR(190) NOT NULL UNIQUE,
  owner    VARCHAR(190) NOT NULL DEFAULT '',
  role     VARCHAR(16)  NOT NULL,
  enabled  TINYINT      NOT NULL DEFAULT 1,
  hash     VARCHAR(512) NOT NULL,
  created  BIGINT       NOT NULL,
  changed  BIGINT       NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sessions (
  token    BINARY(32) NOT NULL PRIMARY KEY,
  account  BIGINT     NOT NULL,
  created  BIGINT     NOT NULL,
  used     BIGINT     NOT NULL,
  INDEX sessions_account (account),
  CONSTRAINT sessions_of FOREIGN KEY (account) REFERENCES accounts (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tokens (
  id       BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  token    BINARY(32)   NOT NULL UNIQUE,
  account  BIGINT       NOT NULL,
  name     VARCHAR(190) NOT NULL,
  role     VARCHAR(16)  NOT NULL,
  created  BIGINT       NOT NULL,
  expires  BIGINT       NOT NULL,
  used     BIGINT       NOT NULL DEFAULT 0,
  INDEX tokens_account (account),
  CONSTRAINT tokens_of FOREIGN KEY (account) REFERENCES accounts (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS delays (
  who      VARCHAR(255) NOT NULL PRIMARY KEY,
  failures BIGINT       NOT NULL,
  until    BIGINT       NOT NULL,
  changed  BIGINT       NOT NULL,
  INDEX delays_changed (changed)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS audit (
  id       BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at       BIGINT        NOT NULL,
  account  VARCHAR(190)  NOT NULL,
  role     VARCHAR(16)   NOT NULL,
  action   VARCHAR(190)  NOT NULL,
  object   TEXT          NOT NULL,
  reason   VARCHAR(1024) NOT NULL,
  address  VARCHAR(64)   NOT NULL,
  request  VARCHAR(64)   NOT NULL,
  INDEX audit_account (account, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
