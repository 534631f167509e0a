// Forms of Open Exchange Rates: JSON, indented JSON (`prettyprint`), or a script that calls a function (`callback`).
// Pages used scripts before browsers could read other sites.

import { rawNumber } from '../../../formats/json/raw.ts'
import { JSON_TYPE } from '../../endpoint/answers/forms.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import {
  type AnswerSource,
  type CompatDeps,
  type CompatEndpoint,
  type CompatRequest,
  compatEndpoint,
} from '../shape.ts'

const SCRIPT_TYPE = 'application/javascript; charset=utf-8'
// A name and nothing else: what is called is written into a script.
const FUNCTION = /^(?=.{1,64}$)[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)*$/i
const LONGEST_INDENTED = 32 * 1024 // a person reads no more, and to indent 5 MB takes 100 ms and as many megabytes
const UNINDENTED_VALUES = ['', '0', 'false']

type JsonpForm = { callback: string | undefined; isIndented: boolean }

/** An endpoint that answers in these forms; `badCallback` throws for what is no name of a function. */
export function formsEndpoint<A extends object, T>(
  deps: CompatDeps,
  badCallback: () => never,
  endpoint: Omit<CompatEndpoint<A, T>, 'contentType' | 'encode'> & {
    encode(value: T, query: A, source: AnswerSource): string
  },
): AnyEndpoint {
  return compatEndpoint<A & { form: JsonpForm }, T>(deps, {
    ...endpoint,
    contentType: ({ form }) => (form.callback === undefined ? JSON_TYPE : SCRIPT_TYPE),
    contentTypes: [JSON_TYPE, SCRIPT_TYPE],
    parse: (request) => ({ ...(endpoint.parse?.(request) as A), form: parseForm(request, badCallback) }),
    encode(value, query, source) {
      const { callback, isIndented } = query.form
      const text = endpoint.encode(value, query, source)
      const json = isIndented && text.length <= LONGEST_INDENTED ? indentJson(text) : text
      // Without the comment the answer would begin with bytes that the client chose.
      return callback === undefined ? json : `/**/${callback}(${json});`
    },
  })
}

function parseForm({ query }: CompatRequest, badCallback: () => never): JsonpForm {
  const callback = query.get('callback') || undefined
  if (callback !== undefined && !FUNCTION.test(callback)) badCallback()
  return { callback, isIndented: !UNINDENTED_VALUES.includes(query.get('prettyprint')?.toLowerCase() ?? '') }
}

/** Indents JSON, with each number in the digits that it has. */
function indentJson(json: string): string {
  const document = JSON.parse(json, (_key, value: unknown, context?: { source: string }) =>
    typeof value === 'number' && context ? rawNumber(context.source) : value,
  )
  return JSON.stringify(document, null, 2)
}
