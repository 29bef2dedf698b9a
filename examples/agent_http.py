"""An agent behind an address, with Python's standard library alone: python3 examples/agent_http.py 8091

It says everything that it was given or told; put your assistant in its place. The protocol: docs/agent-protocol.md
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

told = {}  # its own memory: what the user told it, by scope


def respond(request):
    tools, steps = request.get("tools"), request.get("steps", [])
    if tools and not steps and request["tool_calls_left"] > 0:
        query = request["turns"][-1]["content"]
        return {"tool_calls": [{"id": "call-1", "name": tools[0]["name"], "input": {"query": query}}]}
    own = told.get(request["scope"], [])
    if request.get("told", len(own)) != len(own):
        # Started again in between, it would look more discreet than it is.
        return fail("memory_lost", f"told {request['told']}, remembers {len(own)}")
    found = [result["content"] for step in steps for result in step["results"]]
    notes = request.get("memories", found if tools else own)
    return {"message": "\n".join(notes), "usage": {"calls": 0}}


def tell(request):
    told.setdefault(request["scope"], []).extend(turn["content"] for turn in request["turns"])
    return {"told": True, "message": "Noted.", "usage": {"calls": 0}}


def forget(request):
    told.pop(request["scope"], None)
    return {"forgotten": True}


def fail(code, message):
    return {"error": {"code": code, "message": message}}


def answer(request):
    if request["protocol"] != 1:
        return fail("unknown_protocol", "this agent speaks version 1")
    kinds = {"respond": respond, "tell": tell, "forget": forget}
    kind = kinds.get(request["type"])
    return kind(request) if kind else fail("unknown_type", request["type"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(answer(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8091), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
