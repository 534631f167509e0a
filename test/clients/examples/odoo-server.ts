// The fake Odoo (programs/odoo/) with the printed module, as a process that runs the commands of a test.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { KEY, run } from '../support.ts'
import { writeExample } from './connectors.ts'

/** Versions of Odoo that the fake imitates. */
export const VERSIONS = [16, 17, 18] as const
export const MODULE = 'currency_rate_update_cambista'
export const PROVIDER = 'res.currency.rate.provider'
export const ACCOUNTANT = 'accountant'
const SERVER = join(import.meta.dirname, '../programs/odoo/server.py')
const INTERPRETER = '/usr/bin/python3'

export type Message = {
  text: string
  body: string
  subject: string
  model: string
  /** Names of the notified people. */
  partner_ids: string[]
}

export type Odoo = {
  /** Runs a command of server.py. @throws with the text of the error in Odoo */
  send<T>(command: string, ...words: unknown[]): Promise<T>
  /** Calls a method of records; `user` is the robot unless named. */
  execute<T>(model: string, method: string, ids: number[], words: unknown[], user?: string): Promise<T>
  create(model: string, values: Record<string, unknown>): Promise<number>
  find(model: string, domain: unknown[]): Promise<number[]>
  read<T>(model: string, domain: unknown[], names: string[], order?: string): Promise<T[]>
  /** Rates of a currency by day, with their last bits. */
  rates(currency: string): Promise<Record<string, number>>
  messages(): Promise<Message[]>
  /** Runs the wizard over a range as an account manager. */
  runWizard<T>(provider: number, from: string, to: string): Promise<T>
}

/** Writes the module into a folder of addons. */
export async function writeModule(t: TestContext): Promise<string> {
  const script = await writeExample(t, 'odoo')
  const addons = join(script, '..')
  await run('sh', [script, addons])
  return join(addons, MODULE)
}

/** Starts Odoo with an installed module. The first command reports a failed installation. */
export function startOdoo(t: TestContext, version: number, module: string): Odoo {
  const server = spawn(INTERPRETER, ['-B', SERVER, String(version), module], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => server.stdin.end())
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()

  async function exchange(command: string, words: unknown[]): Promise<unknown> {
    server.stdin.write(`${JSON.stringify([command, ...words])}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error('Odoo has ended')
    const { result, error } = JSON.parse(value)
    if (error !== undefined) throw new Error(error)
    return result
  }

  const odoo: Odoo = {
    send<T>(command: string, ...words: unknown[]) {
      const answer = last.then(() => exchange(command, words))
      last = answer.catch(() => {}) // the caller gets the error
      return answer as Promise<T>
    },
    execute: (model, method, ids, words, user = 'robot') =>
      odoo.send('execute', model, method, ids, words, user),
    async create(model, values) {
      const [id = 0] = await odoo.execute<number[]>(model, 'create', [], [values])
      return id
    },
    find: (model, domain) => odoo.execute(model, 'search', [], [domain]),
    read: (model, domain, names, order) => odoo.send('read', model, domain, names, order),
    async rates(currency) {
      const rows = await odoo.read<{ name: string; rate: number }>(
        'res.currency.rate',
        [['currency_id.name', '=', currency]],
        ['name', 'rate'],
        'name',
      )
      return Object.fromEntries(rows.map(({ name, rate }) => [name, rate]))
    },
    messages: () => odoo.read('mail.message', [], ['text', 'body', 'subject', 'model', 'partner_ids']),
    async runWizard(provider, from, to) {
      const values = { date_from: from, date_to: to, provider_ids: [[6, 0, [provider]]] }
      const wizard = 'res.currency.rate.update.wizard'
      const id = await odoo.create(wizard, values)
      return odoo.execute(wizard, 'action_update', [id], [], ACCOUNTANT)
    },
  }
  return odoo
}

/** Adds a provider of the company, which reads `url`; `currencies` are the dollar alone unless named. */
export async function addProvider(
  odoo: Odoo,
  url: string,
  { currencies = ['USD'], ...fields }: Record<string, unknown> & { currencies?: string[] } = {},
): Promise<number> {
  const ids = await odoo.find('res.currency', [['name', 'in', currencies]])
  return odoo.create(PROVIDER, {
    ...{ service: 'cambista', cambista_url: url, cambista_key: KEY, cambista_side: 'venta' },
    currency_ids: [[6, 0, ids]],
    ...fields,
  })
}
