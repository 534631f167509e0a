// MCP over stdin and stdout, for clients that start their server.

import { statSync } from 'node:fs'
import { createIndicatorReader, indicatorOrigin } from '../../../domain/indicators/reader.ts'
import type { InvoiceRates } from '../../../domain/invoices/rate-check.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { documentQueries } from '../../../http/mcp/documents/document-queries.ts'
import { createMcpServer } from '../../../http/mcp/protocol/server.ts'
import type { Caller } from '../../../http/mcp/protocol/tool.ts'
import type { CatalogueDeps } from '../../../http/mcp/rates/catalogue.ts'
import type { IndicatorToolDeps } from '../../../http/mcp/rates/indicators.ts'
import { createReadTools, createResources } from '../../../http/mcp/tools.ts'
import { DEFAULT_PROVIDER, FIRST_DAY } from '../../../providers/list.ts'
import { AppError } from '../../../runtime/errors.ts'
import { openModeFault } from '../../../runtime/open-mode.ts'
import { openBlobReader } from '../../../store/blobs/open-blobs.ts'
import { openReader } from '../../../store/open-engine.ts'
import type { StorageConfig } from '../../../store/storage-config.ts'
import { providerFloor } from '../../../sync/windows/order.ts'
import { command, type Terminal } from '../../command.ts'
import { httpUrl } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import { becomeStorageOwner } from '../../storage/data-dir.ts'
import { terminalLog } from '../../terminal-log.ts'
import { createRelay, readSecretsEnv, readSecretsFile } from './relay.ts'
import { type Streams, serveLines } from './stdio.ts'

export const mcp = command({
  name: 'mcp',
  options: ['url', 'key-file', ...STORAGE_WITH_BLOBS],
  overrides: { url: option('URL', httpUrl) },
  async run({ options, terminal, storage }) {
    const { url, 'key-file': keyFile } = options
    if (url === undefined && keyFile !== undefined) throw new AppError('usage', '--key-file needs --url')
    if (!terminal.input) throw new AppError('failed', 'there is no stdin')
    const streams = { input: terminal.input(), out: terminal.out, stop: terminal.stop }
    if (url !== undefined) {
      const secrets = keyFile === undefined ? readSecretsEnv(terminal.env) : readSecretsFile(keyFile)
      const fault = keyFile === undefined ? undefined : openModeFault(statSync(keyFile).mode)
      if (fault !== undefined) terminal.err(`${keyFile} ${fault}: chmod 600 ${keyFile}\n`)
      await serveLines(streams, createRelay(url, secrets))
    } else await serveData(storage(), terminal, streams)
  },
})

async function serveData(config: StorageConfig, terminal: Terminal, streams: Streams): Promise<void> {
  becomeStorageOwner(config)
  await using parts = new AsyncDisposableStack()
  const reader = parts.adopt(await openReader(config), (one) => one.close())
  const { db, clock } = reader
  const { blobs } = parts.use(await openBlobReader(config, reader))
  const cache = await openRateCache(db, terminal.providers)
  const invoiceRates: InvoiceRates = { cache, clock, provider: DEFAULT_PROVIDER }
  const rates: CatalogueDeps & Pick<IndicatorToolDeps, 'indicators'> = {
    db,
    cache,
    indicators: createIndicatorReader(db, indicatorOrigin(terminal.providers)),
    health: {
      clock,
      providers: terminal.providers,
      findHistoryStart: providerFloor(FIRST_DAY),
      reading: () => undefined,
    },
  }
  const documents = documentQueries(db, blobs, invoiceRates, undefined)
  const server = createMcpServer({
    tools: createReadTools(rates, documents, invoiceRates),
    resources: createResources(rates, documents),
    isInvented: () => cache.snapshot().isInvented,
    log: terminalLog(terminal, { level: 'info', format: 'text' }),
  })
  await serveLines(streams, async ({ value }) => {
    await cache.refresh() // another process writes
    const { answer } = await server.answer(value, EVERYTHING)
    return answer
  })
}

// Any user who can read the files may read all data, so no key or token is needed. Waiting and claiming need the server.
const EVERYTHING: Caller = {
  hasKey: true,
  token: { id: 0, name: 'cli', company_id: null, agent_id: null, allow: ['documents:GET'] },
  watch: () => ({ [Symbol.dispose]() {} }),
  checkAgain: () => Promise.reject(new TypeError('nothing waits here')),
}
