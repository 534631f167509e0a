// Creates and changes mailboxes. Passwords and tokens stay in their files, which are checked here.

import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { requireAgent } from '../../../domain/directory/directory.ts'
import { refreshTokenFault } from '../../../domain/mail/credentials.ts'
import { changeMailbox, createMailbox } from '../../../domain/mail/mailbox-changes.ts'
import { mailHostError, mailNameError, mailSizeError } from '../../../domain/mail/settings.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { openModeFault } from '../../../runtime/open-mode.ts'
import type { MailboxSettings } from '../../../store/mail/mailboxes.ts'
import { parseSize } from '../../../values/sizes.ts'
import { command, printResult } from '../../command.ts'
import { choice, integer, textFormat } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'
import type { OptionValues } from '../../options/values.ts'
import { parseId, parseName } from '../positionals.ts'
import { changeRow } from '../rows.ts'

type SecretFiles = Pick<MailboxSettings, 'password_file' | 'oauth_file'>

const PORT = { tls: 993, starttls: 143, none: 143 }
const port = option('PORT', integer(1, 65_535))
const host = option('NAME', textFormat(mailHostError))
const mailName = textFormat(mailNameError)

const SETTINGS = [
  ...(['host', 'port', 'security', 'user', 'password-file', 'oauth-file', 'folder', 'done'] as const),
  ...(['rejected', 'company', 'agent', 'owner', 'allow-from', 'ignore', 'by-tag', 'largest'] as const),
] as const

export const mailboxCreate = command({
  name: 'mailbox create',
  positionals: ['NAME'],
  options: [...SETTINGS, ...STORAGE, 'json'],
  required: ['host', 'user', 'agent', 'owner'],
  overrides: { host, port },
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const name = parseName(positionals[0])
    const files = secretFiles(options)
    if (!files) throw new AppError('usage', 'give --password-file FILE, or --oauth-file FILE')
    const { security, folder, done, rejected } = options
    const settings = {
      ...{
        name,
        host: options.host,
        port: options.port ?? PORT[security],
        security,
        user_name: options.user,
      },
      ...{ ...files, folder, done, rejected },
      ...{ agent_id: options.agent, owner_id: options.owner },
      ...{ allow_from: options['allow-from'] ?? [], ignore_names: options.ignore ?? [] },
      ...{ by_tag: options['by-tag'], largest: options.largest },
    }
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      await checkSecretFile(files)
      const company_id = options.company ?? (await requireAgent(db, options.agent)).company_id
      const id = await createMailbox(db, { ...settings, company_id }, clock().toISOString())
      printResult(terminal, options, { id, ...settings, company_id }, [String(id)])
    })
  },
})

export const mailboxUpdate = command({
  name: 'mailbox update',
  positionals: ['ID'],
  options: ['name', ...SETTINGS, ...STORAGE, 'json'],
  overrides: {
    name: option('NAME', mailName),
    host,
    port,
    security: option('WORD', choice('tls', 'starttls', 'none')),
    folder: option('NAME', mailName),
    done: option('NAME', mailName),
    rejected: option('NAME', mailName),
    'by-tag': option('WORD', choice('yes', 'no')),
    largest: option('SIZE', { validate: mailSizeError, parse: parseSize }),
  },
  changesData: true,
  run(input) {
    const { options } = input
    const files = secretFiles(options)
    const byTag = options['by-tag']
    const change = withoutUndefined<Partial<MailboxSettings>>({
      ...{ name: options.name && parseName(options.name), host: options.host, port: options.port },
      ...{ security: options.security, user_name: options.user, ...files, folder: options.folder },
      ...{ done: options.done, rejected: options.rejected, company_id: options.company },
      ...{ agent_id: options.agent, owner_id: options.owner, allow_from: options['allow-from'] },
      ignore_names: options.ignore,
      ...{ by_tag: byTag && byTag === 'yes', largest: options.largest },
    })
    if (Object.keys(change).length === 0) {
      throw new AppError('usage', `give a setting to change: ${SETTINGS.map((one) => `--${one}`).join(', ')}`)
    }
    return changeRow(
      input,
      { noun: 'mailbox', parse: parseId },
      async (db, id) => {
        if (files) await checkSecretFile(files)
        return changeMailbox(db, id, change)
      },
      ({ id, name }) => `mailbox ${id} (${name}) is changed; its next round is due now`,
    )
  },
})

/** Returns the absolute path of the file that was given; undefined: none. @throws AppError `usage` for both */
function secretFiles(options: Pick<OptionValues, 'password-file' | 'oauth-file'>): SecretFiles | undefined {
  const { 'password-file': password, 'oauth-file': oauth } = options
  if (password !== undefined && oauth !== undefined)
    throw new AppError('usage', '--password-file and --oauth-file exclude one another: give one of them')
  if (password !== undefined) return { password_file: resolve(password), oauth_file: null }
  return oauth === undefined ? undefined : { password_file: null, oauth_file: resolve(oauth) }
}

/** Checks the file of a secret. @throws AppError `failed` if it is unusable, or open to others */
async function checkSecretFile({ password_file, oauth_file }: SecretFiles): Promise<void> {
  const option = password_file === null ? '--oauth-file' : '--password-file'
  const path = password_file ?? oauth_file ?? ''
  const refuse = (rule: string, cause?: unknown) =>
    new AppError('failed', `${option} ${path} ${rule}`, { cause })
  let stats: Stats
  try {
    stats = statSync(path)
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw refuse(`cannot be read by the user of the server: ${errorReason(error)}`, error)
  }
  if (!stats.isFile()) throw refuse('is not a file')
  if (stats.size === 0) throw refuse('is empty: write the secret into it')
  const fault = openModeFault(stats.mode)
  if (fault !== undefined) throw refuse(`${fault}: chmod 600 ${path}`)
  const tokenFault = oauth_file === null ? undefined : await refreshTokenFault(oauth_file)
  if (tokenFault !== undefined) throw refuse(tokenFault)
}

function withoutUndefined<T>(values: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
