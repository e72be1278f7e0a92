#!/usr/bin/env bash
# Nodes of a cluster as network namespaces of this machine, for tests by root. All traffic stays inside the namespaces.
#   network.sh up <name> <count> [rate]    nodes <name>-1 to <name>-<count> with addresses 10.77.0.1 ..., joined by a bridge
#   network.sh part <name> <node>...       joins these nodes by a bridge without a way to the others: a partition
#   network.sh cut|mend <name> <node>      takes the node's link down; or ends that, a partition and a limit
#   network.sh slow <name> <node> <rate>   limits what the node sends: 2mbit
#   network.sh kill <name> <node>          ends all processes of the node at once, as if it had lost power
#   network.sh down <name>                 ends all processes of the nodes, and removes everything
set -euo pipefail
action=$1 name=$2
nodes() { ip netns list | cut -d' ' -f1 | grep -E "^$name-([0-9]+|net)$" || true; }
end() { ip netns pids "$1" | xargs --no-run-if-empty kill -KILL 2>/dev/null || true; }
limit() { ip netns exec "$1" tc qdisc replace dev eth0 root tbf rate "$2" burst 1mb latency 50ms; }

case $action in
  up)
    trap '"$0" down "$name"' ERR
    ip netns add "$name-net"
    for bridge in bridge0 bridge1; do
      ip -n "$name-net" link add "$bridge" type bridge
      ip -n "$name-net" link set "$bridge" up
    done
    for node in $(seq "$3"); do
      ip netns add "$name-$node"
      ip -n "$name-$node" link add eth0 type veth peer name "node$node" netns "$name-net"
      ip -n "$name-net" link set "node$node" master bridge0 up
      ip -n "$name-$node" address add "10.77.0.$node/24" dev eth0
      ip -n "$name-$node" link set lo up
      # What was sent to a node that is gone counts as lost after 6 s instead of a quarter of an hour: launchers have no limit for it.
      ip netns exec "$name-$node" bash -c 'echo 4 >/proc/sys/net/ipv4/tcp_retries2'
      ip -n "$name-$node" link set eth0 up
      if [ -n "${4-}" ]; then limit "$name-$node" "$4"; fi
    done
    ;;
  part) for node in "${@:3}"; do ip -n "$name-net" link set "node$node" master bridge1; done ;;
  cut) ip -n "$name-net" link set "node$3" down ;;
  mend)
    ip -n "$name-net" link set "node$3" master bridge0 up
    ip netns exec "$name-$3" tc qdisc del dev eth0 root 2>/dev/null || true
    ;;
  slow) limit "$name-$3" "$4" ;;
  kill) end "$name-$3" ;;
  down)
    for node in $(nodes); do end "$node"; ip netns del "$node"; done
    ;;
esac
