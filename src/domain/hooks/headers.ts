// Headers of the operator in the messages of a hook. The values of secret ones are encrypted like the signing secret.

import { AppError } from '../../runtime/errors.ts'
import type { HookRow } from '../../store/hooks/hooks.ts'

/** A header, and the place where the operator gave it. */
export type HeaderLine = { text: string; place: string; isSecret: boolean }

/** `shown`: values by name, null for those in `secret`. */
export type HookHeaders = { shown: Record<string, string | null>; secret: Record<string, string> }

const MAX_HEADERS = 10
const LINE = /^([\w!#$%&'*+.^`|~-]{1,100}):[\t ]*([\x21-\x7e](?:[\t\x20-\x7e]{0,3998}[\x21-\x7e])?)[\t ]*$/
// The server sends these itself, or they govern the connection.
const RESERVED =
  /^(host|connection|user-agent|keep-alive|transfer-encoding|te|trailer|upgrade|expect|(content|webhook|proxy)-.*)$/i

/** Parses headers. No error has a value. @throws AppError `usage` */
export function parseHeaders(lines: readonly HeaderLine[]): HookHeaders {
  if (lines.length > MAX_HEADERS)
    throw new AppError('usage', `a hook has at most ${MAX_HEADERS} headers, and ${lines.length} are given`)
  const names = new Set<string>()
  const headers = lines.map(({ text, place, isSecret }) => {
    const [, name = '', value = ''] = LINE.exec(text) ?? []
    const fault = (message: string) => new AppError('usage', `${place} ${message}`)
    if (name === '') throw fault("must be 'Name: value', at most 4000 printable ASCII characters")
    if (RESERVED.test(name)) throw fault(`must not be ${name}, which the server sends itself`)
    if (names.has(name.toLowerCase())) throw fault(`repeats ${name}: give each header once`)
    names.add(name.toLowerCase())
    return { name, value, isSecret }
  })
  return {
    shown: Object.fromEntries(headers.map(({ name, value, isSecret }) => [name, isSecret ? null : value])),
    secret: Object.fromEntries(
      headers.flatMap(({ name, value, isSecret }) => (isSecret ? [[name, value]] : [])),
    ),
  }
}

/** Returns the headers of a hook that are not secret. */
export function plainHeaders({ headers }: Pick<HookRow, 'headers'>): HeaderLine[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === null ? [] : { text: `${name}: ${value}`, place: 'the hook', isSecret: false },
  )
}
