# shellcheck shell=bash
# OpenSearch, one node without security. devcluster sources this file.

start_opensearch() {
  local dir=$1 java http transport
  java=$(need_jdk21 opensearch) || return 1
  read -r http transport < <(ports opensearch 2)
  launch opensearch "$java/bin/java" -Xms256m -Xmx512m --enable-native-access=ALL-UNNAMED -cp "$lib/opensearch/*:$lib/opensearch/classes" \
    brine.devcluster.OpenSearchServer "$dir/data" "$http" "$transport"
}

ready_opensearch() { echo "OpenSearch is ready"; }

env_opensearch() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_OPENSEARCH=http://127.0.0.1:$port"
}

fetch_opensearch() {
  local dir=$1 java
  java=$(need_jdk21 opensearch) || exit 1
  maven opensearch copy-dependencies "-DoutputDirectory=$dir"
  "$java/bin/javac" -nowarn -proc:none -d "$dir/classes" -cp "$dir/*" "$here/opensearch/OpenSearchServer.java"
}
