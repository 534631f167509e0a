import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../app.ts'
import { VERSION } from '../assets.ts'
import { todayIn } from '../dates.ts'
import { startBank } from '../demo/bank.ts'
import { hashOfSecret, makeSecret } from '../domain/secrets.ts'
import { UPLOAD_WAITS } from '../http/uploads.ts'
import { createLog } from '../log.ts'
import { bccr } from '../providers/bccr.ts'
import { insertApiKey } from '../store/api-keys.ts'
import { openDatabase } from '../store/database.ts'
import type { Command, Terminal } from './command.ts'
import { stopped } from './serve.ts'
import { progressLine } from './sync.ts'

const DEMO_BANK = { ...bccr, name: 'Banco de demostración (valores inventados)' }
const TOKEN = 'demo'
const FIRST_DAY = '1983-01-01'

export const demo: Command = {
  name: 'demo',
  takes: [],
  summary: 'try it: a throw-away server with invented rates of all 47 currencies since 1983',
  options: ['host', 'port'],
  example: 'cambista demo --port 8080',
  async run({ values, terminal }) {
    await using parts = new AsyncDisposableStack()
    const clock = () => new Date()
    const dataDir = mkdtempSync(join(tmpdir(), 'cambista-demo-'))
    parts.defer(() => rmSync(dataDir, { recursive: true, force: true }))
    const bank = await startBank({ token: TOKEN, today: () => todayIn(clock) })
    parts.defer(() => bank.close())
    const log = createLog({ level: 'warn', format: 'text', write: terminal.err })
    const key = await makeKey(dataDir)
    const app = await startApp(
      {
        host: values.text('host'),
        port: values.number('port'),
        dataDir,
        scheduler: false,
        syncCron: '0 5 * * *',
        backfillFrom: FIRST_DAY,
        providerSettings: () => ({
          url: bank.url,
          token: TOKEN,
          paceMs: 0,
          userAgent: `cambista/${VERSION}`,
        }),
        limits: { ...UPLOAD_WAITS, maxBody: 2 * 1024 ** 3, minFree: 256 * 1024 ** 2, maxUploads: 16 },
        log,
      },
      { providers: [DEMO_BANK] },
    )
    parts.defer(() => app.close())
    terminal.out(`cambista ${VERSION} demo: every value is invented; nothing is kept.\n`)
    await Promise.all([fill(app, terminal, key), stopped(terminal.stop)])
    log.flush()
    return 0
  },
}

async function makeKey(dataDir: string): Promise<string> {
  const db = openDatabase(dataDir)
  const key = makeSecret('cbk_')
  await insertApiKey(db, { name: 'demo', hash: hashOfSecret(key), createdAt: new Date().toISOString() })
  await db.destroy()
  return key
}

/** Syncs, and prints what to try as soon as today's rates are there. */
async function fill(app: App, terminal: Terminal, key: string): Promise<void> {
  const line = progressLine(terminal)
  let shown = false
  const [end] = await app.sync({
    trigger: 'cli',
    range: undefined,
    signal: terminal.stop,
    progress: (progress) => {
      if (!shown && progress.feed === '520') {
        shown = true
        line.clear()
        terminal.out(whatToTry(app.url, key))
      }
      line.show(progress)
    },
  })
  line.clear()
  if (end)
    terminal.out(
      `History complete: ${end.run.inserted} values since 1983 (${end.run.status}). Ctrl+C ends it.\n`,
    )
}

function whatToTry(url: string, key: string): string {
  const curl = (path: string) => `  curl -s -H 'X-API-Key: ${key}' '${url}${path}'\n`
  return `
Serving on ${url}. Today's rates are there, the history is being fetched. Try:

${curl('/api/v1/rates/latest')}${curl('/api/v1/rates/latest?base=EUR&quote=USD&on=2024-12-25')}${curl('/api/v1/convert?amount=15000&from=JPY&to=CRC')}${curl('/api/v1/series/2/history?from=2026-01-01')}${curl('/api/v1/health')}  curl -s ${url}/openapi.json

`
}
