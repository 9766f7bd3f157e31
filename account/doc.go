// Package account keeps who may ask brine what: accounts with their roles, sessions, API tokens, and the audit of what was done.
//
// All of it is in one SQL database: a SQLite file of this machine, or MySQL or MariaDB. Other packages keep what must be committed
// together with it, such as the outbox of commands, in the same database: they take Store.DB, write their statements for both values of
// Store.Dialect with ? as the placeholder, and bring their tables with Store.Migrate, from a folder of migrations for each dialect
// (migrations/sqlite, migrations/mysql, as goose reads them) and with a table of versions of their own, such as commands_versions. Times
// are milliseconds since 1970 in both dialects.
//
// The invariants: no password and no token is stored, only hashes; what is answered to a wrong password, an unknown name and a disabled
// account is the same; a token or session has no more than the role that its account has now; and what Audit returned nil for is
// committed. No statement changes or deletes an entry of the audit.
package account
