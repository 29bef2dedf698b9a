"""A memory behind an address, with Python's standard library alone: python3 examples/memory_server.py 8092

It finds facts by the words that they share with the query; put your memory in its place. The protocol:
docs/memory-protocol.openapi.yaml
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

ABOUT = {
    "name": "example-memory",
    "protocol": 1,
    "capabilities": {"rewrites": False, "provenance": True, "honours_k": True},
}
scopes = {}  # the facts of each scope by id, in the order of writing: a fact that is sent twice is kept once


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def answer(method, path, body):
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if method == "GET" and parts == [""]:
        return 200, ABOUT
    if parts[0] != "scopes" or len(parts) not in (2, 3):
        return 404, {"error": "no such path"}
    scope, what = scopes.get(parts[1], {}), parts[2] if len(parts) == 3 else ""
    items = [{"text": fact["text"], "fact_ids": [fact["id"]]} for fact in scope.values()]
    if (method, what) == ("POST", "facts"):
        scopes.setdefault(parts[1], {}).update({fact["id"]: fact for fact in body["facts"]})
        return 200, {}
    if (method, what) == ("GET", "ready"):
        return 200, {"ready": True}  # with 202 and false, HEAMS asks again
    if (method, what) == ("GET", "items"):
        return 200, {"items": items}
    if (method, what) == ("POST", "search"):
        scored = [{**item, "score": len(words(body["query"]) & words(item["text"]))} for item in items]
        found = sorted((item for item in scored if item["score"] > 0), key=lambda item: -item["score"])
        return 200, {"items": found[: body["k"]]}
    if (method, what) == ("DELETE", ""):
        scopes.pop(parts[1], None)
        return 204, None
    return 405, {"error": "no such method here"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self):
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        status, body = answer(self.command, self.path, json.loads(sent) if sent else None)
        reply = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_POST = do_DELETE = serve

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8092), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
