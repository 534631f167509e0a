import { type HeaderLine, parseHeaders, plainHeaders } from '../../../domain/hooks/headers.ts'
import { createHook, hookUrlError, maskedUrl, rotateHook } from '../../../domain/hooks/hook-changes.ts'
import { HOOK_EVENTS } from '../../../domain/hooks/queued-events.ts'
import { unsealHook } from '../../../domain/hooks/seal.ts'
import { AppError } from '../../../runtime/errors.ts'
import { secretText } from '../../../runtime/secret-text.ts'
import { atomically, type Engine } from '../../../store/engine.ts'
import {
  deleteHook,
  findHook,
  type HookRow,
  type ListedHook,
  selectHooks,
  selectListedHooks,
} from '../../../store/hooks/hooks.ts'
import { findHookKey, requireHookKey } from '../../../store/hooks/key.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { command, printResult } from '../../command.ts'
import { usageError } from '../../help/advice.ts'
import { option } from '../../options/names.ts'
import { STORAGE_WITH_HOOK_KEY } from '../../options/storage.ts'
import { readNamedFile } from '../../storage/storage-options.ts'
import { parseId } from '../positionals.ts'
import { listRows, notFound, rowCommand } from '../rows.ts'

export const hookCreate = command({
  name: 'hook create',
  options: [
    'url',
    'event',
    'company',
    'agent',
    'allow-http',
    'header',
    'header-file',
    ...STORAGE_WITH_HOOK_KEY,
    'json',
  ],
  required: ['url', 'event'],
  overrides: {
    url: option('URL', {
      validate: (text: string) => hookUrlError(text, text.startsWith('http:')),
      parse: (text: string) => new URL(text).href,
    }),
  },
  changesData: true,
  run({ options, terminal, storage, withDatabase }) {
    const events = HOOK_EVENTS.filter((event) => options.event.flat().includes(event))
    const company_id = options.company ?? null
    const agent_id = options.agent ?? null
    if ((company_id ?? agent_id) !== null && !events.some((event) => event.startsWith('document.'))) {
      throw new AppError(
        'usage',
        '--company and --agent are for --event document.created and other document events',
      )
    }
    const { url, 'allow-http': allowHttp, header = [] } = options
    const fault = hookUrlError(url, allowHttp)
    if (fault !== undefined)
      throw usageError({ reason: 'wrong-value', source: '--url', fault, typed: undefined })
    const plain = header.map((text): HeaderLine => ({ text, place: '--header', isSecret: false }))
    const headers = parseHeaders([...plain, ...readHeaderFile(options['header-file'])])
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const hook = { url, events, company_id, agent_id }
      const key = await requireHookKey(storage())
      const newHook = { ...hook, allowHttp, headers }
      const { id, secret } = await createHook(db, key, newHook, clock().toISOString())
      terminal.err(
        `Hook ${id}, its secret is shown only now: the receiver checks signatures with it. cambista hook test ${id} tries it.\n`,
      )
      printResult(terminal, options, { id, ...hook, url: maskedUrl(hook.url), secret }, [secret])
    })
  },
})

export const hookList = command({
  name: 'hook list',
  options: [...STORAGE_WITH_HOOK_KEY, 'json'],
  run(input) {
    const select = async (db: ReadDb, { clock }: Engine) => {
      const key = findHookKey(input.storage())
      const readable = new Set(
        (await selectHooks(db)).filter((hook) => unsealHook(hook, key, clock())).map(({ id }) => id),
      )
      return (await selectListedHooks(db)).map((hook) => ({
        ...hook,
        url: maskedUrl(hook.url),
        readable: readable.has(hook.id),
      }))
    }
    return listRows(input, select, {
      ID: 'id',
      URL: 'url',
      EVENTS: ({ events }) => events.join(' '),
      COMPANY: ({ company_id }) => company_id ?? 'any',
      AGENT: ({ agent_id }) => agent_id ?? 'any',
      HEADERS: ({ headers }) => Object.keys(headers).join(' '),
      WAITING: 'waiting',
      'GIVEN UP': 'given_up',
      'LAST TOLD': ({ sent_at }) => sent_at ?? 'never',
      STATE: hookState,
    })
  },
})

export const hookDelete = rowCommand({
  name: 'hook delete',
  change: async (db, id) => ((await atomically(db, (trx) => deleteHook(trx, id))) ? { id } : undefined),
  line: ({ id }) => `hook ${id} is deleted`,
})

export const hookRotate = command({
  name: 'hook rotate',
  positionals: ['ID'],
  options: ['overlap', 'header-file', ...STORAGE_WITH_HOOK_KEY, 'json'],
  changesData: true,
  run({ options, positionals, terminal, storage, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const hook = await needHook(db, id)
      const key = await requireHookKey(storage())
      const file = options['header-file']
      const headers =
        file === undefined ? undefined : parseHeaders([...plainHeaders(hook), ...readHeaderFile(file)])
      const rotation = { overlapMs: options.overlap, now: clock(), headers }
      const { secret, formerEndsAt } = await rotateHook(db, key, hook, rotation)
      const former =
        formerEndsAt === null
          ? 'The one before signs no more.'
          : `The one before signs too until ${formerEndsAt}.`
      terminal.err(`Hook ${id} has a new secret, shown only now.\n${former}\n`)
      printResult(terminal, options, { id, secret, former_ends_at: formerEndsAt }, [secret])
    })
  },
})

/** Reads the secret headers of a file, a line each. @throws AppError `failed`, `usage` */
function readHeaderFile(file: string | undefined): HeaderLine[] {
  if (file === undefined) return []
  const lines = secretText(readNamedFile(file, 'the headers of the hook')).split('\n')
  const headers = lines.flatMap((text, at): HeaderLine[] =>
    text.trim() === '' ? [] : [{ text, place: `line ${at + 1} of --header-file`, isSecret: true }],
  )
  if (headers.length === 0) throw new AppError('usage', `there is no header in ${file} (--header-file)`)
  return headers
}

/** Finds a hook. @throws AppError `not-found` */
export async function needHook(db: ReadDb, id: number): Promise<HookRow> {
  const hook = await findHook(db, id)
  if (!hook) throw notFound('hook', id)
  return hook
}

function hookState(hook: ListedHook & { readable: boolean }): string {
  if (!hook.readable) return `its secret cannot be read: cambista hook rotate ${hook.id}`
  if (hook.off_at !== null) return `off since ${hook.off_at} (${hook.failure})`
  if (hook.failing_since !== null) return `fails since ${hook.failing_since} (${hook.failure})`
  return hook.sent_at === null ? 'not told yet' : 'works'
}
