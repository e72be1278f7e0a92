#!/usr/bin/env bash
# Takes the place of ssh for mpirun: runs a command on a node, <name>-<last part of the address>, under a host name of that node.
#   TUTTI_CLUSTER=<name> enter.sh 10.77.0.2 <command>
set -euo pipefail
node=${1##*.}
shift
exec ip netns exec "$TUTTI_CLUSTER-$node" unshare --uts bash -c "hostname node$node; $*"
