# shellcheck shell=bash
# asynchbase with its dependencies. Tests start it. devcluster sources this file.

fetch_asynchbase() { maven asynchbase copy-dependencies "-DoutputDirectory=$1" -DincludeScope=runtime; }
