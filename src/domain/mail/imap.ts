// The folder of a mailbox on its IMAP server. Mails are read without marking them, and nothing is removed but what was
// copied before. Errors are sentences for the operator, without words of strangers.

import { setTimeout as wait } from 'node:timers/promises'
import { type FetchMessageObject, type FetchQueryObject, ImapFlow } from 'imapflow'
import { errorReason, isUntrusted, ProxyError, unreachableText } from '../../runtime/errors.ts'
import { proxyError } from '../../runtime/outgoing-proxies.ts'
import type { MailboxRow } from '../../store/mail/mailboxes.ts'
import type { StorageConfig } from '../../store/storage-config.ts'
import type { MailLogin } from './credentials.ts'
import { RoundFailure } from './round-failure.ts'

/** Facts of a mail without its content. `size`: bytes. */
export type MailHead = { uid: number; size: number; arrival: Date | undefined }

export type MailFolder = {
  uidvalidity: number
  /** Returns the numbers of all mails, rising. `undeleted`: of those that nobody has marked as deleted. */
  listUids(which?: 'undeleted'): Promise<number[]>
  /** Reads the heads of mails that still exist. */
  readHeads(uids: readonly number[]): Promise<MailHead[]>
  /** Reads a mail; undefined: it does not exist any more. */
  download(uid: number): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Reads sender and subject of a mail as a mail without content. */
  downloadHead(uid: number): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Moves a mail. Returns false if the server refuses that, and the mail is where it was. */
  move(uid: number, target: 'done' | 'rejected'): Promise<boolean>
  close(): Promise<void>
}

/** Settings of the connection. */
export type MailServer = Pick<
  MailboxRow,
  'host' | 'port' | 'security' | 'user_name' | 'folder' | 'done' | 'rejected' | 'largest'
>

export type MailConnection = Pick<StorageConfig, 'outgoing'> & { signal: AbortSignal }

/** State of a server for a test, which changes nothing. */
export type ServerReport = {
  /** Number of mails in the folder. */
  waiting: number
  folders: { path: string; exists: boolean }[]
  moves: 'MOVE' | 'UIDPLUS'
}

const CONNECT_MS = 30_000
const SILENCE_MS = 120_000
const DEADLINE_MS = 600_000
const LARGEST_ANSWER = 64 * 1024 ** 2 // a list of numbers, or heads
const MOST_NAMES = 20 // folders in a message

/**
 * Opens the folder, and makes the others where they are missing. `copies`: mails that were copied and not removed yet, of
 * servers without MOVE.
 * @throws RoundFailure; the reason of `signal`
 */
export async function openMailFolder(
  server: MailServer,
  credentials: MailLogin,
  { copies, ...connection }: MailConnection & { copies: Set<string> },
): Promise<MailFolder> {
  const { client, within } = await connect(server, credentials, connection)
  try {
    const { paths, path } = await requireFolder(client, server, within)
    const moves = findMoves(client)
    const targets = {
      done: await ensureFolder(client, server.done, paths, within),
      rejected: await ensureFolder(client, server.rejected, paths, within),
    }
    refuseSameFolder(path, Object.values(targets))
    const { uidValidity } = await within(client.mailboxOpen(server.folder))
    const fetchBytes = async (uid: number, query: FetchQueryObject) => {
      const message = await within(
        client.fetchOne(String(uid), query, { uid: true }).catch((error: unknown) => {
          if (client.usable && hasAnswer(error)) return false as const // a single mail that cannot be read
          throw error
        }),
      )
      const bytes = message ? (message.source ?? message.headers) : undefined
      return bytes as Uint8Array<ArrayBuffer> | undefined
    }
    return {
      uidvalidity: Number(uidValidity),
      async listUids(which) {
        const query = which === 'undeleted' ? { deleted: false } : { all: true }
        const uids = await within(client.search(query, { uid: true }))
        if (!uids) throw new RoundFailure('the server does not list the mails of the folder', 'answer')
        return uids.toSorted((one, other) => one - other)
      },
      async readHeads(uids) {
        if (uids.length === 0) return []
        const query = { uid: true, size: true, internalDate: true }
        const messages = await within(client.fetchAll(uids.join(), query, { uid: true }))
        return messages.filter(({ uid }) => uids.includes(uid)).map(toHead)
      },
      download: (uid) => fetchBytes(uid, { source: true }),
      downloadHead: (uid) => fetchBytes(uid, { headers: ['from', 'subject'] }),
      async move(uid, target) {
        const range = String(uid)
        const copy = JSON.stringify([
          server.host,
          server.port,
          server.user_name,
          path,
          String(uidValidity),
          uid,
        ])
        const isMoved =
          moves === 'MOVE'
            ? await within(client.messageMove(range, targets[target], { uid: true }))
            : await moveByCopy(() => within(client.messageCopy(range, targets[target], { uid: true })), copy)
        if (!isMoved && !client.usable) throw new RoundFailure('the connection ended', 'connection')
        return Boolean(isMoved)

        async function moveByCopy(copyMail: () => Promise<unknown>, name: string): Promise<boolean> {
          if (!copies.has(name)) {
            if (!(await copyMail())) return false
            copies.add(name)
          }
          if (!(await within(client.messageDelete(range, { uid: true })))) return false
          copies.delete(name)
          return true
        }
      },
      close: () => end(client),
    }
  } catch (error) {
    client.close()
    throw error
  }
}

/** Examines a server without a change. @throws RoundFailure */
export async function examineMailServer(
  server: MailServer,
  credentials: MailLogin,
  connection: MailConnection,
): Promise<ServerReport> {
  const { client, within } = await connect(server, credentials, connection)
  try {
    const { paths, path } = await requireFolder(client, server, within)
    const moves = findMoves(client)
    const targets = [server.done, server.rejected].flatMap((name) => findPath(client, name, paths) ?? [])
    refuseSameFolder(path, targets)
    const status = await within(client.status(server.folder, { messages: true }))
    const folders = [server.done, server.rejected].map((path) => ({
      path,
      exists: findPath(client, path, paths) !== undefined,
    }))
    await end(client)
    return { waiting: status ? (status.messages ?? 0) : 0, folders, moves }
  } finally {
    client.close()
  }
}

/** Waits for an answer at most 10 minutes. An error becomes a RoundFailure, and ends the connection. */
type Within = <T>(answer: Promise<T>) => Promise<T>

async function connect(
  { host, port, security, largest }: MailServer,
  credentials: MailLogin,
  { signal, outgoing }: MailConnection,
): Promise<{ client: ImapFlow; within: Within }> {
  signal.throwIfAborted()
  const proxy = outgoing?.find({ protocol: 'https:', hostname: host, port: String(port) })
  const client = new ImapFlow({
    ...{ host, port, secure: security === 'tls', auth: loginOptions(credentials) },
    ...(security !== 'tls' && { doSTARTTLS: security === 'starttls' }),
    ...{ logger: false, disableAutoIdle: true, disableCompression: true },
    ...(proxy && { proxy: proxy.url }),
    clientInfo: { name: 'cambista' },
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    ...{ maxLiteralSize: largest + LARGEST_ANSWER, maxResponseSize: largest + 2 * LARGEST_ANSWER },
  })
  client.on('error', () => undefined) // the pending command has it
  const within: Within = async (answer) => {
    const over = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])
    const failure = Promise.withResolvers<never>()
    const close = () => {
      client.close() // rejects the pending command, but not the wait for a proxy
      failure.reject(over.reason)
    }
    over.addEventListener('abort', close)
    try {
      return await Promise.race([answer, failure.promise])
    } catch (error) {
      client.close()
      signal.throwIfAborted()
      if (over.aborted) throw new RoundFailure('the server did not answer within 10 minutes', 'timeout')
      // The client has the failure of a proxy in a field of its own error.
      const { _err: cause = error } = error as { _err?: unknown }
      const reason = proxy && cause instanceof Error ? proxyError(cause, proxy) : error
      throw toFailure(reason, { host, port, secret: 'pass' in credentials ? 'password' : 'token' })
    } finally {
      over.removeEventListener('abort', close)
    }
  }
  await within(client.connect())
  return { client, within }
}

function loginOptions(credentials: MailLogin) {
  const { user } = credentials
  return 'pass' in credentials
    ? { user, pass: credentials.pass }
    : { user, accessToken: credentials.accessToken }
}

async function end(client: ImapFlow): Promise<void> {
  const logout = client.logout().catch(() => undefined) // the work is done
  await Promise.race([logout, wait(5000, undefined, { ref: false })])
  client.close()
}

/** Returns the folder of the mailbox, and those of the account. @throws RoundFailure if it is missing */
async function requireFolder(
  client: ImapFlow,
  { folder }: MailServer,
  within: Within,
): Promise<{ path: string; paths: string[] }> {
  const paths = (await within(client.list())).map((one) => one.path)
  const path = findPath(client, folder, paths)
  if (path !== undefined) return { path, paths }
  const names = paths.slice(0, MOST_NAMES).join(', ')
  throw new RoundFailure(
    `there is no folder ${folder}: it has ${names}${paths.length > MOST_NAMES ? ', …' : ''}`,
    'no_folder',
  )
}

/** Finds a folder, also under the prefix of the server's namespace. */
function findPath(client: ImapFlow, name: string, paths: readonly string[]): string | undefined {
  const names = [name, (client.namespace?.prefix ?? '') + name]
  return paths.find((path) =>
    names.some((one) => one === path || (one.toUpperCase() === 'INBOX' && path.toUpperCase() === 'INBOX')),
  )
}

async function ensureFolder(
  client: ImapFlow,
  name: string,
  paths: readonly string[],
  within: Within,
): Promise<string> {
  const existing = findPath(client, name, paths)
  if (existing !== undefined) return existing
  const answer = await within(
    client.mailboxCreate(name).catch((error: unknown) => {
      if (client.usable && hasAnswer(error)) return undefined
      throw error
    }),
  )
  if (!answer) throw new RoundFailure(`the folder ${name} cannot be made`, 'no_folder')
  return answer.path
}

/** Servers may ignore capitals. A mail that is moved into its own folder would come again. */
function refuseSameFolder(path: string, targets: readonly string[]): void {
  const twin = targets.find((one) => one.toLowerCase() === path.toLowerCase())
  if (twin !== undefined)
    throw new RoundFailure(`mails would be moved into their own folder (${twin})`, 'same_folder')
}

/** Returns whether the server answered NO or BAD. */
function hasAnswer(error: unknown): boolean {
  return typeof (error as { responseStatus?: unknown } | undefined)?.responseStatus === 'string'
}

/** Returns how one mail is removed from its folder. @throws RoundFailure if only all marked ones could be */
function findMoves({ capabilities }: ImapFlow): ServerReport['moves'] {
  if (capabilities.has('MOVE')) return 'MOVE'
  if (capabilities.has('UIDPLUS')) return 'UIDPLUS'
  throw new RoundFailure('it knows neither MOVE nor UIDPLUS', 'no_moves')
}

function toHead({ uid, size = 0, internalDate }: FetchMessageObject): MailHead {
  const arrival = internalDate === undefined ? undefined : new Date(internalDate)
  return { uid, size, arrival }
}

function toFailure(
  error: unknown,
  { host, port, secret }: Pick<MailServer, 'host' | 'port'> & { secret: 'password' | 'token' },
): RoundFailure {
  if (error instanceof RoundFailure) return error
  if (error instanceof ProxyError) return new RoundFailure(error.message, 'unreachable', { cause: error })
  const facts = error as { code?: unknown; authenticationFailed?: unknown; responseStatus?: unknown }
  const code = typeof facts.code === 'string' ? facts.code : ''
  const fail = (message: string, failure: RoundFailure['code']) =>
    new RoundFailure(message, failure, { cause: error })
  if (facts.authenticationFailed) return fail(`the server refused the ${secret}`, 'login_refused')
  const failure = unreachableText(code, `${host}:${port}`)
  if (failure && isUntrusted(code)) return fail(failure, 'certificate')
  if (/STARTTLS|UPGRADE/.test(code) || /STARTTLS/.test(errorReason(error)))
    return fail('it offers no encryption by STARTTLS', 'no_encryption')
  if (['LiteralTooLarge', 'ResponseTooLarge'].includes(code)) return fail('its answer is too large', 'answer')
  if (code === 'NoConnection' || code === 'EConnectionClosed')
    return fail('the connection ended', 'connection')
  if (hasAnswer(error)) return fail(`it answered ${facts.responseStatus}`, 'answer')
  const reason = code === '' ? 'unknown reason' : code
  return fail(failure ?? `there is no connection to ${host}:${port} (${reason})`, 'unreachable')
}
