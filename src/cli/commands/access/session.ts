// Sessions of the page, for an operator. A list has no secret: an id is part of the hash of a cookie.

import { listSessions } from '../../../domain/access/session-lifetimes.ts'
import { AppError } from '../../../runtime/errors.ts'
import { endSessionsByPrefix, endSessionsOfPerson } from '../../../store/access/page-sessions.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listCommand, notFound } from '../rows.ts'

export const sessionList = listCommand({
  name: 'session list',
  select: (db, { clock }) => listSessions(db, clock),
  columns: {
    ID: 'id',
    PERSON: ({ person }) => person ?? '-',
    KEY: ({ key }) => key ?? '-',
    TOKEN: ({ token }) => token ?? '-',
    REMEMBERED: ({ remember }) => (remember ? 'yes' : 'no'),
    OPENED: 'opened_at',
    'LAST USED': 'used_at',
  },
})

export const sessionEnd = command({
  name: 'session end',
  positionals: ['[ID]'],
  options: ['person', ...STORAGE, 'json'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const { person } = options
    const [id] = positionals
    if ((id === undefined) === (person === undefined)) {
      throw new AppError('usage', 'give the ID of a session, or --person NAME for each session of a person')
    }
    if (id !== undefined) checkSessionId(id)
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const now = clock().toISOString()
      const count = await (person === undefined
        ? endSessionsByPrefix(db, id ?? '', now)
        : endSessionsOfPerson(db, person, now))
      if (count === 0) throw notFound('open session', id ?? `of ${person}`)
      printResult(terminal, options, { ended: count }, [
        `${count === 1 ? '1 session is' : `${count} sessions are`} ended`,
      ])
    })
  },
})

/** @throws AppError `usage` for another text than an id of `session list` */
function checkSessionId(id: string): void {
  if (/^[\da-f]{12,64}$/.test(id)) return
  throw new AppError(
    'usage',
    `ID must be that of a session in cambista session list, not ${JSON.stringify(id)}`,
  )
}
