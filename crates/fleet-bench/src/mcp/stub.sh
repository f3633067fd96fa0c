#!/bin/sh
# An agent that has nothing to think about, called `codex` and asked in either of two ways: with --output-last-message it
# writes its report into a file, with --json it tells it line by line. In a repository that holds `stub-changes` it changes
# something. Builtins only: what is measured is what is around it.
case "$1" in --version) echo 'codex-cli 0.166.0'; exit ;; esac
status=completed_no_changes
if [ -e stub-changes ]; then
    status=completed
    echo "$$" >> changed.txt
fi
while [ $# -gt 0 ]; do
    case "$1" in
        --output-last-message) file=$2 ;;
        --json) lines=yes ;;
    esac
    shift
done
if [ -n "$file" ]; then
    printf '{"summary":"done","status":"%s","files_changed":[],"tests":[],"commits":[],"next_steps":[]}' "$status" > "$file"
fi
if [ -n "$lines" ]; then
    report='{\"summary\":\"done\",\"status\":\"'$status'\",\"files_changed\":[],\"tests\":[],\"commits\":[],\"next_steps\":[]}'
    printf '%s\n' '{"type":"thread.started","thread_id":"stub"}' '{"type":"turn.started"}' \
        '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"'"$report"'"}}' \
        '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
fi
