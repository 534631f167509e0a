// `doctor` uses the settings of the running server, unless flags override them.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProgram } from '../../../../support/program.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

function open(t: TestContext) {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  const doctor = async (...words: string[]) =>
    (await runCommand(['doctor', '--data-dir', dataDir, ...words], { CAMBISTA_MIN_FREE: '1MiB' })).out
  const serve = async (...words: string[]) => {
    const program = startProgram(t, [
      'serve',
      '--port',
      '0',
      '--no-scheduler',
      '--data-dir',
      dataDir,
      ...words,
    ])
    await program.waitForOutput(/listening/)
    return program
  }
  return { home, dataDir, doctor, serve }
}

test('`doctor` uses --min-free and --backup-dir of the running server, and flags override them', async (t) => {
  const { home, doctor, serve } = open(t)
  const backup = relative(process.cwd(), join(home, 'set'))
  const server = await serve('--min-free', '4000TiB', '--backup-dir', backup, '--backup-cron', '0 4 * * *')
  const out = await doctor()
  assert.match(out, /^FINDING {2}space: only [\d.]+ [MGT]iB are free: uploads are refused below 4000 TiB$/m)
  // The server creates its first backup soon after its start.
  const set = join(home, 'set')
  assert.match(out, new RegExp(`^(?:FINDING {2}backup:|note {5}the newest backup is) .*${set}`, 'm'))
  assert.doesNotMatch(await doctor('--min-free', '1MiB'), /FINDING {2}space/)
  assert.doesNotMatch(await doctor('--backup-dir', join(home, 'other')), new RegExp(set))
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0)
  assert.doesNotMatch(await doctor(), new RegExp(`FINDING {2}(space|backup)|${set}`))
})

test('`doctor` reports a server that never synced and exits with 1', async (t) => {
  const { dataDir, serve } = open(t)
  await serve()
  const end = await runCommand(['doctor', '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(
    end.out,
    /^FINDING {2}rates: never synced, so that there are no rates: cambista sync fetches them/m,
  )
})

test('`doctor` uses its own settings beside a server that wrote none', async (t) => {
  const { dataDir, doctor, serve } = open(t)
  await serve('--min-free', '4000TiB')
  const file = join(dataDir, 'serve.url')
  const [url] = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, `${url}\n`)
  assert.doesNotMatch(await doctor(), /FINDING {2}space/)
})
