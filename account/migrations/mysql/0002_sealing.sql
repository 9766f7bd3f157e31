-- +goose Up
CREATE TABLE IF NOT EXISTS sealing (
  id       INT        NOT NULL PRIMARY KEY,
  secret   BINARY(32) NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
