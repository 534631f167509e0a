// The forms of an answer of Open Exchange Rates: JSON, the same indented for a person to read (`prettyprint`), or a script that
// calls a function of the page that asks for it (`callback`), as pages did before browsers let them read other sites.

import type { AnyEndpoint } from '../../api/endpoint.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { type Asked, type ShapeDeps, type ShapeEndpoint, shapeEndpoint } from '../shape.ts'

const SCRIPT_TYPE = 'application/javascript; charset=utf-8'
// A name and nothing else: what is called is written into a script.
const FUNCTION = /^(?=.{1,64}$)[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)*$/i
const TOKEN = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g
const LONGEST_INDENTED = 32 * 1024 // a person reads no more, and to indent 5 MB takes 100 ms and as many megabytes
const NOT_INDENTED = ['', '0', 'false']

type Form = { callback: string | undefined; isIndented: boolean }

/** An endpoint that answers in these forms; `badCallback` throws for what is no name of a function. */
export function inForms<A extends object, T>(
  deps: ShapeDeps,
  badCallback: () => never,
  endpoint: Omit<ShapeEndpoint<A, T>, 'contentType' | 'encode'> & { encode(found: T, asked: A): string },
): AnyEndpoint {
  return shapeEndpoint<A & { form: Form }, T>(deps, {
    ...endpoint,
    contentType: ({ form }) => (form.callback === undefined ? JSON_TYPE : SCRIPT_TYPE),
    contentTypes: [JSON_TYPE, SCRIPT_TYPE],
    ask: (asked) => ({ ...endpoint.ask(asked), form: formIn(asked, badCallback) }),
    encode(found, asked) {
      const { callback, isIndented } = asked.form
      const text = endpoint.encode(found, asked)
      const json = isIndented && text.length <= LONGEST_INDENTED ? indented(text) : text
      // The comment keeps the answer from beginning with what the client chose.
      return callback === undefined ? json : `/**/${callback}(${json});`
    },
  })
}

function formIn({ query }: Asked, badCallback: () => never): Form {
  const callback = query.get('callback') || undefined
  if (callback !== undefined && !FUNCTION.test(callback)) badCallback()
  return { callback, isIndented: !NOT_INDENTED.includes(query.get('prettyprint')?.toLowerCase() ?? '') }
}

/** As JSON.stringify indents, with each number in the digits that it has. */
function indented(json: string): string {
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  return json.replace(TOKEN, (token) => {
    if (token === ',') return token + line()
    if (token === ':') return ': '
    if (token === '{' || token === '[') {
      depth += 1
      return token + line()
    }
    if (token !== '}' && token !== ']') return token
    depth -= 1
    return line() + token
  })
}
