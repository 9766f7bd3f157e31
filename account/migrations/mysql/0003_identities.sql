-- +goose Up
CREATE TABLE IF NOT EXISTS identities (
  id       BINARY(32)   NOT NULL PRIMARY KEY,
  account  BIGINT       NOT NULL,
  issuer   VARCHAR(512) NOT NULL,
  subject  VARCHAR(255) NOT NULL,
  CONSTRAINT identities_of FOREIGN KEY (account) REFERENCES accounts (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
