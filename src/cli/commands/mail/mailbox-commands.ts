// Lists mailboxes, and pauses, resumes and deletes them.

import { type LeftMail, toLeftMail } from '../../../domain/mail/left-mail-view.ts'
import {
  forgetMail,
  pauseMailbox,
  removeMailbox,
  resumeMailbox,
} from '../../../domain/mail/mailbox-changes.ts'
import { AppError } from '../../../runtime/errors.ts'
import { selectLeftMails } from '../../../store/mail/left-mails.ts'
import { findMailbox, type MailboxRow, selectMailboxes } from '../../../store/mail/mailboxes.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { quotaText, sizeText } from '../../../values/sizes.ts'
import { command, formatTable, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseId } from '../positionals.ts'
import { changeRow, listCommand, notFound, rowCommand } from '../rows.ts'

const HIGHEST_UID = 2 ** 32 - 1

export const mailboxList = listCommand({
  name: 'mailbox list',
  select: (db) => selectMailboxes(db),
  columns: {
    ID: 'id',
    NAME: 'name',
    USER: 'user_name',
    FOLDER: 'folder',
    COMPANY: 'company_id',
    AGENT: 'agent_id',
    WAITING: 'waiting',
    TAKEN: 'taken',
    REFUSED: 'refused',
    'LAST ROUND': ({ last_round_at }) => last_round_at ?? 'never',
    STATE: mailboxState,
  },
})

export const mailboxShow = command({
  name: 'mailbox show',
  positionals: ['ID'],
  options: [...STORAGE, 'json'],
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const mailbox = await needMailbox(db, id)
      const rows = await selectLeftMails(db, [id])
      const refusals = rows.flatMap(({ uidvalidity, uid, size, reason, at }) =>
        reason === null ? [] : [{ uidvalidity, uid, size, reason, at }],
      )
      const mails = rows.map(toLeftMail)
      printResult(terminal, options, { ...mailbox, refusals, left: mails }, [
        ...formatTable(mailboxFacts(mailbox)),
        ...(rows.length === 0
          ? []
          : ['', 'Mails that were refused, or have parts that were left out, the last one first:']),
        ...formatTable(
          rows.map((row, at) => [
            row.at,
            `uid ${row.uid}`,
            sizeText(row.size),
            row.reason ?? 'kept',
            leftText(mails[at]),
          ]),
        ),
      ])
    })
  },
})

export const mailboxPause = rowCommand({
  name: 'mailbox pause',
  change: (db, id, { clock }) => pauseMailbox(db, id, clock().toISOString()),
  line: ({ id, name }) => `mailbox ${id} (${name}) is paused`,
})

export const mailboxResume = rowCommand({
  name: 'mailbox resume',
  change: (db, id) => resumeMailbox(db, id),
  line: ({ id, name }) => `mailbox ${id} (${name}) is active; its next round is due now`,
})

export const mailboxDelete = rowCommand({
  name: 'mailbox delete',
  change: async (db, id, { clock }) =>
    (await removeMailbox(db, id, clock().toISOString())) ? { id } : undefined,
  line: ({ id }) => `mailbox ${id} is deleted; its documents stay`,
})

export const mailboxForget = command({
  name: 'mailbox forget',
  positionals: ['ID', 'UID'],
  options: [...STORAGE, 'json'],
  changesData: true,
  run(input) {
    const uid = parseUid(input.positionals[1])
    return changeRow(
      input,
      { noun: 'mailbox', parse: parseId },
      async (db, id) => ((await forgetMail(db, id, uid)) ? { id, uid } : undefined),
      ({ id }) => `mail ${uid} of mailbox ${id} is forgotten: it is taken again if it is in the folder`,
    )
  },
})

/** Finds a mailbox. @throws AppError `not-found` */
export async function needMailbox(db: ReadDb, id: number): Promise<MailboxRow> {
  const mailbox = await findMailbox(db, id)
  if (!mailbox) throw notFound('mailbox', id)
  return mailbox
}

function parseUid(word: string | undefined): number {
  const uid = Number(word)
  if (/^\d{1,10}$/.test(word ?? '') && uid >= 1 && uid <= HIGHEST_UID) return uid
  const rule = 'UID must be the number of a mail in the log line "mail kept", from 1 to'
  throw new AppError('usage', `${rule} ${HIGHEST_UID}, not ${JSON.stringify(word ?? '')}`)
}

function mailboxState(mailbox: MailboxRow): string {
  if (mailbox.pause_reason === 'restore') return `paused by a restore: cambista mailbox resume ${mailbox.id}`
  if (mailbox.paused_at !== null) return `paused since ${mailbox.paused_at}`
  if (mailbox.failing_since !== null) return `fails since ${mailbox.failing_since} (${mailbox.failure})`
  return mailbox.last_round_at === null ? 'no round yet' : 'works'
}

/** Sender, subject and parts of a mail, which are words of strangers. */
function leftText(mail: LeftMail | undefined): string {
  const parts = mail?.parts.map(({ name, reason }) => `${name ?? 'a part without a name'} (${reason})`)
  return [mail?.from, mail?.subject, ...(parts ?? [])].filter((text) => text != null).join('; ')
}

function mailboxFacts(mailbox: MailboxRow): [string, string][] {
  const { name, host, port, security, user_name, password_file, oauth_file, allow_from } = mailbox
  return [
    ['mailbox', `${mailbox.id} (${name})`],
    ['state', mailboxState(mailbox)],
    ['server', `${host}:${port} (${security})`],
    ['user', user_name],
    password_file === null ? ['OAuth', oauth_file ?? ''] : ['password', password_file],
    ['folders', [mailbox.folder, mailbox.done, mailbox.rejected].join(', ')],
    ['company', String(mailbox.company_id)],
    ['agent', `${mailbox.agent_id}${mailbox.by_tag ? ', or that of the tag' : ''}`],
    ['owner', String(mailbox.owner_id)],
    ['senders', allow_from.length === 0 ? 'all' : allow_from.join(', ')],
    ['ignored files', mailbox.ignore_names.join(', ') || 'those of file managers'],
    ['largest mail', quotaText(mailbox.largest)],
    ['last round', mailbox.last_round_at ?? 'never'],
    ['last success', mailbox.last_success_at ?? 'never'],
    ['next round', mailbox.next_round_at ?? 'now'],
    ['mails', `${mailbox.taken} taken, ${mailbox.refused} refused, ${mailbox.waiting ?? 0} waiting`],
    ['parts left out', String(mailbox.left_out)],
  ]
}
