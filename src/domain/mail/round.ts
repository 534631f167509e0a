// A round of a mailbox: takes the mails of its folder, each once, and moves them. A mail is moved only after its documents
// are on disk. A mail that is known already is moved without a download.

import type { MailContents, RefusedMail } from '../../formats/mail/mail.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { selectAgentsById } from '../../store/directory/agents.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { selectLeftMails } from '../../store/mail/left-mails.ts'
import type { MailboxRow } from '../../store/mail/mailboxes.ts'
import {
  addMoveFailure,
  selectMailMessages,
  updateMailMoved,
  updateMailSeen,
} from '../../store/mail/messages.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { createCredentialReader } from './credentials.ts'
import { type MailConnection, type MailFolder, type MailHead, openMailFolder } from './imap.ts'
import { leftMailTexts } from './left-mail-view.ts'
import { recordRefusedMail, requireSameMailbox } from './mailbox-changes.ts'
import { type MailReader, openMailReader } from './reader.ts'
import { isLoginRefused, RoundFailure, type RoundFailureCode } from './round-failure.ts'
import { createMailStore, type MailStorage, type ReadMail, type StoredMail } from './store-mail.ts'

export type RoundRunner = {
  /** Runs a round, and returns how many mails are left in the folder. @throws RoundFailure; the reason of `signal` */
  run(mailbox: MailboxRow, lock: Lock, signal: AbortSignal): Promise<{ waiting: number }>
  close(): Promise<void>
}

type RunnerDeps = MailStorage &
  Pick<MailConnection, 'outgoing'> & {
    reads: ReadDb
    log: Log
    knownMails: KnownMails
  }

/** Mails that rounds of this server found stored already, by id of the mailbox. */
export type KnownMails = Map<number, number>

/** A mail in the folder, and the keys of its rows. */
type FolderMail = { uid: number; keys: readonly string[] }

type Round = RunnerDeps & {
  mailbox: MailboxRow
  folder: MailFolder
  lock: Lock
  signal: AbortSignal
  reader: MailReader
  store: (mail: ReadMail, lock: Lock) => Promise<StoredMail>
  /** Refused mails that could not be moved, so that they are not downloaded again. */
  refusals: Set<string>
  /** Mails whose content the server did not return. */
  withheld: Set<number>
  /** The move of a mail has failed in MOST_MOVE_FAILURES rounds. */
  isStuck: boolean
}

const MOST_AGENTS = 10 // a mail
const MOST_MAILS = 200 // downloads of a round, so that no mailbox delays the others for long
const MOST_MOVES = 1000
const ROUND_MS = 300_000
const LONGEST_ROUND_MS = 1_200_000
const MOST_MOVE_FAILURES = 3
const MOST_REFUSALS = 10_000

export function createRoundRunner(deps: RunnerDeps): RoundRunner {
  const credentials = createCredentialReader(deps.log)
  const reader = openMailReader()
  const store = createMailStore(deps)
  const refusals = new Set<string>()
  const copies = new Set<string>()
  return {
    async run(mailbox, lock, closed) {
      const deadline = AbortSignal.timeout(LONGEST_ROUND_MS)
      const signal = AbortSignal.any([closed, deadline])
      try {
        const login = await credentials.read(mailbox, signal)
        const folder = await openMailFolder(mailbox, login, { signal, copies, outgoing: deps.outgoing })
        try {
          const round = { ...deps, mailbox, folder, lock, signal, reader, store, refusals }
          return { waiting: await takeAndCount({ ...round, isStuck: false, withheld: new Set() }) }
        } finally {
          await folder.close()
        }
      } catch (error) {
        if (isLoginRefused(error)) credentials.forget(mailbox.oauth_file)
        if (deadline.aborted && !closed.aborted)
          throw new RoundFailure('the round took longer than 20 minutes', 'timeout', { cause: error })
        throw error
      }
    },
    close: reader.close,
  }
}

/** Takes mails, and returns how many are left in the folder. */
async function takeAndCount(round: Round): Promise<number> {
  await takeMails(round)
  const uids = await round.folder.listUids('undeleted')
  if (round.isStuck)
    throw new RoundFailure('mails of documents cannot be moved out of the folder', 'not_moved')
  if (uids.some((uid) => round.withheld.has(uid)))
    throw new RoundFailure('the server does not return a mail of the folder', 'answer')
  return uids.length
}

async function takeMails(round: Round): Promise<void> {
  const { reads, mailbox, folder, signal } = round
  const endMs = performance.now() + ROUND_MS
  const position = { mailbox_id: mailbox.id, uidvalidity: folder.uidvalidity }
  const uids = await folder.listUids()
  const messages = await selectMailMessages(reads, position, uids)
  for (const [uid, keys] of [...messages].slice(0, MOST_MOVES)) {
    signal.throwIfAborted()
    await moveKnown(round, { uid, keys })
  }
  if (uids.length === 0) return
  const undeleted = new Set(await folder.listUids('undeleted'))
  const copied = uids.length > undeleted.size ? await selectRefusedUids(round) : new Set()
  const others = uids.filter((uid) => !messages.has(uid) && (undeleted.has(uid) || copied.has(uid)))
  const isRefused = (uid: number) => !undeleted.has(uid) || round.refusals.has(refusalKey(round, uid))
  for (const uid of others.filter(isRefused).slice(0, MOST_MOVES)) {
    signal.throwIfAborted()
    await moveRefused(round, uid)
  }
  const newUids = others.filter((uid) => !isRefused(uid)).slice(0, MOST_MAILS)
  for (const head of await folder.readHeads(newUids)) {
    signal.throwIfAborted()
    if (performance.now() > endMs) break // other mailboxes have their turn
    await takeMail(round, head)
  }
}

/** Selects refused mails of the folder. After a kill in a move by copy such a mail is marked as deleted. */
async function selectRefusedUids({ reads, mailbox, folder }: Round): Promise<Set<number>> {
  const rows = await selectLeftMails(reads, [mailbox.id])
  const refused = rows.filter(
    ({ reason, uidvalidity }) => reason !== null && uidvalidity === folder.uidvalidity,
  )
  return new Set(refused.map(({ uid }) => uid))
}

async function takeMail(round: Round, head: MailHead): Promise<void> {
  const { mailbox, folder, clock } = round
  const { uid, size } = head
  if (size > mailbox.largest) return refuse(round, head, 'too large')
  const contents = await downloadMail(round, uid)
  if (!contents) return void round.withheld.add(uid) // or somebody else moved it
  if ('refused' in contents) return refuse(round, head, contents.refused, contents)
  if (!isAllowedSender(mailbox, contents.from)) return refuse(round, head, 'sender', contents)
  const tagAgents = await selectTagAgents(round, contents.recipients)
  const upload = await round
    .store(
      {
        ...{ mailbox, tagAgents, contents, uid, size, uidvalidity: folder.uidvalidity },
        receivedAt: (head.arrival ?? clock()).toISOString(),
      },
      round.lock,
    )
    .catch((error: unknown) => {
      throw storageFailure(error)
    })
  const { keys, isNew, isKnown, count, firstId } = upload
  const { left, inline, bodies } = contents
  const counts = { documents: count, left: left.length, inline, bodies }
  if (isNew) round.log.info('mail kept', { mailbox: mailbox.id, uid, ...counts, first: firstId })
  else {
    round.log.info('mail known', { mailbox: mailbox.id, uid })
    round.knownMails.set(mailbox.id, (round.knownMails.get(mailbox.id) ?? 0) + 1)
  }
  if (isKnown) await moveKnown(round, { keys, uid })
  else await moveTaken(round, { keys, uid })
}

/** Reads a mail; undefined: the server does not return it. Containers that take too much time or memory stay whole. */
async function downloadMail(
  round: Round,
  uid: number,
  isWhole = false,
): Promise<MailContents | RefusedMail | undefined> {
  const raw = await round.folder.download(uid)
  if (!raw) return undefined
  const ignore = round.mailbox.ignore_names
  const mail = await round.reader.read(raw, { ignore, isWhole }, round.signal)
  return 'refused' in mail && mail.isOverLimits && !isWhole ? downloadMail(round, uid, true) : mail
}

/** Runs a transaction of a round, unless an operator has changed the mailbox since the round began. */
function writeInRound<T>({ db, lock, mailbox }: Round, work: (trx: WriteDb) => Promise<T>): Promise<T> {
  const checked = async (trx: WriteDb) => {
    await requireSameMailbox(trx, mailbox)
    return work(trx)
  }
  return atomically(db, checked, lock)
}

/** Moves a mail that a round finds again. */
async function moveKnown(round: Round, mail: FolderMail): Promise<void> {
  const { clock, folder } = round
  const position = { at: clock().toISOString(), uidvalidity: folder.uidvalidity, uid: mail.uid }
  await writeInRound(round, (trx) => updateMailSeen(trx, mail.keys, position))
  await moveTaken(round, mail)
}

/** Moves a mail whose parts are documents. */
async function moveTaken(round: Round, { keys, uid }: FolderMail): Promise<void> {
  const { db, lock, clock, folder } = round
  const isMoved = await folder.move(uid, 'done')
  if (isMoved) return atomically(db, (trx) => updateMailMoved(trx, keys, clock().toISOString()), lock)
  const failures = await atomically(db, (trx) => addMoveFailure(trx, keys), lock)
  if (failures >= MOST_MOVE_FAILURES) round.isStuck = true
}

async function refuse(
  round: Round,
  head: MailHead,
  reason: string,
  mail: Pick<RefusedMail, 'fromText' | 'subject' | 'left'> = { fromText: '', subject: '', left: [] },
): Promise<void> {
  const { clock, log, mailbox, folder, refusals, reader, signal } = round
  const { uid, size } = head
  // Sender and subject of a mail that is too large, or cannot be read, are downloaded alone.
  const raw = mail.fromText || mail.subject ? undefined : await folder.downloadHead(uid)
  const { fromText, subject } = raw ? await reader.read(raw, { ignore: [] }, signal) : mail
  const row = {
    ...{ mailbox_id: mailbox.id, uidvalidity: folder.uidvalidity, uid, size, reason },
    ...{ at: clock().toISOString(), ...leftMailTexts({ fromText, subject, left: mail.left }) },
  }
  const isNew = await writeInRound(round, (trx) => recordRefusedMail(trx, row))
  if (isNew) log.warn('mail refused', { mailbox: mailbox.id, uid, size, reason })
  if (refusals.size >= MOST_REFUSALS) refusals.clear()
  refusals.add(refusalKey(round, uid))
  await moveRefused(round, uid)
}

async function moveRefused(round: Round, uid: number): Promise<void> {
  if (await round.folder.move(uid, 'rejected')) round.refusals.delete(refusalKey(round, uid))
}

/** Identifies a mail among the refused ones, with the settings that it was refused by. */
function refusalKey({ mailbox, folder }: Pick<Round, 'mailbox' | 'folder'>, uid: number): string {
  const { id, host, port, user_name, allow_from, ignore_names, largest } = mailbox
  const settings = [id, host, port, user_name, mailbox.folder, allow_from, ignore_names, largest]
  return JSON.stringify([settings, folder.uidvalidity, uid])
}

/** Returns whether the sender is one of `--allow-from`. Anybody can forge it. */
function isAllowedSender({ allow_from: allowed }: MailboxRow, sender: string): boolean {
  if (allowed.length === 0) return true
  const from = sender.toLowerCase()
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return from !== '' && allowed.some((one) => (one.includes('@') ? one === from : one === domain))
}

/** Returns the active agents in the tags of addresses, such as `facturas+12@example.com`: the first 10. */
async function selectTagAgents({ reads, mailbox }: Round, recipients: readonly string[]): Promise<number[]> {
  if (!mailbox.by_tag) return []
  const tags = recipients.flatMap((address) => /^[^@]*\+(\d{1,15})@/.exec(address)?.[1] ?? [])
  const ids = [...new Set(tags.map(Number))]
  if (ids.length === 0) return []
  const agents = (await selectAgentsById(reads, ids)).filter(
    ({ active, company_id }) => active && company_id === mailbox.company_id,
  )
  const agentIds = new Set(agents.map(({ id }) => id))
  return ids.filter((id) => agentIds.has(id)).slice(0, MOST_AGENTS)
}

/** A failure of the storage leaves the mail where it is. */
function storageFailure(error: unknown): unknown {
  // A conflict is a mailbox that an operator has changed.
  if (!(error instanceof AppError) || error.code === 'conflict') return error
  const causes: Partial<Record<AppError['code'], [string, RoundFailureCode]>> = {
    'over-quota': ['the quota of the company is used up', 'quota'],
    'disk-full': ['the disk is full', 'disk_full'],
    'not-found': ['its agent is inactive, or its agent or owner does not exist', 'agent'],
  }
  const [message, code] = causes[error.code] ?? [
    `its documents cannot be stored (${errorReason(error)})`,
    'storage',
  ]
  return new RoundFailure(message, code, { cause: error })
}
