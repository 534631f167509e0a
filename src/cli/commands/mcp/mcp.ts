// MCP over stdin and stdout, for clients that start their servers themselves.

import { join } from 'node:path'
import type { Clock } from '../../../dates.ts'
import { documentBy, documentsOn } from '../../../domain/documents/queries.ts'
import { openRateCache } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import { FIRST_DAY } from '../../../providers/list.ts'
import { openContents } from '../../../store/blobs/open.ts'
import { type BlobReader, createBlobReader } from '../../../store/blobs/reader.ts'
import { openEngine } from '../../../store/open-engine.ts'
import type { Place } from '../../../store/place.ts'
import { openReadsBeside } from '../../../store/sqlite/database.ts'
import type { Db } from '../../../store/tables.ts'
import { floorOf } from '../../../sync/order.ts'
import { command, type Terminal } from '../../command.ts'
import { becomeOwnerOf } from '../../data-dir.ts'
import { httpUrl } from '../../option-formats.ts'
import { WHOLE_PLACE } from '../../place/options.ts'
import { terminalLog } from '../../terminal-log.ts'

export const mcp = command({
  name: 'mcp',
  positionals: [],
  summary: 'speak MCP on stdin and stdout, for an AI agent on this machine',
  about: `With --url it asks a server, and --key-file is a file with a key (rates), a token (documents) or both, one a line: every
tool that they open. In place of the file the key may be in the variable CAMBISTA_KEY and the token in CAMBISTA_TOKEN, as
clients pass secrets; the file wins. Without --url it reads the data directory, or --database, beside a running server too, and changes
nothing: rates and documents, but no waiting and no claiming. stdout has messages alone; what goes wrong is said on
stderr. A server speaks MCP at /mcp by itself. cambista manual agents says what to write into which client.`,
  options: ['url', 'key-file', ...WHOLE_PLACE],
  own: {
    url: { value: 'URL', fallback: undefined, help: 'address of the server that is asked', format: httpUrl },
  },
  changesData: false,
  example: 'cambista mcp --url https://rates.example.com --key-file ~/.config/cambista/secrets',
  async run({ options, terminal, place }) {
    const { url, 'key-file': keyFile } = options
    if (url === undefined && keyFile !== undefined) throw new AppError('usage', '--key-file goes with --url')
    if (!terminal.input) throw new AppError('failed', 'there is no stdin')
    const streams = { input: terminal.input(), out: terminal.out, stop: terminal.stop }
    const { serveLines } = await import('./stdio.ts')
    if (url !== undefined) {
      const { relayTo, secretsIn, secretsOf } = await import('./relay.ts')
      const secrets = keyFile === undefined ? secretsOf(terminal.env) : secretsIn(keyFile)
      await serveLines(streams, relayTo(url, secrets))
    } else await overData(place(), terminal, (answer) => serveLines(streams, answer))
    return 0
  },
})

async function overData(
  place: Place,
  terminal: Terminal,
  serve: (answer: import('./stdio.ts').Answering) => Promise<void>,
): Promise<void> {
  becomeOwnerOf(place)
  await using parts = new AsyncDisposableStack()
  const { db, clock, blobs } = await openToRead(place, parts)
  const { answersFrom } = await import('./local.ts')
  const answer = answersFrom({
    db,
    cache: await openRateCache(db, terminal.providers),
    clock,
    providers: terminal.providers,
    historyFrom: ({ groups: [first] }) => (first ? floorOf(first, FIRST_DAY) : FIRST_DAY),
    reading: () => undefined,
    documents: {
      page: (access, asked) => documentsOn(db, access, asked),
      find: (access, id) => documentBy(db, access, id),
      blobs,
    },
    log: terminalLog(terminal, { level: 'info', format: 'text' }),
  })
  await serve(answer)
}

type Readable = { db: Db; clock: Clock; blobs: BlobReader }

/** Data that a server may be using, for what changes nothing. */
async function openToRead(place: Place, parts: AsyncDisposableStack): Promise<Readable> {
  if (place.database === undefined) {
    const db = parts.adopt(await openReadsBeside(place.dataDir), (one) => one.destroy())
    return { db, clock: () => new Date(), blobs: createBlobReader(join(place.dataDir, 'blobs')) }
  }
  const engine = parts.adopt(await openEngine(place, { migrate: false }), (one) => one.close())
  const { blobs } = parts.use(await openContents(place, engine))
  return { db: engine.reads, clock: engine.clock, blobs }
}
