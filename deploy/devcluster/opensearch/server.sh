# shellcheck shell=bash
# OpenSearch, one node without security. devcluster sources this file.

start_opensearch() {
  local dir=$1 java http transport
  java=$(need_java21 opensearch) || return 1
  read -r http transport < <(ports opensearch 2)
  launch opensearch "$java/bin/java" -Xms256m -Xmx512m -Djava.locale.providers=SPI,CLDR --enable-native-access=ALL-UNNAMED -cp "$lib/opensearch/*:$lib/opensearch/classes" \
    brine.devcluster.OpenSearchServer "$dir/data" "$http" "$transport"
}

ready_opensearch() { echo "OpenSearch is ready"; }

env_opensearch() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_OPENSEARCH=http://127.0.0.1:$port"
}

fetch_opensearch() {
  local dir=$1 java
  java=$(need_java21 opensearch) || exit 1
  maven opensearch copy-dependencies "-DoutputDirectory=$dir"
  # A runtime has no javac, and an older javac cannot read OpenSearch's classes: Eclipse's compiler is a jar.
  maven opensearch copy -Dartifact=org.eclipse.jdt:ecj:3.43.0 "-DoutputDirectory=$dir/compiler"
  "$java/bin/java" -jar "$dir"/compiler/ecj-*.jar -21 -nowarn -proc:none -d "$dir/classes" -cp "$(printf '%s:' "$dir"/*.jar)" \
    "$here/opensearch/OpenSearchServer.java"
}
