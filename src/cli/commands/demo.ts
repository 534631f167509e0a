import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../../app.ts'
import { VERSION } from '../../assets.ts'
import { todayIn } from '../../dates.ts'
import { startBank } from '../../demo/bank.ts'
import { createAgent, createCompany, createOwner } from '../../domain/directory/directory.ts'
import { LINK_MINUTES, makeLoginLink } from '../../domain/login-links.ts'
import { hashOfSecret, makeSecret } from '../../domain/secrets.ts'
import { UPLOAD_WAITS } from '../../http/documents/uploads/receive.ts'
import { bccr } from '../../providers/bccr/bccr.ts'
import { FIRST_DAY } from '../../providers/list.ts'
import { insertApiKey } from '../../store/api-keys.ts'
import { openDatabase } from '../../store/sqlite/database.ts'
import { insertToken } from '../../store/tokens.ts'
import { command, type Terminal } from '../command.ts'
import { namesOfMachine } from '../listen.ts'
import { progressOf } from '../progress.ts'
import { terminalLog } from '../terminal-log.ts'
import { stopped } from './serve.ts'
import { syncLine } from './sync.ts'

const DEMO_BANK = { ...bccr, name: 'Banco de demostración (valores inventados)' }
const TOKEN = 'demo'

export const demo = command({
  name: 'demo',
  positionals: [],
  summary: 'try it: a throw-away server with invented rates of 47 currencies since 1983, and a company',
  options: ['host', 'port'],
  ignoresService: true,
  changesData: false,
  example: 'cambista demo --port 8080',
  async run({ options, terminal }) {
    await using parts = new AsyncDisposableStack()
    const clock = () => new Date()
    const dataDir = mkdtempSync(join(tmpdir(), 'cambista-demo-'))
    parts.defer(() => rmSync(dataDir, { recursive: true, force: true }))
    const bank = await startBank({ token: TOKEN, today: () => todayIn(clock) })
    parts.defer(() => bank.close())
    const log = terminalLog(terminal, { level: 'warn', format: 'text' })
    const secrets = await fillDirectory(dataDir)
    const app = await startApp({
      host: options.host,
      port: options.port,
      dataDir,
      scheduler: false,
      syncCron: ({ settings }) => settings.schedule.fallback,
      backfillFrom: FIRST_DAY,
      providerSettings: () => ({
        url: bank.url,
        token: TOKEN,
        paceMs: 0,
        userAgent: `cambista/${VERSION}`,
      }),
      hostNames: namesOfMachine(),
      compat: { open: 'any', serveRounded: false }, // every value is invented: there is nothing to protect
      limits: { ...UPLOAD_WAITS, maxBody: 2 * 1024 ** 3, minFree: 64 * 1024 ** 2, maxUploads: 16 },
      staleForMs: 0,
      keepRemovedDays: 8,
      keepEvents: 730,
      maxAttempts: 5,
      log,
      providers: [DEMO_BANK],
    })
    parts.defer(() => app.close())
    terminal.out(`cambista ${VERSION} demo: every value is invented; nothing is kept.\n`)
    await Promise.all([fill(app, terminal, secrets), stopped(terminal.stop)])
    log.flush()
    return 0
  },
})

/** `code`: that of a link to the page. */
type Secrets = { key: string; token: string; code: string }

/** Makes a key, a company with an owner, two agents and a token for its documents, and a link that signs in with both. */
async function fillDirectory(dataDir: string): Promise<Secrets> {
  const [key, token] = [makeSecret('cbk_'), makeSecret('cbt_')]
  const createdAt = new Date().toISOString()
  const db = openDatabase(dataDir)
  const keyId = await insertApiKey(db, { name: 'demo', hash: hashOfSecret(key), createdAt })
  const allow = ['documents:POST', 'documents:GET', 'documents:CLAIM', 'agent:POST']
  const hash = hashOfSecret(token)
  const tokenId = await insertToken(db, {
    name: 'demo',
    hash,
    allow,
    companyId: null,
    expiresAt: null,
    createdAt,
  })
  await createCompany(db, { id: 1, name: 'Comercial Demostración S.A.', code: 'DEMO' }, createdAt)
  await createOwner(db, { id: 1, name: 'Ana Rojas', company_id: 1 }, createdAt)
  const agent = { company_id: 1, active: true }
  const reader = '<p>Lee <b>facturas</b> y las registra.</p>'
  await createAgent(db, { ...agent, id: 1, name: 'Lector de facturas', description: reader }, createdAt)
  const filer = '<p>Archiva contratos.</p>'
  await createAgent(db, { ...agent, id: 2, name: 'Archivista', description: filer }, createdAt)
  const { code } = await makeLoginLink(db, { keyId, tokenId }, () => new Date())
  await db.destroy()
  return { key, token, code }
}

/** Syncs, and prints what to try as soon as today's rates are there. */
async function fill(app: App, terminal: Terminal, secrets: Secrets): Promise<void> {
  const line = progressOf(terminal)
  let shown = false
  const [end] = await app.sync({
    trigger: 'cli',
    range: undefined,
    signal: terminal.stop,
    progress: (progress) => {
      if (!shown && progress.group === '520') {
        shown = true
        line.clear()
        terminal.out(whatToTry(app.url, secrets))
      }
      line.show(syncLine(progress))
    },
  })
  line.clear()
  if (end)
    terminal.out(
      `History complete: ${end.run.inserted} values since 1983 (${end.run.status}). Ctrl+C ends it.\n`,
    )
}

function whatToTry(url: string, { key, token, code }: Secrets): string {
  const rates = (path: string) => `  curl -s -H 'X-API-Key: ${key}' '${url}${path}'\n`
  const documents = (path: string, ...more: string[]) =>
    `  curl -s -H 'Authorization: Bearer ${token}' ${more.join('')}'${url}${path}'\n`
  const upload =
    '{"owner_id": 1, "company_id": 1, "agent_id": 1, "documents": ' +
    '[{"name": "factura.txt", "mimetype": "text/plain", "base64": "\'$(echo "Factura 1: 15000 CRC" | base64)\'"}]}'
  return `
Serving on ${url}. Today's rates are there, the history is being fetched. In a browser, signed in by this link once
and within ${LINK_MINUTES} minutes, and later by the key and the token below:

  ${url}/#login=${code}

On the command line:

${rates('/api/v1/rates/latest')}${rates('/api/v1/rates/latest?base=EUR&quote=USD&on=2024-12-25')}${rates('/api/v1/convert?amount=15000&from=JPY&to=CRC')}${rates('/api/v1/series/2/history?from=2026-01-01')}${rates('/api/v1/health')}
What programs read that speak to Hacienda or to Frankfurter, here without a key (cambista manual programs):

  curl -s '${url}/indicadores/tc'
  curl -s '${url}/v1/latest?base=USD&symbols=CRC,EUR'

Documents for an AI agent: who the agents are, upload a document, list and fetch it back:

${documents('/api/v1/agent/get_by_company', `-d '{"company_id": 1, "code": "DEMO"}' `)}${documents('/api/v1/documents/create', `-d '${upload}' `)}${documents('/api/v1/documents')}${documents('/api/v1/documents/1/content')}
  curl -s ${url}/openapi.json

`
}
