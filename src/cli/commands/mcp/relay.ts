// Asks a server over HTTP what came over stdin, with the secrets of a file or of the environment: they stand in no command
// line, which every user of the machine sees.

import { readFileSync } from 'node:fs'
import { AppError, reasonOf } from '../../../errors.ts'
import { headersOf } from '../../../http/mcp/protocol/eras.ts'
import { CODES, errorMessage, isRecord } from '../../../http/mcp/protocol/messages.ts'
import type { Environment } from '../../args.ts'
import type { Answering } from './stdio.ts'

const PATH = '/mcp'

/** @param url of the server, with or without /mcp */
export function relayTo(url: string, secrets: Record<string, string>): Answering {
  const address = addressOf(url)
  return async ({ text, request, signal }) => {
    const headers = {
      ...secrets,
      ...headersOf(request),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const failed = (message: string) => errorMessage(request.id, { code: CODES.internal, message })
    try {
      const sent = { method: 'POST', headers, body: text, signal, redirect: 'error' } as const
      const response = await fetch(address, sent)
      const body = await response.text()
      const answered = jsonOf(body)
      if (!isRecord(answered) || answered.jsonrpc !== '2.0')
        return failed(`${address} answered ${response.status}, and no MCP`)
      // What is refused before it is read names no request; the client waits for the answer to its own.
      return answered.id === null ? { ...answered, id: request.id } : answered
    } catch (error) {
      return failed(`${address} cannot be reached: ${reasonOf(error)}`)
    }
  }
}

/** The headers that bring the secrets of a file: a key, a token, or both, one a line. @throws AppError `failed` */
export function secretsIn(file: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [at, line] of linesIn(file).entries()) {
    if (line === '') continue
    const isToken = line.startsWith('cbt_')
    const name = isToken ? 'authorization' : 'x-api-key'
    if (!/^cb[kt]_[\x21-\x7e]+$/.test(line)) {
      throw new AppError('failed', `line ${at + 1} of ${file} is neither a key (cbk_…) nor a token (cbt_…)`)
    }
    if (headers[name] !== undefined) {
      throw new AppError('failed', `${file} has two ${isToken ? 'tokens' : 'keys'}: it may have one of each`)
    }
    headers[name] = isToken ? `Bearer ${line}` : line
  }
  if (Object.keys(headers).length === 0) {
    throw new AppError(
      'failed',
      `${file} is empty: it must have a key (cbk_…), a token (cbt_…) or both, one a line`,
    )
  }
  return headers
}

/** The same of CAMBISTA_KEY and CAMBISTA_TOKEN. @throws AppError `usage` without any, or for one that is no such secret */
export function secretsOf(env: Environment): Record<string, string> {
  const { CAMBISTA_KEY: key, CAMBISTA_TOKEN: token } = env
  if (!key && !token) {
    throw new AppError(
      'usage',
      '--url needs --key-file, or a key in CAMBISTA_KEY or a token in CAMBISTA_TOKEN',
    )
  }
  return {
    ...(key && { 'x-api-key': checkedSecret('CAMBISTA_KEY', key, 'a key (cbk_…)', /^cbk_[\x21-\x7e]+$/) }),
    ...(token && {
      authorization: `Bearer ${checkedSecret('CAMBISTA_TOKEN', token, 'a token (cbt_…)', /^cbt_[\x21-\x7e]+$/)}`,
    }),
  }
}

function checkedSecret(name: string, text: string, what: string, format: RegExp): string {
  const secret = text.trim()
  if (format.test(secret)) return secret
  throw new AppError('usage', `${name} is not ${what}`)
}

function linesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
  } catch (error) {
    throw new AppError('failed', `cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

function addressOf(url: string): string {
  const bare = url.replace(/\/+$/, '')
  return bare.endsWith(PATH) ? bare : `${bare}${PATH}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
