#!/usr/bin/env python3
"""A worker: claims documents of its agent, works on each, reports the outcome. Python alone, no packages.

    CAMBISTA_TOKEN=cbt_… python3 worker.py http://127.0.0.1:8080
"""
import hashlib, json, os, signal, sys, time, urllib.error, urllib.request

API = sys.argv[1].rstrip('/') + '/api/v1/documents'
HEADERS = {'Authorization': 'Bearer ' + os.environ['CAMBISTA_TOKEN']}
stopping = False


def work(document, content):
    """Replace this. The returned note is stored with the document; an exception fails the document."""
    return f"{len(content)} bytes of {document['mimetype']}"


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(API + path, data, HEADERS), timeout=70) as answer:
        return answer.read()


def finish(document, outcome, note):
    body = {'claim_id': document['claim_id'], 'outcome': outcome, 'note': note[:2000]}
    while True:
        try:
            return call(f"/{document['id']}/finish", body)
        except urllib.error.HTTPError as error:
            if error.code == 409:  # another worker has it, or an operator made it new again
                return print('lost', document['id'], flush=True)
            if error.code < 500:
                raise
        except OSError:
            pass  # the server restarts; the same outcome sent twice is no error
        time.sleep(2)


def handle(document):
    try:
        content = call(f"/{document['id']}/content")
    except OSError as error:
        # No outcome: after the lease another worker gets it; after --max-attempts the server fails it.
        return print('left', document['id'], error, flush=True)
    try:
        if hashlib.sha256(content).hexdigest() != document['sha256']:
            raise ValueError('the content is damaged')
        outcome, note = 'done', work(document, content)
    except Exception as error:
        outcome, note = 'failed', f'{type(error).__name__}: {error}'
    finish(document, outcome, note)
    print(outcome, document['id'], note, flush=True)


def stop(*_):
    global stopping
    stopping = True  # after the current document


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
while not stopping:
    try:
        claimed = json.loads(call('/claim', {'limit': 1, 'lease_seconds': 300, 'wait': 5}))['documents']
    except urllib.error.HTTPError as error:
        if error.code < 500:
            sys.exit(f'{error.code}: {error.read().decode()}')  # such as a wrong token: a retry does not help
        time.sleep(2)
    except OSError:
        time.sleep(2)  # the server restarts
    else:
        for document in claimed:
            handle(document)
