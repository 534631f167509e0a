// Hints in a field beside the error text, which the contract fixes: the nearest path for a 404, and the
// required credential for a 401 (decisions#paths and #key-first).

import { editDistance } from '../../values/edit-distance.ts'

const LONGEST_PATH = 100
const MOST_EDITS = 3
const API = '/api/v1/'

/** Finds the nearest path in a list of paths such as `/api/v1/series/{id}`; undefined where none is near. */
export function nearestPath(path: string, known: readonly string[]): string | undefined {
  if (path.length > LONGEST_PATH || /[^\w/.-]/.test(path)) return undefined
  const segments = pathSegments(path)
  let best: string | undefined
  let least = MOST_EDITS + 1
  for (const one of known) {
    const own = pathSegments(one)
    if (own.length !== segments.length || own.length === 0) continue
    let edits = 0
    let literals = 0 // letters of the path without its parameters
    const words = own.map((word, at) => {
      const segment = segments[at] ?? ''
      if (word.startsWith('{')) return segment
      edits += editDistance(segment, word)
      literals += word.length
      return word
    })
    if (edits >= least || edits >= literals / 2) continue
    least = edits
    best = `${one.startsWith(API) ? API : '/'}${words.join('/')}`
  }
  return best
}

/** Words of a path without the prefix of the API and empty ones. */
function pathSegments(path: string): string[] {
  const words = path.toLowerCase().split('/').filter(Boolean)
  return words[0] === 'api' && words[1] === 'v1' ? words.slice(2) : words
}

/** Returns a hint if the request has the wrong kind of credential, or has it in the wrong header. */
export function credentialHint(headers: Headers, needed: 'key' | 'token'): string | undefined {
  const inKeyHeader = credentialKind(headers.get('x-api-key'))
  const inAuthorization = credentialKind(headers.get('authorization')?.replace(/^bearer +/i, ''))
  if (needed === 'key') {
    if (inKeyHeader === 'key') return undefined
    if (inKeyHeader === 'token')
      return 'X-API-Key has a token (cbt_…), which opens documents: rates need a key (cbk_…)'
    if (inAuthorization === 'key') return 'Authorization has a key (cbk_…): send it in the header X-API-Key'
    if (inAuthorization === 'token')
      return 'Authorization has a token (cbt_…), which opens documents: rates need a key (cbk_…) in the header X-API-Key'
    return headers.has('x-api-key') ? undefined : otherHeaderHint(headers)
  }
  if (inAuthorization === 'token') return undefined
  if (inAuthorization === 'key')
    return 'Authorization has a key (cbk_…), which opens rates: documents need a token (cbt_…)'
  if (inKeyHeader === 'token') return 'X-API-Key has a token (cbt_…): send it as Authorization: Bearer cbt_…'
  if (inKeyHeader === 'key')
    return 'X-API-Key has a key (cbk_…), which opens rates: documents need a token, as Authorization: Bearer cbt_…'
  return undefined
}

/** Returns a hint for headers that only the shapes of other services read. */
function otherHeaderHint(headers: Headers): string | undefined {
  const isBasic = /^basic +/i.test(headers.get('authorization') ?? '')
  const header = headers.has('apikey') ? 'the header apikey' : isBasic ? 'Authorization: Basic' : undefined
  return (
    header && `only the formats of other services read ${header}: send a key (cbk_…) in the header X-API-Key`
  )
}

function credentialKind(secret: string | null | undefined): 'key' | 'token' | undefined {
  if (secret?.startsWith('cbk_')) return 'key'
  return secret?.startsWith('cbt_') ? 'token' : undefined
}
