# Makes and runs one server for as long as its owner holds the other end of the pipe on standard input, then
# leaves nothing behind. A line on the pipe stops the server and starts it again, once there is no file `away`. The end
# of the owner, kill -9 included, closes the pipe: no signal handler and no static destructor has to run. Arguments: the
# directory of the programs, the private directory, the superuser, options of the server.
bin=$1 dir=$2 user=$3
shift 3
exec 3<&0 </dev/null

serve() {
  "$bin/initdb" --pgdata="$dir/data" --username="$user" --auth=trust \
    --encoding=UTF8 --locale=C --no-sync 3<&- || return
  while :; do
    "$bin/postgres" -D "$dir/data" "$@" 3<&- &
    server=$!
    watch &
    watcher=$!
    wait "$server"
    kill "$watcher"
    [ -e "$dir/again" ] || return
    rm "$dir/again"
    # Not for ever: an owner that died meanwhile is noticed only by the next watch.
    tenths=600
    while [ "$tenths" -gt 0 ] && [ -e "$dir/away" ]; do
      sleep 0.1
      tenths=$((tenths - 1))
    done
  done
}

# A fast shutdown, which does not wait for clients; no shutdown at all if that takes longer than ten seconds.
watch() {
  if read -r _ <&3; then : >"$dir/again"; fi
  kill -INT "$server"
  tenths=100
  while [ "$tenths" -gt 0 ] && kill -0 "$server"; do
    sleep 0.1
    tenths=$((tenths - 1))
  done
  kill -KILL "$server"
}

serve "$@"
# The server may have ended by itself, or have failed to start: the owner sees this file, and can still read
# the log.
: >"$dir/ended"
read -r _ <&3
cd /
rm -rf "$dir"
