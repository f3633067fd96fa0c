"""A script for the tools of the Python codefleet 0.3.26, as its users write them.

It does not know which server it talks to. Reads one JSON object from standard input: `server` (command, args, env), `repo`
(a git repository) and `workflows` (files with stages, by name). Prints what it saw: a list of [step, answer]. Nothing is
judged here; the test that starts it compares what it saw of two servers.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

LONG = "A name that is much longer than any title should be, as models like to write them. " * 8


class Script:
    def __init__(self, session, repo):
        self.session, self.repo, self.seen = session, repo, []

    async def call(self, tool, arguments):
        """What a tool says: one object of JSON, also about failures. What the framework refuses is text."""
        result = await self.session.call_tool(tool, arguments)
        text = result.content[0].text
        try:
            return json.loads(text)
        except ValueError:
            return {"refused": result.isError}

    async def step(self, name, tool, /, **arguments):
        answer = await self.call(tool, arguments)
        self.seen.append([name, answer])
        return answer

    async def worker(self, name, prompt, /, **more):
        order = {"repo_path": self.repo, "task_name": name, "prompt": prompt, **more}
        return (await self.step(f"create {name[:40]}", "create_worker", **order)).get("worker_id")

    async def workflow(self, name, stages, /, **more):
        order = {"name": name, "repo_path": self.repo, "task_prompt": "[write a.txt] [say made it]", "stages": stages}
        return (await self.step(f"create {name[:40]}", "create_workflow", **{**order, **more})).get("workflow_id")

    async def ended(self, tool, /, **arguments):
        """Asks until it has ended, as its users have to."""
        for _ in range(600):
            answer = await self.call(tool, arguments)
            if answer["status"] not in ("pending", "running"):
                return answer
            await asyncio.sleep(0.1)
        raise TimeoutError(f"{tool} {arguments}: {answer}")

    async def started(self, tool, is_started, /, **arguments):
        """Asks until it is at work: one server starts it at once, the other as soon as it has a free slot."""
        for _ in range(600):
            answer = await self.call(tool, arguments)
            if is_started(answer):
                return
            await asyncio.sleep(0.1)
        raise TimeoutError(f"{tool} {arguments}: {answer}")

    async def worker_started(self, worker_id):
        await self.started("get_worker_status", lambda worker: worker["started_at"], worker_id=worker_id)

    async def workflow_started(self, workflow_id):
        def is_started(workflow):
            return workflow["stage_summary"][0]["status"] == "running"

        await self.started("get_workflow_status", is_started, workflow_id=workflow_id)

    async def worker_ended(self, worker_id):
        return await self.ended("get_worker_status", worker_id=worker_id)

    async def workflow_ended(self, workflow_id):
        return await self.ended("get_workflow_status", workflow_id=workflow_id)


async def look_around(s):
    tools = await s.session.list_tools()
    s.seen.append(["tools", {tool.name: True for tool in tools.tools}])
    await s.step("health", "healthcheck")
    await s.step("guide", "executor_guide")
    await s.step("no workers", "list_workers")
    await s.step("no workflows", "list_workflows", limit=5)


async def workers(s):
    """One worker of each kind, all at once."""
    ids = {
        "full": await s.worker(
            "Fix: the parser (v2)", "[write b.txt] [say parser fixed]",
            base_ref="HEAD", model="gpt-5.5", executor="codex", reasoning_effort="high", timeout_seconds=120,
            profile="careful", tags=["ui", "needs review", "fast"],
            metadata={"ticket": "A-1", "round": 2, "deep": {"list": [1, None, True]}, "": "", "two words": 1.5},
        ),
        "plain": await s.worker("plain", "[write c.txt] [say plain]"),
        "gemini": await s.worker("by gemini", "[write d.txt] [say gemini did]", executor="gemini"),
        "claude": await s.worker("by claude", "[write e.txt] [say claude did]", executor="claude", model="claude-sonnet-4-6"),
        "nothing": await s.worker("nothing to do", "[nothing] [say all is well]"),
        "blocked": await s.worker("blocked", "[blocked] [say no network]"),
        "claim": await s.worker("empty claim", "[claim] [say all done]"),
        "exit": await s.worker("exit", "[exit 3]"),
        "mumble": await s.worker("no report", "[mumble]"),
        "late": await s.worker("late", "[hang]", timeout_seconds=1),
        "long": await s.worker(LONG, "[nothing] [say long]"),
        "empty": await s.worker("", "[nothing] [say nameless]"),
        "child": None,
    }
    ids["child"] = await s.worker("child", "[nothing] [say child]", parent_worker_id=ids["plain"])
    for name, worker_id in ids.items():
        s.seen.append([f"status {name}", await s.worker_ended(worker_id)])
        await s.step(f"result {name}", "collect_worker_result", worker_id=worker_id)
    await s.step("logs", "collect_worker_result", worker_id=ids["exit"], include_logs=True, log_tail_lines=1)
    await s.step("no logs", "collect_worker_result", worker_id=ids["exit"], include_logs=True, log_tail_lines=0)
    return ids


async def cancelling(s):
    hanging = await s.worker("hanging", "[hang]", tags=[], metadata={})
    await s.step("unfinished", "collect_worker_result", worker_id=hanging)
    await s.worker_started(hanging)
    await s.step("too early", "cleanup_worker", worker_id=hanging)
    await s.step("cancel", "cancel_worker", worker_id=hanging)
    await s.step("cancelled", "collect_worker_result", worker_id=hanging)
    await s.step("cancel again", "cancel_worker", worker_id=hanging)


async def listing(s):
    await s.step("all", "list_workers", limit=-1)
    await s.step("newest", "list_workers", limit=2)
    await s.step("none", "list_workers", limit=0)
    await s.step("some", "list_workers", statuses=["succeeded", "cancelled"], limit=1000)
    await s.step("no status", "list_workers", statuses=[])
    await s.step("odd status", "list_workers", statuses=["done"])
    await s.step("cleanup failed", "list_workers", statuses=["cleanup_failed"])
    # Values that the framework makes fit.
    await s.step("quoted", "list_workers", limit="3", statuses='["failed"]')


async def wrong(s):
    """What is wrong about calls, told in an answer."""
    for name, more in {
        "no folder": {"repo_path": "/no/such/folder"},
        "no repository": {"repo_path": "/"},
        "no executor": {"executor": "Codex"},
        "no base": {"base_ref": "no-such-branch"},
        "wrong vendor": {"model": "claude-opus-4-7"},
    }.items():
        order = {"repo_path": s.repo, "task_name": "wrong", "prompt": "[nothing]", **more}
        await s.step(name, "create_worker", **order)
    await s.step("no such worker", "get_worker_status", worker_id="w_000000000000")
    await s.step("nothing to collect", "collect_worker_result", worker_id="w_000000000000")
    await s.step("nothing to cancel", "cancel_worker", worker_id="w_000000000000")
    await s.step("nothing to clean", "cleanup_worker", worker_id="w_000000000000")
    for tool in ["get_workflow_status", "collect_workflow_result", "cancel_workflow", "cleanup_workflow"]:
        await s.step(f"no such workflow: {tool}", tool, workflow_id="wf_000000000000")
    # The framework refuses these.
    await s.step("no prompt", "create_worker", repo_path=s.repo, task_name="x")
    await s.step("odd limit", "list_workers", limit="many")
    # And takes these.
    odd = await s.worker("odd", "[nothing] [say odd]", colour="red", verbose=True)
    await s.worker_ended(odd)
    await s.step("more", "get_worker_status", worker_id=odd, verbose=True)


def stage(name, prompt, executor="codex", **more):
    return {"name": name, "executor": executor, "prompt_template": prompt, **more}


async def workflows(s):
    line = [
        stage("write code!", "{task_prompt}", worktree_strategy="new", depends_on=[]),
        stage("review", "[nothing] [say saw {stage_0_summary}] {unknown}", "claude",
              worktree_strategy="inherit", depends_on=[0], timeout_seconds=90, reasoning_effort="high"),
        stage("review", "[write r.txt] [say refined]", "gemini", worktree_strategy="inherit", depends_on=[1, 0],
              model="gemini-3.1-pro-preview"),
    ]
    broken = [
        stage("good", "[nothing] [say fine]"),
        stage("bad", "[exit 3]", depends_on=[0]),
        stage("never", "[nothing] [say never]", depends_on=[1]),
    ]
    ids = {
        "line": await s.workflow("a line / of three", line, timeout_seconds=100),
        "broken": await s.workflow("broken", broken, base_ref="HEAD"),
        "odd": await s.workflow("odd", [stage("one", "[nothing] [say one]", colour="red")], colour="red"),
    }
    for name, workflow_id in ids.items():
        s.seen.append([f"status {name}", await s.workflow_ended(workflow_id)])
        await s.step(f"result {name}", "collect_workflow_result", workflow_id=workflow_id)
        await s.step(f"stages {name}", "collect_workflow_result", workflow_id=workflow_id, include_all_stages=True,
                     include_logs=True)
    hanging = await s.workflow("hanging", [stage("hang", "[hang]"), stage("after", "[nothing]", depends_on=[0])])
    await s.workflow_started(hanging)
    await s.step("too early for all", "cleanup_workflow", workflow_id=hanging)
    await s.step("cancel all", "cancel_workflow", workflow_id=hanging)
    await s.step("cancel all again", "cancel_workflow", workflow_id=hanging)
    await s.step("cancelled all", "collect_workflow_result", workflow_id=hanging)
    await s.step("all workflows", "list_workflows", limit=-1)
    await s.step("succeeded", "list_workflows", statuses=["succeeded"])
    await s.step("odd workflows", "list_workflows", statuses=["done"])
    for name, stages in {
        "no stages": [],
        "itself": [stage("a", "x", depends_on=[0])],
        "out of range": [stage("a", "x", depends_on=[7])],
        "before": [stage("a", "x", depends_on=[-1])],
        "circle": [stage("a", "x", depends_on=[1]), stage("b", "x", depends_on=[0])],
        "inner circle": [stage("r", "x"), stage("a", "x", depends_on=[0, 2]), stage("b", "x", depends_on=[1])],
        "inherits nothing": [stage("a", "x", worktree_strategy="inherit")],
        "no such stage": [stage("a", "[nothing] [say {stage_7_summary}]")],
        "capital": [stage("a", "x", "Codex")],
        "no template": [{"name": "a", "executor": "codex"}],
        "wrong vendor": [stage("a", "x", model="claude-opus-4-7")],
    }.items():
        await s.workflow(name, stages)
    return ids


async def cleaning(s, workers, workflows):
    for name in ["nothing", "exit"]:
        await s.step(f"clean {name}", "cleanup_worker", worker_id=workers[name])
    await s.step("keep the branch", "cleanup_worker", worker_id=workers["plain"], remove_branch=False)
    await s.step("keep the folder", "cleanup_worker", worker_id=workers["blocked"], remove_branch="false",
                 remove_worktree_dir=False)
    await s.step("after cleaning", "get_worker_status", worker_id=workers["plain"])
    await s.step("clean all", "cleanup_workflow", workflow_id=workflows["odd"])


async def files(s, workflows):
    """Workflows from files, as they are shared."""
    ids = {}
    for name, file in workflows.items():
        ids[name] = await s.workflow(name, file["stages"], task_prompt="[write f.txt] [say done by file]")
    for name, workflow_id in ids.items():
        s.seen.append([f"status {name}", await s.workflow_ended(workflow_id)])
        await s.step(f"result {name}", "collect_workflow_result", workflow_id=workflow_id, include_all_stages=True)


async def main():
    order = json.load(sys.stdin)
    async with stdio_client(StdioServerParameters(**order["server"])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            s = Script(session, order["repo"])
            await look_around(s)
            made = await workers(s)
            await cancelling(s)
            await listing(s)
            await wrong(s)
            flows = await workflows(s)
            await files(s, order["workflows"])
            await cleaning(s, made, flows)
    json.dump(s.seen, sys.stdout)


asyncio.run(main())
