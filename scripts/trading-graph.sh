#!/bin/sh
# The `trading-graph` command from a checkout, under any Node from 20 on: npm installs what is missing, and the program runs
# on the Node that npm has installed. Packages that an operator has installed stay as they are: a service may run on them.
root=$(dirname "$(dirname "$(readlink -f "$0")")")
case $root in
*/node_modules/*)
  echo 'This is a checkout of trading-graph and no package: clone it, and run the command there.' >&2
  exit 1
  ;;
esac
if [ -e "$root/node_modules/.setup-stamp" ] || [ ! -e "$root/node_modules/.package-lock.json" ]; then
  node "$root/scripts/setup.mjs" || exit
fi
PATH=$root/node_modules/.bin:$PATH
exec node "$root/src/cli/main.ts" "$@"
