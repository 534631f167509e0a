// Creates and changes mailboxes, and records their rounds. Only the operator may, on the command line: no API client
// can direct connections of the server.

import { AppError } from '../../runtime/errors.ts'
import { atomically } from '../../store/engine.ts'
import { deleteLeftMails, insertLeftMail, type LeftMailRow } from '../../store/mail/left-mails.ts'
import {
  addMailCounts,
  deleteMailbox,
  findMailbox,
  insertMailbox,
  latestRound,
  lockMailboxes,
  type MailboxRow,
  type MailboxSettings,
  selectMailboxes,
  updateMailbox,
} from '../../store/mail/mailboxes.ts'
import { clearMailPositions, deleteMailMessage, type MailMessage } from '../../store/mail/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import { currentDay, type IsoDate } from '../../values/dates.ts'
import { requireCompany, requireParty } from '../directory/directory.ts'
import type { RoundFailureCode } from './round-failure.ts'
import { readsSameFolder, settingsError } from './settings.ts'

const MAX_MAILBOXES = 50 // a round opens a connection to each
const FOLDER_FIELDS = ['host', 'port', 'user_name', 'folder'] as const
/** Settings of which a round has a copy. */
const ROUND_FIELDS = [
  ...FOLDER_FIELDS,
  ...(['security', 'password_file', 'oauth_file', 'done', 'rejected'] as const),
  ...(['company_id', 'agent_id', 'owner_id', 'allow_from', 'ignore_names', 'by_tag', 'largest'] as const),
] as const
const MINUTE_MS = 60_000
const ROUND_MS = MINUTE_MS // between two rounds without a failure
const RETRY_MINUTES = [1, 2, 5, 10, 30] // after the first failure, the second, …
const LONGEST_RETRY_MINUTES = 30

/**
 * Creates a mailbox, and returns its id.
 * @throws AppError `usage` for settings that exclude one another, `not-found` without such a company, agent or owner,
 * `conflict` for those of another company, an existing name or folder, or too many mailboxes
 */
export function createMailbox(db: WriteDb, settings: MailboxSettings, createdAt: string): Promise<number> {
  return atomically(db, async (trx) => {
    await lockMailboxes(trx)
    const all = await selectMailboxes(trx)
    if (all.length >= MAX_MAILBOXES) {
      throw new AppError('conflict', `there are ${MAX_MAILBOXES} mailboxes already: delete one`)
    }
    checkSettings(settings, all)
    await checkParties(trx, settings)
    return await insertMailbox(trx, { ...settings, created_at: createdAt })
  })
}

/**
 * Changes settings of a mailbox, and makes its next round due. Returns it; undefined: there is none.
 * @throws AppError like `createMailbox`
 */
export function changeMailbox(
  db: WriteDb,
  id: number,
  change: Partial<MailboxSettings>,
): Promise<MailboxRow | undefined> {
  return atomically(db, async (trx) => {
    await lockMailboxes(trx)
    const all = await selectMailboxes(trx)
    const mailbox = all.find((one) => one.id === id)
    if (!mailbox) return undefined
    const next = { ...mailbox, ...change, next_round_at: null }
    checkSettings(
      next,
      all.filter((one) => one.id !== id),
    )
    await checkParties(trx, next)
    await updateMailbox(trx, id, { ...change, next_round_at: null })
    // Another folder may have the same numbers for other mails.
    const isElsewhere = FOLDER_FIELDS.some((field) => next[field] !== mailbox[field])
    if (isElsewhere) {
      await clearMailPositions(trx, id)
      await deleteLeftMails(trx, id)
    }
    return next
  })
}

/** Pauses a mailbox, unless it is paused already. Returns it; undefined: there is none. */
export function pauseMailbox(db: WriteDb, id: number, at: string): Promise<MailboxRow | undefined> {
  return atomically(db, async (trx) => {
    const mailbox = await findMailbox(trx, id)
    if (!mailbox || mailbox.paused_at !== null) return mailbox
    const pause = { paused_at: at, pause_reason: 'operator' as const }
    await updateMailbox(trx, id, pause)
    return { ...mailbox, ...pause }
  })
}

/** Ends the pause of a mailbox, and makes its next round due. Returns it; undefined: there is none. */
export function resumeMailbox(db: WriteDb, id: number): Promise<MailboxRow | undefined> {
  return atomically(db, async (trx) => {
    const change = { paused_at: null, pause_reason: null, next_round_at: null }
    return (await updateMailbox(trx, id, change)) ? await findMailbox(trx, id) : undefined
  })
}

/** Deletes a mailbox; its documents stay. Returns whether it existed. */
export function removeMailbox(db: WriteDb, id: number, at: string): Promise<boolean> {
  return atomically(db, (trx) => deleteMailbox(trx, id, at))
}

/**
 * Forgets a mail, so that a round takes it again if it is in the folder. Returns it; undefined: there is no such mailbox.
 * @throws AppError `not-found` without such a mail
 */
export function forgetMail(db: WriteDb, mailboxId: number, uid: number): Promise<MailMessage | undefined> {
  return atomically(db, async (trx) => {
    if (!(await findMailbox(trx, mailboxId))) return undefined
    const message = await deleteMailMessage(trx, mailboxId, uid)
    if (message) return message
    const hint = 'UID is the number in the log line "mail kept"'
    throw new AppError('not-found', `mailbox ${mailboxId} has taken no mail ${uid}: ${hint}`)
  })
}

/** Returns the mailboxes whose next round is due, the longest due first. */
export function dueMailboxes(mailboxes: readonly MailboxRow[], now: Date): MailboxRow[] {
  const instant = now.toISOString()
  const latest = latestRound(now)
  return mailboxes
    .filter(
      ({ paused_at, next_round_at }) =>
        paused_at === null && (next_round_at === null || next_round_at <= instant || next_round_at > latest),
    )
    .sort((one, other) => ((one.next_round_at ?? '') < (other.next_round_at ?? '') ? -1 : 1))
}

/**
 * Checks a mailbox in a transaction of its round. Its row does not change until the end of the transaction.
 * @throws AppError `conflict` for one that an operator has paused, deleted or changed since the round began
 */
export async function requireSameMailbox(trx: WriteDb, mailbox: MailboxRow): Promise<void> {
  const row = await findMailbox(trx, mailbox.id, { lock: true })
  const isSame = row && ROUND_FIELDS.every((field) => String(row[field]) === String(mailbox[field]))
  if (isSame && row.paused_at === null) return
  const state = row === undefined ? 'deleted' : row.paused_at === null ? 'changed' : 'paused'
  throw new AppError('conflict', `mailbox ${mailbox.id} is ${state}`)
}

/**
 * Records a round that succeeded, in the caller's transaction. `waiting`: mails that are left in the folder. Returns
 * when the failure began that has ended; null: there was none.
 */
export async function recordRound(
  trx: WriteDb,
  id: number,
  { now, waiting }: { now: Date; waiting: number },
): Promise<string | null> {
  const before = await findMailbox(trx, id)
  const at = now.toISOString()
  await updateMailbox(trx, id, {
    ...{ last_round_at: at, last_success_at: at, waiting, next_round_at: addMs(now, ROUND_MS) },
    ...{ failing_since: null, failure: null, failure_code: null, failures: 0, reported_at: null },
  })
  return before?.failing_since ?? null
}

/**
 * Records a round that failed, in the caller's transaction. The next one is 1, 2, 5, 10 or 30 minutes later.
 * `isRefused`: the server refused the credentials; the retry waits 30 minutes, lest the account be locked. `failure`: a
 * sentence without names of strangers. `planned`: time of the round; the next one stays due if an operator has made it
 * due since. `reportNow` is true for the first failure and on each further day.
 */
export async function recordRoundFailure(
  trx: WriteDb,
  id: number,
  {
    now,
    failure,
    code = 'other',
    isRefused = false,
    planned = null,
  }: {
    now: Date
    failure: string
    code?: RoundFailureCode
    isRefused?: boolean
    planned?: string | null
  },
): Promise<{ failures: number; nextRound: string; reportNow: boolean }> {
  const before = await findMailbox(trx, id)
  const at = now.toISOString()
  const failures = (before?.failures ?? 0) + 1
  const minutes = isRefused ? LONGEST_RETRY_MINUTES : (RETRY_MINUTES[failures - 1] ?? LONGEST_RETRY_MINUTES)
  const isDue = planned !== null && before?.next_round_at === null
  const nextRound = isDue ? at : addMs(now, minutes * MINUTE_MS)
  const lastReport = before?.reported_at ?? null
  const reportNow = lastReport === null || dayOfInstant(lastReport) !== dayOfInstant(at)
  await updateMailbox(trx, id, {
    ...{ last_round_at: at, failure, failure_code: code, failures },
    next_round_at: isDue ? null : nextRound,
    failing_since: before?.failing_since ?? at,
    reported_at: reportNow ? at : lastReport,
  })
  return { failures, nextRound, reportNow }
}

/** Records a refused mail and counts it, in the caller's transaction. Returns false for one that is recorded already. */
export async function recordRefusedMail(trx: WriteDb, mail: LeftMailRow): Promise<boolean> {
  if (!(await insertLeftMail(trx, mail))) return false
  await addMailCounts(trx, mail.mailbox_id, { refused: 1 })
  return true
}

function dayOfInstant(instant: string): IsoDate {
  return currentDay(() => new Date(instant))
}

function addMs(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString()
}

/** Two mailboxes with one folder would make documents of each mail twice. */
function checkSettings(settings: MailboxSettings, others: readonly MailboxRow[]): void {
  const error = settingsError(settings)
  if (error !== undefined) throw new AppError('usage', error)
  const { name } = settings
  const namesake = others.find((one) => one.name === name)
  if (namesake)
    throw new AppError('conflict', `mailbox ${namesake.id} has the name ${JSON.stringify(name)} already`)
  const twin = others.find((one) => readsSameFolder(one, settings))
  if (twin) throw new AppError('conflict', `mailbox ${twin.id} takes the mails of this folder already`)
}

async function checkParties(
  trx: WriteDb,
  { company_id, agent_id, owner_id }: Pick<MailboxSettings, 'company_id' | 'agent_id' | 'owner_id'>,
): Promise<void> {
  await requireCompany(trx, company_id)
  await requireParty(trx, 'agent', agent_id, company_id)
  await requireParty(trx, 'owner', owner_id, company_id)
}
