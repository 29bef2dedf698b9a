"""An agent that is a program, with Python's standard library alone: HEAMS starts it and writes to its stdin.

It says everything that it was given or told; put your assistant in its place. The protocol: docs/agent-protocol.md
Libraries may print to stdout what they like: only what follows the token of HEAMS_FRAME is read as a reply.
"""

import json
import os
import sys

told = {}  # its own memory: what the user told it, by scope


def respond(request):
    tools, steps = request.get("tools"), request.get("steps", [])
    if tools and not steps and request["tool_calls_left"] > 0:
        query = request["turns"][-1]["content"]
        return {"tool_calls": [{"id": "call-1", "name": tools[0]["name"], "input": {"query": query}}]}
    own = told.get(request["scope"], [])
    found = [result["content"] for step in steps for result in step["results"]]
    notes = request.get("memories", found if tools else own)
    return {"message": "\n".join(notes), "usage": {"calls": 0}}


def tell(request):
    told.setdefault(request["scope"], []).extend(turn["content"] for turn in request["turns"])
    return {"told": True, "message": "Noted.", "usage": {"calls": 0}}


def forget(request):
    told.pop(request["scope"], None)
    return {"forgotten": True}


def answer(request):
    kinds = {"respond": respond, "tell": tell, "forget": forget}
    kind = kinds.get(request["type"])
    if request["protocol"] != 1 or kind is None:
        return {"error": {"code": "unknown_request", "message": f"{request['protocol']}, {request['type']}"}}
    return kind(request)


token = os.environ["HEAMS_FRAME"]
for line in sys.stdin.buffer:  # ends when HEAMS closes the input
    request = json.loads(line)
    reply = {"id": request["id"], **answer(request)}
    print(token, json.dumps(reply), flush=True)
