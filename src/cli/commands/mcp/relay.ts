// Relays messages of stdin to a server over HTTP. Secrets come from a file or the environment, because every user of
// the machine can read a command line.

import { CODES, errorMessage } from '../../../http/mcp/protocol/messages.ts'
import { requestHeaders } from '../../../http/mcp/protocol/protocol-version.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { secretText } from '../../../runtime/secret-text.ts'
import { isJsonObject } from '../../../values/json-object.ts'
import type { Environment } from '../../parse/args.ts'
import { readNamedFile } from '../../storage/storage-options.ts'
import type { LineHandler } from './stdio.ts'

const PATH = '/mcp'

/** Returns the handler of messages. @param url of the server, with or without /mcp */
export function createRelay(url: string, secrets: Record<string, string>): LineHandler {
  const address = mcpUrl(url)
  return async ({ text, request, signal }) => {
    const headers = {
      ...secrets,
      ...requestHeaders(request),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const failure = (message: string) => errorMessage(request.id, { code: CODES.internal, message })
    try {
      const init = { method: 'POST', headers, body: text, signal, redirect: 'error' } as const
      const response = await fetch(address, init)
      const body = await response.text()
      const reply = parseJson(body)
      if (!isJsonObject(reply) || reply.jsonrpc !== '2.0')
        return failure(`${address} answered ${response.status}, and no MCP`)
      // A message rejected before parsing has a null id. The client waits for the id of its request.
      return reply.id === null ? { ...reply, id: request.id } : reply
    } catch (error) {
      return failure(`${address} cannot be reached: ${errorReason(error)}`)
    }
  }
}

/** Returns the headers for the key, the token, or both in a file, one a line. @throws AppError `failed` */
export function readSecretsFile(file: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [at, text] of secretText(readNamedFile(file)).split('\n').entries()) {
    const line = text.trim()
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

/** The same for CAMBISTA_KEY and CAMBISTA_TOKEN. @throws AppError `usage` if both are missing or one is invalid */
export function readSecretsEnv(env: Environment): Record<string, string> {
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

function mcpUrl(url: string): string {
  const bare = url.replace(/\/+$/, '')
  return bare.endsWith(PATH) ? bare : `${bare}${PATH}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not an answer of MCP
  }
}
