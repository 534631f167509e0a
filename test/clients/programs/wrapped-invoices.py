# Second reader of invoices as other programs send them. Reads a file in base64 a line, and removes marks, blanks, quotes,
# base64 and the JSON of Hacienda's service. Prints root, clave and issuer as ElementTree has them, or null.

import base64
import binascii
import json
import sys
import xml.etree.ElementTree as ElementTree

MARK = '\ufeff'
GARBLED = [MARK.encode().decode(name) for name in ('cp1252', 'cp850', 'cp437')] + ['ÿþ', 'þÿ']
MARKS = sorted([MARK, *GARBLED, GARBLED[0].encode().decode('cp1252')], key=len, reverse=True)
BLANKS = b' \t\r\n'
UTF16 = {b'\xff\xfe': 'utf-16-le', b'\xfe\xff': 'utf-16-be'}


def strip_lead(data):
    """Removes marks and blanks. UTF-16 with a mark becomes UTF-8; true if it was."""
    encoding, was_utf16 = None, False
    while True:
        rest = data.lstrip(BLANKS)
        for mark in [*(mark.encode() for mark in MARKS), *UTF16]:
            if rest.startswith(mark):
                rest = rest[len(mark):]
                encoding = UTF16.get(mark, encoding)
                break
        little = encoding == 'utf-16-le' and rest[1:2] == b'\0'
        if little or encoding == 'utf-16-be' and rest[:1] == b'\0':
            rest, was_utf16, encoding = rest.decode(encoding).encode(), True, None
        if rest == data:
            return data, was_utf16
        data = rest


def unwrap(data, depth=3):
    data, was_utf16 = strip_lead(data)
    if data.startswith(b'<'):
        return data.decode() if was_utf16 else data  # a text has no declared encoding
    if depth == 0:
        return b''
    if data.startswith(b'{'):
        return unwrap(json.loads(data.decode())['respuesta-xml'].encode(), depth - 1)
    if data.startswith(b'"'):
        data = data.strip().strip(b'"')
    return unwrap(base64.b64decode(b''.join(data.split()), validate=True), depth - 1)


def read(data):
    root = ElementTree.fromstring(unwrap(data))
    namespace = root.tag[: root.tag.index('}') + 1] if '}' in root.tag else ''
    issuer = f'{namespace}NombreEmisor' if 'Mensaje' in root.tag else f'{namespace}Emisor/{namespace}Nombre'
    return {
        'root': root.tag[len(namespace):],
        'clave': root.findtext(f'{namespace}Clave'),
        'issuer': root.findtext(issuer),
    }


for line in sys.stdin:
    try:
        print(json.dumps(read(base64.b64decode(line))))
    except (ElementTree.ParseError, LookupError, ValueError, binascii.Error, AttributeError):
        print('null')
