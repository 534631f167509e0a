import { HOOK_EVENTS } from '../../../domain/hooks/events.ts'
import { createHook, hookUrlFault, rotateHook, shownUrl } from '../../../domain/hooks/hooks.ts'
import { secretsOf } from '../../../domain/hooks/seal.ts'
import { AppError } from '../../../errors.ts'
import { atomically } from '../../../store/engine.ts'
import {
  deleteHook,
  findHook,
  type HookRow,
  type ListedHook,
  selectHooks,
  selectListedHooks,
} from '../../../store/hooks/hooks.ts'
import { hookKeyOf, neededHookKey } from '../../../store/hooks/key.ts'
import type { Db } from '../../../store/tables.ts'
import { command, printResult, table } from '../../command.ts'
import { HOOKS_PLACE, PLACE } from '../../place/options.ts'
import { parseId } from '../positionals.ts'

export const hookCreate = command({
  name: 'hook create',
  positionals: [],
  summary: 'tell an address of what happens here; the secret that signs it is shown this once',
  about: `The server posts a message to URL: document.created has the ids of an upload's documents (of --company or for --agent
alone, where given), rates.published the days that a sync completed, sync.failed the run that failed. It is signed as
Standard Webhooks say. What does not arrive is tried again, eight times within a day. cambista manual hooks says more.`,
  options: ['url', 'event', 'company', 'agent', ...HOOKS_PLACE, 'json'],
  required: ['url', 'event'],
  own: {
    url: {
      value: 'URL',
      fallback: undefined,
      help: 'where to post; https, but for this machine itself',
      format: { fault: hookUrlFault, read: (text: string) => new URL(text).href },
    },
  },
  changesData: true,
  example: 'cambista hook create --url https://agents.example.com/hook --event document.created --agent 12',
  run({ options, terminal, place, withDatabase }) {
    const events = HOOK_EVENTS.filter((event) => options.event.flat().includes(event))
    const company_id = options.company ?? null
    const agent_id = options.agent ?? null
    if ((company_id ?? agent_id) !== null && !events.includes('document.created')) {
      throw new AppError('usage', '--company and --agent are for --event document.created')
    }
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const hook = { url: options.url, events, company_id, agent_id }
      const key = await neededHookKey(place())
      const { id, secret } = await createHook(db, key, hook, clock().toISOString())
      terminal.err(
        `Hook ${id}, its secret is shown only now: the receiver checks signatures with it. cambista hook test ${id} tries it.\n`,
      )
      printResult(terminal, options, { id, ...hook, url: shownUrl(hook.url), secret }, [secret])
      return 0
    })
  },
})

export const hookList = command({
  name: 'hook list',
  positionals: [],
  summary: 'list the hooks: what each is told, how many messages wait, whether they arrive',
  options: [...HOOKS_PLACE, 'json'],
  changesData: false,
  example: 'cambista hook list',
  run({ options, terminal, place, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const key = hookKeyOf(place())
      const readable = new Set(
        (await selectHooks(db)).filter((hook) => secretsOf(hook, key, clock())).map(({ id }) => id),
      )
      const hooks = (await selectListedHooks(db)).map((hook) => ({
        ...hook,
        url: shownUrl(hook.url),
        readable: readable.has(hook.id),
      }))
      const rows = hooks.map((hook) => [
        String(hook.id),
        hook.url,
        hook.events.join(' '),
        String(hook.company_id ?? 'any'),
        String(hook.agent_id ?? 'any'),
        String(hook.waiting),
        String(hook.given_up),
        hook.sent_at ?? 'never',
        stateOf(hook),
      ])
      const head = ['ID', 'URL', 'EVENTS', 'COMPANY', 'AGENT', 'WAITING', 'GIVEN UP', 'LAST TOLD', 'STATE']
      printResult(terminal, options, hooks, table([head, ...rows]))
      return 0
    })
  },
})

export const hookDelete = command({
  name: 'hook delete',
  positionals: ['ID'],
  summary: 'delete a hook, and what waits for it',
  options: [...PLACE, 'json'],
  changesData: true,
  example: 'cambista hook delete 3',
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      if (!(await atomically(db, (trx) => deleteHook(trx, id)))) throw noHook(id)
      printResult(terminal, options, { id }, [`hook ${id} is deleted`])
      return 0
    })
  },
})

export const hookRotate = command({
  name: 'hook rotate',
  positionals: ['ID'],
  summary: 'give a hook a new secret, shown this once; the one before signs too for a while',
  about: `For --overlap each message has two signatures, so that its receiver can change over at any time. After a restore the
secrets of before cannot be read, because hook.key is in no backup: then the new one alone signs, and what waits is sent.`,
  options: ['overlap', ...HOOKS_PLACE, 'json'],
  changesData: true,
  example: 'cambista hook rotate 3 --overlap 7d',
  run({ options, positionals, terminal, place, withDatabase }) {
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const hook = await needHook(db, id)
      const key = await neededHookKey(place())
      const how = { overlapMs: options.overlap, now: clock() }
      const { secret, formerEndsAt } = await rotateHook(db, key, hook, how)
      const former =
        formerEndsAt === null
          ? 'The one before signs no more.'
          : `The one before signs too until ${formerEndsAt}.`
      terminal.err(`Hook ${id} has a new secret, shown only now.\n${former}\n`)
      printResult(terminal, options, { id, secret, former_ends_at: formerEndsAt }, [secret])
      return 0
    })
  },
})

/** @throws AppError `not-found` */
export async function needHook(db: Db, id: number): Promise<HookRow> {
  const hook = await findHook(db, id)
  if (!hook) throw noHook(id)
  return hook
}

function noHook(id: number): AppError {
  return new AppError('not-found', `there is no hook ${id}: see cambista hook list`)
}

function stateOf(hook: ListedHook & { readable: boolean }): string {
  if (!hook.readable) return `its secret cannot be read: cambista hook rotate ${hook.id}`
  if (hook.off_at !== null) return `off since ${hook.off_at} (${hook.failure})`
  if (hook.failing_since !== null) return `fails since ${hook.failing_since} (${hook.failure})`
  return hook.sent_at === null ? 'not told yet' : 'works'
}
