# shellcheck shell=bash
# Canal's server and the program around it. Tests start it, each with settings of its own. devcluster sources this file.

fetch_canal() {
  maven canal copy-dependencies "-DoutputDirectory=$1"
  javac -nowarn -proc:none -d "$1/classes" -cp "$1/*" "$here/canal/ChangeData.java"
}
