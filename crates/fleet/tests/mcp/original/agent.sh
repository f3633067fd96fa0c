#!/bin/sh
# Stands for codex, gemini and claude, as both servers start them. The prompt says what to do: it is in .codefleet/prompt.txt
# or on standard input. The report goes to where each server reads it: a file, or lines of JSON.
name=${0##*/}
case "$1" in --version) echo "$name 1.2.3"; exit ;; esac
while [ $# -gt 0 ]; do
    case "$1" in
        --output-last-message) file=$2 ;;
    esac
    shift
done
if [ -e .codefleet/prompt.txt ]; then
    prompt=$(cat .codefleet/prompt.txt)
elif [ "$name" = claude ]; then
    read -r prompt
else
    prompt=$(cat)
fi
# `[say WORDS]`, of which the last counts: a stage may quote an earlier one.
word() { printf '%s' "$prompt" | tr '\n' ' ' | sed -n "s/.*\[$1 \([^]]*\)\].*/\1/p"; }
summary=$(word say)
summary=${summary:-had a look}
status=completed
echo "working" >&2
# The original loses a worker that ends before its start is stored.
sleep 0.5
case "$prompt" in
    *'[exit 3]'*) echo "something broke" >&2; exit 3 ;;
    *'[hang]'*) exec sleep 600 ;;
    *'[mumble]'*) echo "no report at all"; exit 0 ;;
    *'[blocked]'*) status=blocked ;;
    *'[nothing]'*) status=completed_no_changes ;;
    *'[claim]'*) ;;
    *'[write '*) echo "by $name" > "$(word write)" ;;
    *) status=completed_no_changes ;;
esac
tests='[{\"command\":\"make test\",\"status\":\"passed\",\"details\":\"3 of 3\"}]'
report='{\"summary\":\"'$summary'\",\"status\":\"'$status'\",\"files_changed\":[],\"tests\":'$tests',\"commits\":[],\"next_steps\":[\"have tea\"]}'
usage='"usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}'
case "$name" in
    codex)
        if [ -n "$file" ]; then
            printf '%s' "$report" | sed 's/\\"/"/g' > "$file"
            echo "codex is done"
            exit
        fi
        printf '%s\n' '{"type":"thread.started","thread_id":"stub"}' '{"type":"turn.started"}' \
            '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"'"$report"'"}}' \
            '{"type":"turn.completed",'"$usage"'}' ;;
    claude)
        printf '%s\n' '{"type":"system","subtype":"init","session_id":"stub","model":"claude-sonnet-4-6","tools":[]}' \
            '{"type":"result","subtype":"success","is_error":false,"session_id":"stub","result":"'"$report"'",'"$usage"'}' ;;
    gemini)
        printf '%s\n' '{"type":"init","session_id":"stub","model":"gemini-3.1-pro-preview"}' \
            '{"type":"message","role":"assistant","content":"'"$report"'"}' \
            '{"type":"result","status":"success","stats":{"input_tokens":1,"output_tokens":1}}' ;;
esac
