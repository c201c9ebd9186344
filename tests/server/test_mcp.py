"""An agent asks through the client of the protocol's own library, over standard input and output."""

import asyncio
import os
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

from server.serving import Server
from tacit import Budget

ROOT = Path(__file__).parents[2]
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("served").resolve())
    yield server
    server.close()


def talk(served, name, conversation, *, asked=None, alone="0.05"):
    """Have a conversation as an agent; `asked` is the person at the client."""
    environment = {**os.environ, "TACIT_TOKEN": served.token("agent"), "PYTHONPATH": str(ROOT / "src")}
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "tacit", "mcp", "--url", served.url, "--alone", alone], env=environment
    )

    async def person(context, parameters):
        asked.append(parameters.message)
        return ElicitResult(action="accept", content={"buy": len(asked) > 1})

    async def main():
        async with Client(program, elicitation_callback=None if asked is None else person) as client:

            async def call(tool, **arguments):
                result = await client.call_tool(tool, {"dataset": name, **arguments} if tool != "datasets" else {})
                text = "\n".join(part.text for part in result.content)
                return text if result.is_error else result.structured_content

            return await conversation(call, client)

    return asyncio.run(main())


def test_an_agent_finds_its_way_and_buys_once(served):
    name = served.add(Budget(epsilon=1))

    async def conversation(call, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {*tools} == {"datasets", "schema", "offer", "ask", "remaining", "verify"}
        assert tools["offer"].annotations.read_only_hint and not tools["ask"].annotations.read_only_hint
        assert "decided" not in tools["ask"].input_schema["properties"], "an agent cannot consent for a person"
        assert name in (await call("datasets"))["result"]
        assert '[columns."age"]' in (await call("schema"))["tables"]["people"]
        offer = await call("offer", sql=COUNT, share="0.02")
        assert not offer["free"] and offer["share_of_budget"] == 0.02 and offer["affordable"]
        assert (await call("remaining"))["share_left"] == 1
        answer = await call("ask", sql=COUNT, share="0.02")
        (row,) = answer["rows"]
        assert row["n"]["low"] < row["n"]["value"] < row["n"]["high"] and answer["share_left"] == 0.98
        assert (await call("ask", sql=COUNT, share="0.02"))["rows"] == answer["rows"]
        assert (await call("offer", sql=COUNT, share="0.02"))["free"]
        assert (await call("remaining"))["share_left"] == 0.98, "charged once"
        told = await call("verify", entry=answer["entry"], column="n", number=row["n"]["value"])
        assert told["sound"] and told["number_is_of_this_answer"]
        told = await call("verify", entry=answer["entry"], number=row["n"]["value"] + 1)
        assert not told["number_is_of_this_answer"]
        return row["n"]["value"]

    value = talk(served, name, conversation)
    with served.seen_by("agent", name) as curator:
        release = curator.ask(COUNT, share="0.02")
        assert release["n"].tolist() == [value] and curator.remaining == Fraction(98, 100), "one question in every door"


def test_refusals_say_what_to_do(served):
    name = served.add(Budget(epsilon=1))

    async def conversation(call, client):
        assert "line 1, column 8" in await call("ask", sql="SELECT person FROM people", share="0.01")
        assert "no such data set" in await call("remaining", dataset="none")
        assert "exactly one" in await call("offer", sql=COUNT, share="0.1", epsilon="0.1")
        assert "No release of this ledger" in await call("verify", entry="0" * 64)
        assert "cannot ask a person" in await call("ask", sql=COUNT, share="0.5")
        assert (await call("remaining"))["share_left"] == 1

    talk(served, name, conversation)


def test_a_person_is_asked_before_an_agent_spends_much(served):
    name, asked = served.add(Budget(epsilon=1)), []

    async def conversation(call, client):
        assert (await call("offer", sql=COUNT, share="0.3"))["a_person_decides"]
        assert "declined" in await call("ask", sql=COUNT, share="0.3")
        assert (await call("remaining"))["share_left"] == 1, "nothing was charged"
        answer = await call("ask", sql=COUNT, share="0.3")
        assert answer["share_left"] == 0.7
        assert (await call("ask", sql=COUNT, share="0.3"))["rows"] == answer["rows"], "free, so nobody is asked"

    talk(served, name, conversation, asked=asked)
    assert len(asked) == 2 and all("30.00%" in message and COUNT in message for message in asked)
