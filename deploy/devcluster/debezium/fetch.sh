# shellcheck shell=bash
# Debezium's engine and the program around it. Tests start it, each with settings of its own. devcluster sources this file.

fetch_debezium() {
  maven debezium copy-dependencies "-DoutputDirectory=$1"
  javac -nowarn -proc:none -d "$1/classes" -cp "$1/*" "$here/debezium/ChangeData.java"
}
