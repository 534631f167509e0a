# Second reader of invoices: ElementTree. Reads a document in base64 a line; prints clave and total by path, or null where
# the XML is rejected or names differ.

import base64
import json
import sys
import xml.etree.ElementTree as ElementTree


def children(element, name, namespace):
    wanted = namespace.lower() + name.lower()
    return [one for one in element if isinstance(one.tag, str) and one.tag.lower() == wanted]


def path_text(root, path, namespace):
    elements = [root]
    for name in path:
        elements = [child for one in elements for child in children(one, name, namespace)]
    return [(one.text or '').strip() for one in elements]


for line in sys.stdin:
    try:
        root = ElementTree.fromstring(base64.b64decode(line))
    except (ElementTree.ParseError, LookupError, ValueError):
        print('null')
        continue
    namespace = root.tag[: root.tag.index('}') + 1] if '}' in root.tag else ''
    is_message = 'mensaje' in root.tag[len(namespace):].lower()
    total = ['TotalFactura'] if is_message else ['ResumenFactura', 'TotalComprobante']
    print(json.dumps({
        'clave': path_text(root, ['Clave'], namespace),
        'total': path_text(root, total, namespace),
    }))
