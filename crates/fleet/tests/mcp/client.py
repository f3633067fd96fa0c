"""The official client of the protocol at work with a server of codefleet.

Reads one JSON object from standard input:

  server   {"command", "args", "env"} to start one, or {"url", "token"} of one that is up
  story    the name of a function below
  repo     where the workers work

Prints one JSON object: what the story saw. Nothing is judged here; whoever started this does that.
"""

import asyncio
import json
import pathlib
import sys
from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


@asynccontextmanager
async def connected(server):
    """A client of the server: one that it starts, or one over HTTP."""
    if "url" in server:
        headers = {"Authorization": f"Bearer {server['token']}"}
        async with create_mcp_http_client(headers=headers) as http:
            async with Client(streamable_http_client(server["url"], http_client=http)) as client:
                yield client
    else:
        async with Client(StdioServerParameters(**server)) as client:
            yield client


async def call(client, tool, progress=None, **arguments):
    """What a tool answers, or what it says about its refusal. The client itself checks the answer by its schema."""
    result = await client.call_tool(tool, arguments, progress_callback=progress)
    text = "".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        return {"refused": result.structured_content, "text": text}
    assert json.loads(text) == result.structured_content, f"{tool} says two things: {text}"
    return result.structured_content


async def pages(ask, field):
    """All entries of a list that comes in pages."""
    entries, cursor = [], None
    while True:
        page = await ask(cursor=cursor)
        entries += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            return entries


def order(repo, script, name="play a script"):
    return {"repo_path": repo, "task_name": name, "prompt": f"```demo\n{script}\n```", "executor": "demo"}


async def waited(client, go=None, **which):
    """Waits, and returns the answer with what was told of the progress meanwhile. The first word of it makes the file."""
    told = []

    async def progress(done, total, message):
        told.append({"progress": done, "message": message})
        if go is not None:
            go.touch()

    answer = await call(client, "wait", progress=progress, **which)
    return {"answer": answer, "progress": told}


async def offered(client):
    """What a client learns before it asks for anything."""
    tools = await pages(client.list_tools, "tools")
    templates = await pages(client.list_resource_templates, "resource_templates")
    prompts = await pages(client.list_prompts, "prompts")
    return {
        "server": client.server_info.name,
        "protocol": client.protocol_version,
        "instructions": client.instructions,
        "tools": {
            tool.name: {
                "description": tool.description,
                "output": tool.output_schema is not None,
                "undescribed": [
                    name
                    for name, field in tool.input_schema.get("properties", {}).items()
                    if "description" not in field
                ],
                "read_only": tool.annotations.read_only_hint,
            }
            for tool in tools
        },
        "templates": [template.uri_template for template in templates],
        "prompts": [prompt.name for prompt in prompts],
    }


async def read(client, uri):
    contents = (await client.read_resource(uri)).contents
    return "".join(content.text for content in contents)


async def worker(server, repo):
    """One worker from its order to its cleaning up, and another that is cancelled."""
    async with connected(server) as client:
        seen = {"offered": await offered(client)}
        # It ends only after the client was told of its progress.
        go = pathlib.Path(repo, ".git", "go")
        made = await call(client, "create_worker", **order(repo, f"say hello\nwait-for {go}\nwrite a.txt one"))
        which = {"worker_id": made["worker_id"]}
        seen["made"] = made
        seen["waited"] = await waited(client, go, worker_ids=[made["worker_id"]], timeout_seconds=120)
        seen["collected"] = await call(client, "collect_worker_result", **which)
        seen["diff"] = await call(client, "get_diff", format="patch", **which)
        run = seen["collected"]["run_id"]
        seen["log"] = await read(client, f"fleet://run/{run}/log")
        seen["result"] = json.loads(await read(client, f"fleet://run/{run}/result"))
        listed = await pages(client.list_resources, "resources")
        seen["resources"] = [str(resource.uri) for resource in listed]
        prompt = await client.get_prompt("delegate", {"task": "mend the roof"})
        seen["prompt"] = "".join(message.content.text for message in prompt.messages)

        long = await call(client, "create_worker", **order(repo, "sleep 600s"))
        seen["cancelled"] = await call(client, "cancel_worker", worker_id=long["worker_id"])
        seen["after"] = await waited(client, worker_ids=[long["worker_id"]])
        seen["cleaned"] = await call(client, "cleanup_worker", worker_id=long["worker_id"])
        return seen


async def workflow(server, repo):
    """Three agents in a row from the order to the cleaning up, and the same once more, cancelled in the middle."""
    script = "```demo\nwrite {0}.txt hi\n```"
    stages = [
        {"name": "implement", "prompt_template": "{task_prompt}\n" + script.format("a")},
        {"name": "review", "prompt_template": "{stage_0_summary}\n{stage_0_files}\n" + script.format("b")},
        {"name": "refine", "prompt_template": "{stage_1_summary}\n{stage_1_next_steps}\n" + script.format("c")},
    ]
    for at, stage in enumerate(stages):
        needs, strategy = ([at - 1], "inherit") if at else ([], "new")
        stage |= {"executor": "demo", "worktree_strategy": strategy, "depends_on": needs}
    wish = {"repo_path": repo, "task_prompt": "Build it", "stages": stages}
    async with connected(server) as client:
        made = await call(client, "create_workflow", name="write-review-refine", **wish)
        which = {"workflow_id": made["workflow_id"]}
        seen = {"made": made}
        seen["waited"] = await waited(client, workflow_ids=[made["workflow_id"]], timeout_seconds=120)
        seen["status"] = await call(client, "get_workflow_status", **which)
        seen["collected"] = await call(client, "collect_workflow_result", include_all_stages=True, **which)

        stages[0]["prompt_template"] = "```demo\nsleep 600s\n```"
        other = await call(client, "create_workflow", name="too long", **wish)
        seen["cancelled"] = await call(client, "cancel_workflow", workflow_id=other["workflow_id"])
        seen["after"] = await waited(client, workflow_ids=[other["workflow_id"]], timeout_seconds=120)
        seen["end"] = await call(client, "get_workflow_status", workflow_id=other["workflow_id"])
        seen["listed"] = await call(client, "list_workflows")
        seen["cleaned"] = [
            await call(client, "cleanup_workflow", workflow_id=one["workflow_id"]) for one in (made, other)
        ]
        return seen


async def refusals(server, repo):
    """What a client is told when it asks for what cannot be."""
    async with connected(server) as client:
        seen = {
            "unknown": await call(client, "get_worker_status", worker_id="zzzz"),
            "repository": await call(client, "create_worker", **order("/nowhere/at/all", "say hi")),
            "argument": await call(client, "cancel_worker", worker_id="zzzz", colour="red"),
            "missing": await call(client, "create_worker", repo_path=repo),
        }
        try:
            await client.read_resource("fleet://run/zzzz/log")
        except MCPError as error:
            seen["resource"] = error.message
        try:
            await client.call_tool("fly", {})
        except MCPError as error:
            seen["tool"] = error.message
        return seen


async def two(server, repo):
    """Two clients at once: each waits for what the other one ordered."""
    async with connected(server) as one, connected(server) as other:
        clients = (one, other)
        made = await asyncio.gather(
            *(call(client, "create_worker", **order(repo, f"write {at}.txt hi")) for at, client in enumerate(clients))
        )
        ids = [worker["worker_id"] for worker in made]
        answers = await asyncio.gather(
            *(waited(client, worker_ids=[id]) for client, id in zip(clients, reversed(ids)))
        )
        lists = await asyncio.gather(*(call(client, "list_workers") for client in clients))
        return {
            "ids": ids,
            "done": [answer["answer"]["done"] for answer in answers],
            "lists": [sorted(worker["worker_id"] for worker in listed["workers"]) for listed in lists],
        }


STORIES = {story.__name__: story for story in (worker, workflow, refusals, two)}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps(asyncio.run(STORIES[asked["story"]](asked["server"], asked["repo"]))))
