// Connects to the server of a mailbox from this process, and writes nothing.

import { createCredentialReader, refreshTokenFault } from '../../../domain/mail/credentials.ts'
import { examineMailServer, type ServerReport } from '../../../domain/mail/imap.ts'
import { RoundFailure } from '../../../domain/mail/round-failure.ts'
import { AppError, networkReason } from '../../../runtime/errors.ts'
import type { MailboxRow } from '../../../store/mail/mailboxes.ts'
import { command, formatTable, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { trustExtraCertificates, trustHint } from '../../parse/settings.ts'
import { parseId } from '../positionals.ts'
import { needMailbox } from './mailbox-commands.ts'

export const mailboxTest = command({
  name: 'mailbox test',
  positionals: ['ID'],
  options: [...STORAGE, 'json'],
  run({ options, positionals, terminal, settings, storage, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const mailbox = await needMailbox(db, id)
      const { oauth_file } = mailbox
      trustExtraCertificates(settings, terminal.err)
      try {
        const fault = oauth_file === null ? undefined : await refreshTokenFault(oauth_file)
        if (fault !== undefined) throw new RoundFailure(`${oauth_file} ${fault}`, 'secret')
        const log = { warn: (event: string) => terminal.err(`${event}\n`) }
        const login = await createCredentialReader(log).read(mailbox, terminal.stop)
        const report = await examineMailServer(mailbox, login, {
          signal: terminal.stop,
          outgoing: storage().outgoing,
        })
        printResult(terminal, options, { id, ...report }, formatTable(reportFacts(mailbox, report)))
      } catch (error) {
        if (!(error instanceof RoundFailure)) throw error
        throw new AppError('failed', error.message + trustHint(networkReason(error)), { cause: error })
      }
    })
  },
})

function reportFacts(
  { host, port, security, folder }: MailboxRow,
  { waiting, folders, moves }: ServerReport,
): [string, string][] {
  return [
    ['server', `${host}:${port} (${security})`],
    ['folder', `${folder}: ${waiting} mails wait`],
    ...folders.map(({ path, exists }): [string, string] => [
      'moves to',
      exists ? path : `${path}, which the first round makes`,
    ]),
    ['moves by', moves === 'MOVE' ? 'MOVE' : 'copies, and UID EXPUNGE of each mail'],
  ]
}
