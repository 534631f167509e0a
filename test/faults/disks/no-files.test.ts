// A server that can open no file any more, or only a few: it says so with a 503, keeps all of an upload or nothing, goes
// on with what needs no file, and recovers by itself.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addDays, todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../../support/directory.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const MOST_FREE = 36 // an upload of twelve documents needs some twenty
const STEP = scaled({ short: 7, long: 1 })
const PLENTY = 1024
const AUTH = { authorization: `Bearer ${TOKENS.all}` }

type Answer = { status: number; headers: IncomingHttpHeaders; text: string }

test('without files to open it refuses with words, loses nothing, and recovers', async (t) => {
  const { limit, ask, says, log, documents } = await startGround(t)
  const text = 'kept before'
  const first = JSON.parse((await ask(CREATE, batch(pdf(text)))).text) as {
    created_documents: { id: number }[]
  }
  const content = `/api/v1/documents/${first.created_documents[0]?.id}/content`

  limit(0)
  const refused = await ask(CREATE, batch(pdf('none')))
  assert.equal(refused.status, 503)
  assert.match(JSON.parse(refused.text).message, /\w/)
  assert.equal((await ask(content)).status, 503)
  for (const path of ['/healthz', '/readyz', '/api/v1/documents']) {
    const { status, text } = await ask(path)
    assert.equal(status, 200, `${path}: ${text}${log()}`)
  }
  assert.match(log(), /request refused.*EMFILE/)
  await says(/sync .*(EMFILE|ended|failed)/s)
  await says(/backup failed.*EMFILE/)

  let kept = 0
  for (let free = 1; free <= MOST_FREE; free += STEP) {
    limit(free)
    const before = await documents()
    const { status } = await ask(
      CREATE,
      batch(...Array.from({ length: 12 }, (_, at) => pdf(`${free} ${at}`))),
    )
    assert.ok(status === 200 || status === 503, `${status} with ${free} files`)
    assert.equal((await documents()) - before, status === 200 ? 12 : 0, `${free} files`)
    if (status === 200) kept += 1
  }
  figure(t, `uploads kept while 1 to ${MOST_FREE} files can be opened`, kept)
  assert.ok(kept > 0 && kept < MOST_FREE / STEP)

  limit(PLENTY)
  assert.equal((await ask(CREATE, batch(pdf('again')))).status, 200)
  const again = await ask(content)
  assert.deepEqual([again.status, again.text], [200, text])
  await says(/backup made/)
  assert.doesNotMatch(log(), /"status":500/)
})

async function startGround(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const today = () => todayIn(() => new Date())
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
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  await server.says(/backup made/)
  const pid = String(server.child.pid)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }) // a new connection would be a file, too
  t.after(() => agent.destroy())
  let mark = 0
  const log = () => server.printed.err.slice(mark)
  const ask = (path: string, body?: unknown): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const req = request(url + path, { agent, method, headers: AUTH }, async (res) => {
        const text = Buffer.concat(await Array.fromAsync(res)).toString()
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text })
      })
      req.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    ask,
    log,
    says: (words: RegExp) => until(() => words.test(log())),
    /** Lets the server open so many files more. What is logged from now on is looked at. */
    limit(free: number) {
      const open = readdirSync(`/proc/${pid}/fd`).map(Number)
      const most = free === 0 ? 3 : lowestFree(new Set(open), free)
      mark = server.printed.err.length
      execFileSync('prlimit', ['--pid', pid, `--nofile=${most}:`])
    },
    async documents(): Promise<number> {
      let count = 0
      for (let after = 0, more = true; more; ) {
        const { text } = await ask(`/api/v1/documents?limit=200&after=${after}`)
        const page = JSON.parse(text) as { documents: unknown[]; next_after: number; has_more: boolean }
        count += page.documents.length
        after = page.next_after
        more = page.has_more
      }
      return count
    },
  }
}

/** The limit under which so many numbers of files are free. */
function lowestFree(open: Set<number>, free: number): number {
  let limit = 0
  for (let left = free; left > 0; limit += 1) if (!open.has(limit)) left -= 1
  return limit
}
