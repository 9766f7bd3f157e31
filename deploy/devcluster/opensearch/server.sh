# shellcheck shell=bash
# OpenSearch, one node without security. devcluster sources this file.

start_opensearch() {
  local dir=$1 http transport
  read -r http transport < <(ports opensearch 2)
  launch opensearch "$(opensearch_java)/bin/java" -Xms256m -Xmx512m --enable-native-access=ALL-UNNAMED -cp "$lib/opensearch/*:$lib/opensearch/classes" \
    brine.devcluster.OpenSearchServer "$dir/data" "$http" "$transport"
}

# opensearch_java prints the home of a JDK that OpenSearch runs on, or nothing.
opensearch_java() {
  local home version
  for home in ${OPENSEARCH_JAVA_HOME:-} /usr/lib/jvm/*; do
    [[ -x $home/bin/javac ]] || continue
    version=$("$home/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1)
    ((${version:-0} >= 21)) && { echo "$home"; return; }
  done
  return 0
}

ready_opensearch() { echo "OpenSearch is ready"; }

env_opensearch() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_OPENSEARCH=http://127.0.0.1:$port"
}

fetch_opensearch() {
  local dir=$1
  [[ -n $(opensearch_java) ]] || die "opensearch needs a JDK 21 or newer: none is in /usr/lib/jvm, and OPENSEARCH_JAVA_HOME names none"
  maven opensearch copy-dependencies "-DoutputDirectory=$dir"
  "$(opensearch_java)/bin/javac" -nowarn -proc:none -d "$dir/classes" -cp "$dir/*" "$here/opensearch/OpenSearchServer.java"
}
