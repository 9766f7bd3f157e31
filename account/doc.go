// Package account stores who may use brine: accounts with their roles, sessions, API tokens, and the audit of what was done.
//
// All of it is in one SQL database: a SQLite file on this machine, or MySQL or MariaDB. Other packages keep what must be committed together
// with it, such as the outbox of commands, in the same database: they take Store.DB, write their statements for both values of
// Store.Dialect with ? as the placeholder, and create their tables with Store.Migrate, from one folder of migrations per dialect
// (migrations/sqlite, migrations/mysql, as goose reads them) and with their own table of versions, such as commands_versions. Times are
// milliseconds since 1970 in both dialects.
//
// The invariants: no password and no token is stored, only hashes. A wrong password, an unknown name and a disabled account get the same
// answer. A token or session has at most the role that its account has now. Everything for which Audit returned nil is committed. No
// statement changes or deletes an entry of the audit.
package account
