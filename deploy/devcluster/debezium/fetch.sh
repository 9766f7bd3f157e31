# shellcheck shell=bash
# Debezium's engine and the program around it, with the connector of Postgres, and in mysql that of MySQL and MariaDB, which is of another
# release. Tests start it, each with settings of its own. devcluster sources this file.

fetch_debezium() {
  maven debezium copy-dependencies "-DoutputDirectory=$1"
  javac -nowarn -proc:none -d "$1/classes" -cp "$1/*" "$here/debezium/ChangeData.java"
  maven debezium/mysql copy-dependencies "-DoutputDirectory=$1/mysql"
  javac -nowarn -proc:none -d "$1/mysql/classes" -cp "$1/mysql/*" "$here/debezium/ChangeData.java"
}
