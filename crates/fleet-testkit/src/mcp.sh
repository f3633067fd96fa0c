# An MCP server on standard input and output with one tool, fake_echo. $1 is a file that gets a line for each call.
while IFS= read -r line; do
    # What has no id wants no answer.
    case $line in
        *'"id":'*) ;;
        *) continue ;;
    esac
    id=${line##*'"id":'}
    id=${id%%[,\}]*}
    case $line in
        *'"method":"initialize"'*)
            version=${line#*'"protocolVersion":"'}
            version=${version%%'"'*}
            result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}'
            ;;
        *'"method":"tools/list"'*)
            schema='{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
            result='{"tools":[{"name":"fake_echo","description":"Says the text again.","inputSchema":'$schema'}]}'
            ;;
        *'"method":"tools/call"'*)
            printf '%s\n' "$line" >> "$1"
            result='{"content":[{"type":"text","text":"echo from the test"}],"isError":false}'
            ;;
        *'"method":"ping"'*)
            result='{}'
            ;;
        *)
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
            continue
            ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
