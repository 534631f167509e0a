// Hints beside the text of an error, which is the contract's: the nearest path of a 404, the credential of a 401
// (decisions 1.4, 1.6).

import { editDistance } from '../../edit-distance.ts'

const LONGEST_PATH = 100
const MOST_EDITS = 3
const API = '/api/v1/'

/** Finds the nearest path in a list of paths such as `/api/v1/series/{id}`; undefined where none is near. */
export function nearestPath(path: string, known: readonly string[]): string | undefined {
  if (path.length > LONGEST_PATH || /[^\w/.-]/.test(path)) return undefined
  const segments = segmentsOf(path)
  let best: string | undefined
  let least = MOST_EDITS + 1
  for (const one of known) {
    const own = segmentsOf(one)
    if (own.length !== segments.length || own.length === 0) continue
    let edits = 0
    let literals = 0 // letters of the path but for its parameters
    const filled = own.map((word, at) => {
      const sent = segments[at] ?? ''
      if (word.startsWith('{')) return sent
      edits += editDistance(sent, word)
      literals += word.length
      return word
    })
    if (edits >= least || edits >= literals / 2) continue
    least = edits
    best = `${one.startsWith(API) ? API : '/'}${filled.join('/')}`
  }
  return best
}

/** Words of a path without the prefix of the API and empty ones. */
function segmentsOf(path: string): string[] {
  const words = path.toLowerCase().split('/').filter(Boolean)
  return words[0] === 'api' && words[1] === 'v1' ? words.slice(2) : words
}

/** Says which credential was sent to an API that needs the other kind; undefined: none of ours, or the right kind. */
export function credentialHint(headers: Headers, needed: 'key' | 'token'): string | undefined {
  const inKeyHeader = kindOf(headers.get('x-api-key'))
  const inAuthorization = kindOf(headers.get('authorization')?.replace(/^bearer +/i, ''))
  if (needed === 'key') {
    if (inKeyHeader === 'key') return undefined
    if (inKeyHeader === 'token')
      return 'X-API-Key has a token (cbt_…), which opens documents: rates need a key (cbk_…)'
    if (inAuthorization === 'key') return 'Authorization has a key (cbk_…): send it in the header X-API-Key'
    if (inAuthorization === 'token')
      return 'Authorization has a token (cbt_…), which opens documents: rates need a key (cbk_…) in the header X-API-Key'
    return undefined
  }
  if (inAuthorization === 'token') return undefined
  if (inAuthorization === 'key')
    return 'Authorization has a key (cbk_…), which opens rates: documents need a token (cbt_…)'
  if (inKeyHeader === 'token') return 'X-API-Key has a token (cbt_…): send it as Authorization: Bearer cbt_…'
  if (inKeyHeader === 'key')
    return 'X-API-Key has a key (cbk_…), which opens rates: documents need a token, as Authorization: Bearer cbt_…'
  return undefined
}

function kindOf(secret: string | null | undefined): 'key' | 'token' | undefined {
  if (secret?.startsWith('cbk_')) return 'key'
  return secret?.startsWith('cbt_') ? 'token' : undefined
}
