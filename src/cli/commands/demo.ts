import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../../app.ts'
import { startBank } from '../../demo/bank.ts'
import { LINK_MINUTES, makeLoginLink } from '../../domain/access/login-links.ts'
import { hashOfSecret, makeSecret } from '../../domain/access/secrets.ts'
import { createAgent, createCompany, createOwner } from '../../domain/directory/directory.ts'
import { UPLOAD_WAITS } from '../../http/documents/uploads/receive.ts'
import { bccr } from '../../providers/bccr/bccr.ts'
import { FIRST_DAY } from '../../providers/list.ts'
import type { Provider } from '../../providers/provider.ts'
import { VERSION } from '../../runtime/assets.ts'
import { insertApiKey } from '../../store/access/api-keys.ts'
import { insertToken } from '../../store/access/tokens.ts'
import { openEngine } from '../../store/open-engine.ts'
import { currentDay } from '../../values/dates.ts'
import { command, type Terminal } from '../command.ts'
import { type Language, messageLanguage } from '../help/locale.ts'
import { machineNames } from '../listen.ts'
import { createProgress } from '../progress-line.ts'
import { terminalLog } from '../terminal-log.ts'
import { waitForStop } from './server/serve.ts'
import { syncLine } from './sync.ts'

const DEMO_BANK: Provider = { ...bccr, isInvented: true }
const TOKEN = 'demo'
const TEXTS = {
  en: {
    start: (dataDir: string) =>
      `cambista ${VERSION} demo: every value is invented; nothing is kept.\nData directory until it ends: ${dataDir}\n`,
    serving: (url: string) =>
      `Serving on ${url}. Today's rates are there, the history is being fetched. In a browser, signed in by this link once
and within ${LINK_MINUTES} minutes, and later by the key and the token below:`,
    shell: 'On the command line:',
    programs:
      'What programs read that speak to Hacienda or to Frankfurter, here without a key (cambista manual programs):',
    documents: 'Documents for an AI agent: who the agents are, upload a document, list and fetch it back:',
    complete: (values: number, status: string) =>
      `History complete: ${values} values since 1983 (${status}). Ctrl+C ends it.\n`,
  },
  es: {
    start: (dataDir: string) =>
      `cambista ${VERSION}, demostración: todos los valores son inventados; nada se conserva.\nDirectorio de datos mientras dura: ${dataDir}\n`,
    serving: (url: string) =>
      `El servidor responde en ${url}. Ya tiene los tipos de cambio de hoy y está recibiendo la historia. En un navegador, este
enlace inicia la sesión una vez y durante ${LINK_MINUTES} minutos; después, la clave y el token de abajo:`,
    shell: 'En la línea de comandos:',
    programs:
      'Lo que leen los programas que consultan a Hacienda o a Frankfurter, aquí sin clave (cambista manual programs):',
    documents:
      'Documentos para un agente de IA: cuáles son los agentes; cargar un documento, listarlo y descargarlo:',
    complete: (values: number, status: string) =>
      `La historia está completa: ${values} valores desde 1983 (${status}). Ctrl+C termina la demostración.\n`,
  },
}
type DemoTexts = (typeof TEXTS)[Language]

export const demo = command({
  name: 'demo',
  options: ['host', 'port'],
  ignoresService: true,
  async run({ options, terminal }) {
    await using parts = new AsyncDisposableStack()
    const clock = () => new Date()
    const dataDir = mkdtempSync(join(tmpdir(), 'cambista-demo-'))
    parts.defer(() => rmSync(dataDir, { recursive: true, force: true }))
    const bank = await startBank({ token: TOKEN, today: () => currentDay(clock) })
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
      hostNames: machineNames(),
      compat: { open: 'any', serveRounded: false }, // invented values need no protection
      limits: { ...UPLOAD_WAITS, maxBody: 2 * 1024 ** 3, minFree: 64 * 1024 ** 2, maxUploads: 16 },
      staleForMs: 0,
      keepRemovedDays: 8,
      keepEvents: 730,
      maxAttempts: 5,
      log,
      providers: [DEMO_BANK],
      bundlePage: terminal.bundlePage,
    })
    parts.defer(() => app.close())
    const words = TEXTS[messageLanguage(terminal.env)]
    terminal.out(words.start(dataDir))
    await Promise.all([fill(app, terminal, secrets, words), waitForStop(terminal.stop)])
    log.flush()
  },
})

/** `code`: one-time code of a link to the page. */
type DemoSecrets = { key: string; token: string; code: string }

/** Makes a key, a token, a company with an owner and two agents, and a link. */
async function fillDirectory(dataDir: string): Promise<DemoSecrets> {
  const [key, token] = [makeSecret('cbk_'), makeSecret('cbt_')]
  const now = new Date().toISOString()
  const { db, close } = await openEngine({ dataDir })
  const keyId = await insertApiKey(db, { name: 'demo', hash: hashOfSecret(key), createdAt: now })
  const allow = ['documents:POST', 'documents:GET', 'documents:CLAIM', 'agent:POST']
  const hash = hashOfSecret(token)
  const tokenId = await insertToken(db, {
    name: 'demo',
    hash,
    allow,
    companyId: null,
    expiresAt: null,
    createdAt: now,
  })
  await createCompany(db, { id: 1, name: 'Comercial Demostración S.A.', code: 'DEMO' }, now)
  await createOwner(db, { id: 1, name: 'Ana Rojas', company_id: 1 }, now)
  const agent = { company_id: 1, active: true }
  const reader = '<p>Lee <b>facturas</b> y las registra.</p>'
  await createAgent(db, { ...agent, id: 1, name: 'Lector de facturas', description: reader }, now)
  const filer = '<p>Archiva contratos.</p>'
  await createAgent(db, { ...agent, id: 2, name: 'Archivista', description: filer }, now)
  const { code } = await makeLoginLink(db, { keyId, tokenId }, () => new Date())
  await close()
  return { key, token, code }
}

/** Syncs the history, and prints examples once today's rates are stored. */
async function fill(app: App, terminal: Terminal, secrets: DemoSecrets, words: DemoTexts): Promise<void> {
  const line = createProgress(terminal)
  let hasPrinted = false
  const [end] = await app.sync({
    trigger: 'cli',
    range: undefined,
    signal: terminal.stop,
    progress: (progress) => {
      if (!hasPrinted && progress.group === '520') {
        hasPrinted = true
        line.clear()
        terminal.out(exampleText(app.url, secrets, words))
      }
      line.show(syncLine(progress))
    },
  })
  line.clear()
  if (end) terminal.out(words.complete(end.run.inserted, end.run.status))
}

function exampleText(url: string, { key, token, code }: DemoSecrets, words: DemoTexts): string {
  const rates = (path: string) => `  curl -s -H 'X-API-Key: ${key}' '${url}${path}'\n`
  const documents = (path: string, ...more: string[]) =>
    `  curl -s -H 'Authorization: Bearer ${token}' ${more.join('')}'${url}${path}'\n`
  const upload =
    '{"owner_id": 1, "company_id": 1, "agent_id": 1, "documents": ' +
    '[{"name": "factura.txt", "mimetype": "text/plain", "base64": "\'$(echo "Factura 1: 15000 CRC" | base64)\'"}]}'
  return `
${words.serving(url)}

  ${url}/#login=${code}

${words.shell}

${rates('/api/v1/rates/latest')}${rates('/api/v1/rates/latest?base=EUR&quote=USD&on=2024-12-25')}${rates('/api/v1/convert?amount=15000&from=JPY&to=CRC')}${rates('/api/v1/series/2/history?from=2026-01-01')}${rates('/api/v1/health')}
${words.programs}

  curl -s '${url}/indicadores/tc'
  curl -s '${url}/v1/latest?base=USD&symbols=CRC,EUR'

${words.documents}

${documents('/api/v1/agent/get_by_company', `-d '{"company_id": 1, "code": "DEMO"}' `)}${documents('/api/v1/documents/create', `-d '${upload}' `)}${documents('/api/v1/documents')}${documents('/api/v1/documents/1/content')}
  curl -s ${url}/openapi.json

`
}
