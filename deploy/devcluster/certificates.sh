# shellcheck shell=bash
# Certificates of servers that speak TLS, and of their clients; devcluster sources this file.

# certificates DIR makes, once, a certificate authority (ca.pem) and what it has signed: server.pem, with its key, for a server, client.pem
# and client.key for a client. Their names are those of loopback.
certificates() {
  local dir=$1 name
  [[ -f $dir/client.pem ]] && return
  mkdir -p "$dir"
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=brine devcluster" -keyout "$dir/ca.key" -out "$dir/ca.pem" || return
  printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' >"$dir/extensions"
  for name in server client; do
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout "$dir/$name.key" -out "$dir/$name.csr" || return
    openssl x509 -req -in "$dir/$name.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 3650 \
      -extfile "$dir/extensions" -out "$dir/$name.crt" || return
  done
  cat "$dir/server.key" "$dir/server.crt" >"$dir/server.pem"
  mv "$dir/client.crt" "$dir/client.pem"
}
