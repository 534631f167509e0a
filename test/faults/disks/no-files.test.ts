// A server that can open no file, or only a few. It answers 503, and stores all of an upload or nothing. It serves
// requests that need no file, and recovers by itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../../src/demo/bank.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../../support/directory.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const MAX_FREE = 36 // an upload of twelve documents needs about twenty
const STEP = scaled({ short: 7, long: 1 })
const PLENTY = 1024
const AUTH = { authorization: `Bearer ${TOKENS.all}` }

type Answer = { status: number; headers: IncomingHttpHeaders; text: string }

test('a server without free file numbers answers 503, loses nothing, and recovers', async (t) => {
  const { limitFiles, send, says, log, countDocuments } = await startServer(t)
  const text = 'stored before'
  const firstUpload = JSON.parse((await send(CREATE, batch(pdf(text)))).text) as {
    created_documents: { id: number }[]
  }
  const content = `/api/v1/documents/${firstUpload.created_documents[0]?.id}/content`

  limitFiles(0)
  const rejection = await send(CREATE, batch(pdf('none')))
  assert.equal(rejection.status, 503)
  assert.match(JSON.parse(rejection.text).message, /\w/)
  assert.equal((await send(content)).status, 503)
  for (const path of ['/healthz', '/readyz', '/api/v1/documents']) {
    const { status, text } = await send(path)
    assert.equal(status, 200, `${path}: ${text}${log()}`)
  }
  assert.match(log(), /request refused.*EMFILE/)
  await says(/sync .*(EMFILE|ended|failed)/s)
  await says(/backup failed.*EMFILE/)

  let storedUploads = 0
  for (let free = 1; free <= MAX_FREE; free += STEP) {
    limitFiles(free)
    const before = await countDocuments()
    const { status } = await send(
      CREATE,
      batch(...Array.from({ length: 12 }, (_, at) => pdf(`${free} ${at}`))),
    )
    assert.ok(status === 200 || status === 503, `${status} with ${free} files`)
    assert.equal((await countDocuments()) - before, status === 200 ? 12 : 0, `${free} files`)
    if (status === 200) storedUploads += 1
  }
  figure(t, `uploads stored while 1 to ${MAX_FREE} files can be opened`, storedUploads)
  assert.ok(storedUploads > 0 && storedUploads < MAX_FREE / STEP)

  limitFiles(PLENTY)
  assert.equal((await send(CREATE, batch(pdf('again')))).status, 200)
  const reread = await send(content)
  assert.deepEqual([reread.status, reread.text], [200, text])
  await says(/backup made/)
  assert.doesNotMatch(log(), /"status":500/)
})

async function startServer(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const today = () => currentDay(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const flags = [
    '--port',
    '0',
    '--min-free',
    '0',
    '--log-format',
    'json',
    '--backfill-from',
    addDays(today(), -60),
  ]
  const cron = ['--sync-cron', '*/3 * * * * *', '--backup-cron', '*/3 * * * * *']
  const backups = ['--backup-dir', join(temporaryDirectory(t), 'set')]
  const words = ['serve', '--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0']
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  const server = startProgram(t, [...words, ...flags, ...cron, ...backups], env, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  await server.waitForOutput(/backup made/)
  const pid = String(server.child.pid)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }) // a new connection would need a file number
  t.after(() => agent.destroy())
  let logStart = 0
  const log = () => server.printed.err.slice(logStart)
  const send = (path: string, body?: unknown): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const req = request(url + path, { agent, method, headers: AUTH }, async (res) => {
        const text = Buffer.concat(await Array.fromAsync(res)).toString()
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text })
      })
      req.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    send,
    log,
    says: (words: RegExp) => until(() => words.test(log())),
    /** Limits the server to `free` more files, and restarts the log that `log()` returns. */
    limitFiles(free: number) {
      const open = readdirSync(`/proc/${pid}/fd`).map(Number)
      const max = free === 0 ? 3 : lowestFree(new Set(open), free)
      logStart = server.printed.err.length
      execFileSync('prlimit', ['--pid', pid, `--nofile=${max}:`])
    },
    async countDocuments(): Promise<number> {
      let count = 0
      for (let after = 0, more = true; more; ) {
        const { text } = await send(`/api/v1/documents?limit=200&after=${after}`)
        const page = JSON.parse(text) as { documents: unknown[]; next_after: number; has_more: boolean }
        count += page.documents.length
        after = page.next_after
        more = page.has_more
      }
      return count
    },
  }
}

/** The lowest limit that leaves `free` file numbers unused. */
function lowestFree(open: Set<number>, free: number): number {
  let limitFiles = 0
  for (let missing = free; missing > 0; limitFiles += 1) if (!open.has(limitFiles)) missing -= 1
  return limitFiles
}
