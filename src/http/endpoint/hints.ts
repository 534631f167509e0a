// Hints in a field beside the error text, which the contract fixes: the nearest path for a 404, and the
// required credential for a 401 (decisions#paths and #key-first).

import { editDistance } from '../../values/edit-distance.ts'

const LONGEST_PATH = 100
const MOST_EDITS = 3
const API = '/api/v1/'

type KnownPath = { words: string[]; prefix: string; letters: number }

/** Finds the nearest of known paths; undefined where none is near. */
export type PathSearch = (path: string) => string | undefined

/** @param known paths such as `/api/v1/series/{id}` */
export function createPathSearch(known: readonly string[]): PathSearch {
  const bySize = Map.groupBy(known.map(readPath), ({ words }) => words.length)
  bySize.delete(0)
  return (path) => {
    if (path.length > LONGEST_PATH || /[^\w/.-]/.test(path)) return undefined
    const segments = pathSegments(path)
    let best: KnownPath | undefined
    let least = MOST_EDITS + 1
    for (const one of bySize.get(segments.length) ?? []) {
      const most = Math.min(least, one.letters / 2)
      const edits = countEdits(segments, one.words, most)
      if (edits >= most) continue
      least = edits
      best = one
    }
    return best && best.prefix + best.words.map((word, at) => (isOpen(word) ? segments[at] : word)).join('/')
  }
}

/** `letters`: their number without the parameters. */
function readPath(path: string): KnownPath {
  const words = pathSegments(path)
  const letters = words.reduce((sum, word) => sum + (isOpen(word) ? 0 : word.length), 0)
  return { words, letters, prefix: path.startsWith(API) ? API : '/' }
}

function isOpen(word: string): boolean {
  return word.startsWith('{')
}

/** Counts the edits, or only the least possible number where that is `most` or more. */
function countEdits(segments: readonly string[], words: readonly string[], most: number): number {
  const sum = (count: (segment: string, word: string) => number) =>
    words.reduce((edits, word, at) => edits + (isOpen(word) ? 0 : count(segments[at] ?? '', word)), 0)
  const least = sum((segment, word) => Math.abs(segment.length - word.length))
  return least >= most ? least : sum(editDistance)
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
